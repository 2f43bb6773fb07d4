/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/yield_pages.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/config.h"
#include "target/features.h"

static size_t bytes(void)
{
	return (size_t)POV_YIELD_PAGES * sysconf(_SC_PAGESIZE);
}

/*
 * The mapping, or NULL. A child would have it, too, and has no use for it. There are kernels that make the map, but have no programs for
 * this machine that use it; one that does is refused until the map is mapped.
 */
static char *map_in(int fd)
{
	char *at = mmap(NULL, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return NULL;
	if (!madvise(at, bytes(), MADV_DONTFORK) && features_map_serves(fd))
		return at;
	munmap(at, bytes());
	return NULL;
}

void yield_pages_make(struct yield_pages *y)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(POV_MAP_ARENA, "yield_pages", 0, 0, POV_YIELD_PAGES, &opts);

	*y = (struct yield_pages){};
	if (fd < 0)
		return;
	y->at = map_in(fd);
	if (!y->at) {
		close(fd);
		return;
	}
	y->fd = fd;
	/* The kernel calls the scheduler where it has tables of pages to go through. */
	y->at[bytes() - 1] = 1;
}

void yield_pages_release(struct yield_pages *y)
{
	if (!y->at)
		return;
	munmap(y->at, bytes());
	close(y->fd);
	y->at = NULL;
}
