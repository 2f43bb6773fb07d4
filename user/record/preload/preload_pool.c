/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/preload/preload_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/file.h"
#include "record/kernel.h"
#include "record/preload/preload.h"

#define POOL_BYTES ((size_t)POV_PRELOAD_POOL_BYTES)

static int file_make(void)
{
	int fd = memory_file_make(POOL_BYTES), err;

	/* Nobody may shorten the file: reading past its end would kill us. */
	if (fd < 0 || !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int preload_pool_try(void)
{
	int fd = file_make();

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int preload_pool_make(const struct preload_speaker *who, const struct map *threads, uint64_t *spare,
		      struct preload_pool **out)
{
	struct preload_pool *pool;
	int fd = file_make(), err;
	void *mem;

	if (fd < 0)
		return fd;
	mem = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (mem == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	pool = xcalloc(1, sizeof(*pool));
	pool->fd = fd;
	pool->mem = mem;
	pool->who = *who;
	pool->who.lib = pool->lib;
	for (uint32_t i = 0; i < POV_PRELOAD_SLOTS; i++)
		pool->slot[i] = (struct thread_area){
			.mem = (struct pov_preload_area *)(pool->mem +
							   (size_t)i * POV_PRELOAD_SLOT_BYTES),
			.who = pool->who,
			.threads = threads,
			.first = !i,
			.spare = spare,
		};
	thread_area_fill(&pool->slot[0]);
	*out = pool;
	return 0;
}

void preload_pool_free(struct preload_pool *pool)
{
	if (!pool)
		return;
	if (pool->fd >= 0)
		close(pool->fd);
	for (uint32_t i = 0; i < pool->used; i++)
		thread_area_release(&pool->slot[i]);
	munmap(pool->mem, POOL_BYTES);
	free(pool);
}

void preload_pool_placed(struct preload_pool *pool, uint64_t address, uint32_t slot_bytes)
{
	pool->address = address;
	pool->slot_bytes = slot_bytes;
	for (uint32_t i = 0; i < POV_PRELOAD_SLOTS; i++)
		pool->slot[i].few = slot_bytes != POV_PRELOAD_SLOT_BYTES;
	if (pool->slot[0].few) { /* its ring lies elsewhere than the one made at first */
		pool->slot[0].made = 0;
		thread_area_fill(&pool->slot[0]);
	}
}

void preload_pool_look(struct preload_pool *pool)
{
	uint32_t used = __atomic_load_n(&pool->slot[0].mem->slots_used, __ATOMIC_ACQUIRE);

	if (used > POV_PRELOAD_SLOTS)
		used = POV_PRELOAD_SLOTS;
	for (; pool->used < used; pool->used++)
		thread_area_fill(&pool->slot[pool->used]);
	if (used < POV_PRELOAD_SLOTS)
		thread_area_fill(&pool->slot[used]);
}

void preload_pool_count(const struct preload_pool *pool, struct preload_counts *sum)
{
	const struct pov_preload_forks *forks = (void *)(pool->mem + POV_PRELOAD_FORKS_AT);
	uint64_t lost = __atomic_load_n(&forks->lost, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < pool->used; i++)
		thread_area_count(&pool->slot[i], sum);
	if (lost > kernel_now_ns() - pool->who.since_ns)
		return; /* invalid: more than one per ns */
	sum->lost[POV_CLASS_CALL] += lost;
	sum->no_area += lost;
}

bool preload_pool_is_left(const struct preload_pool *pool)
{
	for (uint32_t i = 0; i < pool->used; i++)
		if (__atomic_load_n(&pool->slot[i].mem->owner, __ATOMIC_RELAXED))
			return false;
	return true;
}
