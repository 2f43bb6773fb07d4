/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Describes the machine for the trace. Nothing here is needed to record. */
#include "record/host/host.h"

#include <hwloc.h>
#include <stdint.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"

static int logical_of(hwloc_topology_t topo, hwloc_obj_t pu, hwloc_obj_type_t type)
{
	hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(topo, type, pu);

	return o ? (int)o->logical_index : -1;
}

static int numa_of(hwloc_topology_t topo, hwloc_obj_t pu)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(topo, HWLOC_OBJ_NUMANODE, node)))
		if (hwloc_bitmap_isset(node->cpuset, pu->os_index))
			return node->os_index;
	return -1;
}

static json_t *topology_describe(void)
{
	json_t *cpus = json_array();
	hwloc_topology_t topo;
	hwloc_obj_t pu = NULL;

	if (hwloc_topology_init(&topo))
		return cpus;
	if (hwloc_topology_load(topo)) {
		log_warn("hwloc cannot read the topology; the trace will have none");
		goto out;
	}
	while ((pu = hwloc_get_next_obj_by_type(topo, HWLOC_OBJ_PU, pu)))
		json_array_append_new(cpus,
				      json_pack("{s:i,s:i,s:i,s:i,s:i}", "cpu", (int)pu->os_index,
						"core", logical_of(topo, pu, HWLOC_OBJ_CORE),
						"package", logical_of(topo, pu, HWLOC_OBJ_PACKAGE),
						"numa", numa_of(topo, pu), "l3",
						logical_of(topo, pu, HWLOC_OBJ_L3CACHE)));
out:
	hwloc_topology_destroy(topo);
	return cpus;
}

json_t *host_describe(void)
{
	struct utsname u;

	if (uname(&u))
		die("uname failed");
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:o}", "type", "host", "hostname",
			 u.nodename, "kernel", u.release, "version", u.version, "machine",
			 u.machine, "cpus", (int)sysconf(_SC_NPROCESSORS_CONF), "recorder",
			 (int)getpid(), "topology", topology_describe());
}

static json_int_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

json_t *host_clocks_describe(void)
{
	json_int_t mono = 0, boot = 0, real = 0, raw = 0, best = INT64_MAX;

	/* The reading that took least time has the clocks closest together. */
	for (int i = 0; i < 16; i++) {
		json_int_t m = clock_ns(CLOCK_MONOTONIC), b = clock_ns(CLOCK_BOOTTIME);
		json_int_t r = clock_ns(CLOCK_REALTIME), w = clock_ns(CLOCK_MONOTONIC_RAW);
		json_int_t took = clock_ns(CLOCK_MONOTONIC) - m;

		if (took >= best)
			continue;
		best = took;
		mono = m;
		boot = b;
		real = r;
		raw = w;
	}
	return json_pack("{s:s,s:I,s:I,s:I,s:I}", "type", "clocks", "monotonic_ns", mono,
			 "boottime_ns", boot, "realtime_ns", real, "raw_ns", raw);
}
