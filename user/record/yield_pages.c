/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/kernel.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/config.h"
#include "target/features.h"

static size_t arena_bytes(void)
{
	return (size_t)POV_YIELD_PAGES * sysconf(_SC_PAGESIZE);
}

/*
 * Maps the arena, or returns NULL. Child processes do not get the mapping. On some machines the
 * kernel creates such a map but cannot run programs that use it. Loading such a program is the
 * test, and works only after the map is mapped.
 */
static char *arena_map(int fd)
{
	char *at = mmap(NULL, arena_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return NULL;
	if (!madvise(at, arena_bytes(), MADV_DONTFORK) && features_map_serves(fd))
		return at;
	munmap(at, arena_bytes());
	return NULL;
}

void yield_pages_make(struct yield_pages *y)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(POV_MAP_ARENA, "yield_pages", 0, 0, POV_YIELD_PAGES, &opts);

	*y = (struct yield_pages){};
	if (fd < 0)
		return;
	y->at = arena_map(fd);
	if (!y->at) {
		close(fd);
		return;
	}
	y->fd = fd;
	/* The kernel calls the scheduler only if there are page tables to walk. */
	y->at[arena_bytes() - 1] = 1;
}

void yield_pages_release(struct yield_pages *y)
{
	if (!y->at)
		return;
	munmap(y->at, arena_bytes());
	close(y->fd);
	y->at = NULL;
}
