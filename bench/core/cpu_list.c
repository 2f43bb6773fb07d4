/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lists cores first: few threads get a core each, and share cores only if they outnumber them.
 * hwloc reports which units belong to one core. If it cannot, each unit counts as a core.
 */
#include "core/cpu_list.h"

#include "lib/log.h"
#include "lib/table.h"

#include <errno.h>
#include <hwloc.h>
#include <stdbool.h>
#include <stdlib.h>

static void cpu_list_add(struct cpu_list *u, unsigned int cpu, const cpu_set_t *mask)
{
	if (cpu >= CPU_SETSIZE || (mask && !CPU_ISSET(cpu, mask)))
		return;
	*table_append(u->cpu, u->cnt) = (int)cpu;
}

/* Adds the nth unit of each core, if it is in mask. Returns the number added. */
static int add_of_cores(struct cpu_list *u, hwloc_topology_t topo, int nth, const cpu_set_t *mask)
{
	int cores = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_CORE), before = u->cnt;

	for (int i = 0; i < cores; i++) {
		hwloc_obj_t core = hwloc_get_obj_by_type(topo, HWLOC_OBJ_CORE, (unsigned int)i);
		unsigned int cpu;
		int left = nth;

		hwloc_bitmap_foreach_begin(cpu, core->cpuset)
		{
			if (cpu < CPU_SETSIZE && (!mask || CPU_ISSET(cpu, mask)) && left-- == 0)
				cpu_list_add(u, cpu, mask);
		}
		hwloc_bitmap_foreach_end();
	}
	return u->cnt - before;
}

static void fill_from_mask(struct cpu_list *u, const cpu_set_t *mask)
{
	cpu_set_t own;

	if (!mask) {
		if (sched_getaffinity(0, sizeof(own), &own))
			CPU_ZERO(&own);
		mask = &own;
	}
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		cpu_list_add(u, cpu, mask);
	u->core_cnt = u->cnt;
}

void cpu_list_init(struct cpu_list *u, const cpu_set_t *mask)
{
	hwloc_topology_t topo;

	*u = (struct cpu_list){0};
	if (!hwloc_topology_init(&topo)) {
		if (!hwloc_topology_load(topo)) {
			u->core_cnt = add_of_cores(u, topo, 0, mask);
			for (int nth = 1; add_of_cores(u, topo, nth, mask); nth++)
				;
		}
		hwloc_topology_destroy(topo);
	}
	if (!u->cnt)
		fill_from_mask(u, mask);
}

static bool cpu_list_has(const struct cpu_list *u, int cpu)
{
	return table_any(u->cnt, i, u->cpu[i] == cpu);
}

/* First unit of the set that u lacks; -1 if none. "4-" means all from 4 on, and 4 must exist. */
static int first_missing(hwloc_const_bitmap_t set, const struct cpu_list *u)
{
	int end = hwloc_bitmap_last(set);

	if (end < 0)
		end = hwloc_bitmap_last_unset(set) + 1;
	for (int cpu = hwloc_bitmap_first(set); cpu >= 0 && cpu <= end;
	     cpu = hwloc_bitmap_next(set, cpu)) {
		if (!cpu_list_has(u, cpu))
			return cpu;
	}
	return -1;
}

int cpu_list_parse(struct cpu_list *u, const char *list, int *missing)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	struct cpu_list all;
	int err = -EINVAL, first;

	*u = (struct cpu_list){0};
	if (!set)
		die("out of memory (processing units)");
	cpu_list_init(&all, NULL);
	if (!hwloc_bitmap_list_sscanf(set, list) && !hwloc_bitmap_iszero(set)) {
		first = first_missing(set, &all);
		err = first < 0 ? 0 : -ENOENT;
		if (err)
			*missing = first;
		for (int i = 0; !err && i < all.cnt; i++) {
			if (hwloc_bitmap_isset(set, (unsigned int)all.cpu[i]))
				cpu_list_add(u, (unsigned int)all.cpu[i], NULL);
		}
	}
	cpu_list_release(&all);
	hwloc_bitmap_free(set);
	return err;
}

void cpu_list_release(struct cpu_list *u)
{
	if (!u)
		return;
	free(u->cpu);
	*u = (struct cpu_list){0};
}

int cpu_bind(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}
