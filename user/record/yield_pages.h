/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An arena (memory that programs in the kernel share with this process, Linux 6.9): threads that wait in the kernel give their CPU
 * away by giving pages of it back (bpf/image.bpf.c). Where there is none they have a way that costs more.
 */
#ifndef POV_RECORD_YIELD_PAGES_H
#define POV_RECORD_YIELD_PAGES_H

struct yield_pages {
	/* POV_YIELD_PAGES pages; the last one is there, the others are not. NULL: this kernel, or its JIT compiler, has no arenas. */
	char *at;
	int fd; /* of the map, if it is mapped */
};

/* Tries it, too; says nothing. yield_pages_release in any case. */
void yield_pages_make(struct yield_pages *y);
void yield_pages_release(struct yield_pages *y);

#endif
