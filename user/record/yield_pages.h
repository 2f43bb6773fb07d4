/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An arena: memory that BPF programs share with this process (Linux 6.9). Threads that wait in the
 * kernel yield their CPU by freeing its pages (bpf/image.bpf.c). Without an arena they yield in a
 * way that costs more.
 */
#ifndef POV_RECORD_YIELD_PAGES_H
#define POV_RECORD_YIELD_PAGES_H

struct yield_pages {
	/*
	 * POV_YIELD_PAGES pages, of which only the last one is allocated. NULL: this kernel, or its
	 * JIT compiler, has no arenas.
	 */
	char *at;
	int fd; /* the map, if it is mapped */
};

/* Makes an arena and tries it. Prints nothing. Call yield_pages_release in any case. */
void yield_pages_make(struct yield_pages *y);
void yield_pages_release(struct yield_pages *y);

#endif
