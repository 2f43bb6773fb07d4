/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Static probes (USDT) of a file: each is a nop in the code, with a note (.note.stapsdt) that has
 * its name and the locations of its arguments. The format is SystemTap's; rdma-core's own header
 * makes the same.
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
	uint64_t addr;	    /* address of the nop in the file */
	uint64_t offset;    /* file offset of the nop */
	uint64_t semaphore; /* address of the semaphore; 0: the probe is always active */
	size_t arg_cnt;	    /* number of arguments; only SDT_ARGS_MAX are kept */
	struct pov_note_arg arg[SDT_ARGS_MAX];
};

/*
 * Reads all notes whose place is in the file's code and whose names fit, in the order of the file.
 * Returns their number. The caller frees *out, which is NULL if there are none.
 */
size_t sdt_notes_read(const struct elf_file *f, struct sdt_note **out);

/*
 * Arguments of static probes (USDT), as in their notes: a size, and the location of the value in
 * assembler syntax: "-4@24(%rbp) 8@%rax 4@$-1", or, on aarch64, "-4@[x29, 24] 8@x0 4@-1".
 */
enum sdt_machine { SDT_X86_64, SDT_AARCH64 };

/*
 * Returns how many arguments the text has, and writes the first max. An argument that is not
 * understood, or that needs more than one register and one read of memory, is POV_NOTE_UNKNOWN.
 * Registers have the numbers of the machine's struct pt_regs.
 */
size_t sdt_args_parse(enum sdt_machine machine, const char *text, struct pov_note_arg *out,
		      size_t max);

#endif
