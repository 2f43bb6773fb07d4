/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Objects in the memory of a process that ran before the recording, which hold pointers to functions that it has been handed already.
 * The process is not stopped and nothing of it is changed: its memory is read through /proc.
 */
#ifndef POV_TARGET_HELD_H
#define POV_TARGET_HELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct library_kind;

/* Where the code of a layer's libraries lies in the process. */
struct held_text {
	uint64_t start, end;
};

struct held_memory {
	int fd;
	const struct held_text *text;
	size_t text_cnt;
};

/* For library_kind's is_one. False: it cannot be read. */
bool held_read(const struct held_memory *m, uint64_t addr, void *buf, size_t bytes);
/* The code that an address lies in; NULL: in none of the layer's. */
const struct held_text *held_text_of(const struct held_memory *m, uint64_t addr);

/*
 * The functions of one kind's objects, each once, as [[name, address]], appended to places. *left_bytes: of its memory that was not looked
 * at because there is too much. 0 or -errno: nothing could be read.
 */
int held_find(pid_t pid, const struct library_kind *kind, const struct held_text *text,
	      size_t text_cnt, json_t *places, uint64_t *left_bytes);

#endif
