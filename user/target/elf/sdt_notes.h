/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Static probes (USDT) of a file: each is a nop in its code, and a note (.note.stapsdt) that names it and says where its arguments are
 * kept there. The format is SystemTap's; rdma-core's own header makes the same.
 */
#ifndef POV_TARGET_ELF_SDT_NOTES_H
#define POV_TARGET_ELF_SDT_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "abi/config.h"

struct elf_file;

#define SDT_ARGS_MAX 12
#define SDT_NAME_BYTES 64

struct sdt_note {
	char provider[SDT_NAME_BYTES], name[SDT_NAME_BYTES];
	uint64_t addr;	    /* of the nop, in the file's own terms */
	uint64_t offset;    /* … and in the file */
	uint64_t semaphore; /* address; 0: the probe is always passed */
	size_t arg_cnt;	    /* of which SDT_ARGS_MAX are kept */
	struct pov_note_arg arg[SDT_ARGS_MAX];
};

/*
 * All of them whose place is in the file's code and whose names are no longer than the room, in the order of the file. How many; *out is
 * the caller's to free, NULL if there is none.
 */
size_t sdt_notes_read(const struct elf_file *f, struct sdt_note **out);

#endif
