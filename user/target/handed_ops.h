/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds objects in the memory of an already running process that hold function pointers which the
 * process received before the recording. The process is neither stopped nor changed: its memory is
 * read through /proc.
 */
#ifndef POV_TARGET_HANDED_OPS_H
#define POV_TARGET_HANDED_OPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct library_kind;

/* Address range of a layer's library code in the process. */
struct handed_ops_text {
	uint64_t start, end;
};

struct handed_ops_memory {
	int fd;
	const struct handed_ops_text *text;
	size_t text_cnt;
};

/* Reads memory, for library_kind's is_one. False: unreadable. */
bool handed_ops_read(const struct handed_ops_memory *m, uint64_t addr, void *buf, size_t bytes);
/* Returns the code range that contains an address; NULL: none of the layer's. */
const struct handed_ops_text *handed_ops_text_of(const struct handed_ops_memory *m, uint64_t addr);

/*
 * Appends the functions in objects of one kind to places, each once, as [[name, address]].
 * *left_bytes is the amount of memory that was not searched because there is too much. 0, or -errno
 * if nothing could be read.
 */
int handed_ops_find(pid_t pid, const struct library_kind *kind, const struct handed_ops_text *text,
		    size_t text_cnt, json_t *places, uint64_t *left_bytes);

#endif
