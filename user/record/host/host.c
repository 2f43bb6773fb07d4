/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* These descriptions are for readers of the trace; the recorder does not use them. */
#include "record/host/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/cycles.h"
#include "record/kernel.h"

/* ---- RDMA adapters ---- */

/*
 * Reads adapters and the addresses of their ports from sysfs. A recorded call has only the address
 * that it posts to. To find the sender of a message, readers also need the address of each port.
 */

/* Reads the first line of a file relative to a directory; "" if there is none. */
static void line_read(int dir, const char *path, char *out, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

/* Opens a directory. NULL if it cannot be read. */
static DIR *dir_open(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* Returns the next entry that is not hidden, or NULL. */
static const char *dir_next(DIR *d)
{
	struct dirent *e;

	do
		e = readdir(d);
	while (e && *e->d_name == '.');
	return e ? e->d_name : NULL;
}

/* Lists the used entries of a port's table of global identifiers. */
static json_t *gids_describe(int port)
{
	json_t *gids = json_array();
	DIR *d = dir_open(port, "gids");
	const char *name;
	char gid[64];

	while (d && (name = dir_next(d))) {
		line_read(dirfd(d), name, gid, sizeof(gid));
		if (strspn(gid, "0:") == strlen(gid) ||
		    !strncmp(gid, "fe80:0000:0000:0000:0000:0000:0000:0000", 39))
			continue;
		json_array_append_new(gids,
				      json_pack("{s:i,s:s}", "index", atoi(name), "gid", gid));
	}
	if (d)
		closedir(d);
	return gids;
}

static json_t *port_describe(int port, const char *number)
{
	char link[32], lid[16];

	line_read(port, "link_layer", link, sizeof(link));
	line_read(port, "lid", lid, sizeof(lid));
	return json_pack("{s:i,s:s,s:i,s:o}", "port", atoi(number), "link", link, "lid",
			 (int)strtol(lid, NULL, 0), "gids", gids_describe(port));
}

static json_t *ports_describe(int device)
{
	json_t *ports = json_array();
	DIR *d = dir_open(device, "ports");
	const char *name;
	int port;

	while (d && (name = dir_next(d))) {
		port = openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (port < 0)
			continue;
		json_array_append_new(ports, port_describe(port, name));
		close(port);
	}
	if (d)
		closedir(d);
	return ports;
}

json_t *adapters_describe(const char *root)
{
	DIR *d = dir_open(AT_FDCWD, root);
	json_t *devices = json_array();
	const char *name;
	int device;

	while (d && (name = dir_next(d))) {
		device = openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (device < 0)
			continue;
		json_array_append_new(devices, json_pack("{s:o,s:o}", "name", json_text(name),
							 "ports", ports_describe(device)));
		close(device);
	}
	if (d)
		closedir(d);
	if (!json_array_size(devices)) {
		json_decref(devices);
		return NULL;
	}
	return json_pack("{s:s,s:o}", "type", "adapters", "devices", devices);
}

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
		log_warn(
			"hwloc cannot read this machine's topology; the trace will not contain it");
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

json_t *host_clocks_describe(void)
{
	json_int_t mono = 0, boot = 0, real = 0, raw = 0, best = INT64_MAX;

	/* The fastest of several readings has the clocks closest together. */
	for (int i = 0; i < 16; i++) {
		json_int_t m = clock_read_ns(CLOCK_MONOTONIC), b = clock_read_ns(CLOCK_BOOTTIME);
		json_int_t r = clock_read_ns(CLOCK_REALTIME),
			   w = clock_read_ns(CLOCK_MONOTONIC_RAW);
		json_int_t took = clock_read_ns(CLOCK_MONOTONIC) - m;

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

/* ---- the rate of the CPU's counter ---- */

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define FIRST_NS 20000000ull   /* until the first rate, which is accurate to 2 ppm */
#define AGAIN_NS 1000000000ull /* between later, better measurements */
#define TRIES 5
#define APART_NS_MAX 1000 /* readings that are further apart were interrupted */
/*
 * The kernel slews its clock by at most 500 ppm. One of the two rates compared may be a less
 * accurate first one.
 */
#define CHANGE_PPM_MAX 1000

/*
 * Call this in a child process, which forbids itself the system call that reads a clock. True if
 * the clock still works.
 */
static bool clock_works_without_call(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clock_gettime, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(code) / sizeof(*code), .filter = code};
	struct timespec ts;

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) &&
	       !clock_gettime(CLOCK_MONOTONIC, &ts);
}

static bool clock_needs_no_call(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!clock_works_without_call());
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool clocksource_fits(void)
{
	FILE *f = fopen(CLOCKSOURCE, "re");
	char name[64] = "";

	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		*name = '\0';
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return cycles_are(name) || (cycles_may_be(name) && clock_needs_no_call());
}

/*
 * Reads both clocks several times and takes the closest pair. False if all readings were
 * interrupted.
 */
static bool read_both(uint64_t *cycles, uint64_t *ns)
{
	uint64_t closest = UINT64_MAX, before, now, after;

	for (int i = 0; i < TRIES; i++) {
		before = clock_now_ns();
		now = cycles_read();
		after = clock_now_ns();
		if (after - before >= closest)
			continue;
		closest = after - before;
		*cycles = now;
		*ns = before + closest / 2;
	}
	return closest <= APART_NS_MAX;
}

void cycle_rate_begin(struct cycle_rate *r)
{
	*r = (struct cycle_rate){0};
	r->usable = cycles_readable() && clocksource_fits() && read_both(&r->cycles, &r->ns);
}

static bool is_near(uint64_t rate, uint64_t last)
{
	uint64_t apart = rate > last ? rate - last : last - rate;

	return !last || apart <= last / 1000000 * CHANGE_PPM_MAX;
}

uint64_t cycle_rate_get(struct cycle_rate *r)
{
	uint64_t cycles, ns, rate, past;

	if (!r->usable || clock_now_ns() - r->ns < (r->rate ? AGAIN_NS : FIRST_NS) ||
	    !read_both(&cycles, &ns))
		return r->rate;
	past = cycles - r->cycles;
	rate = past ? (uint64_t)(((__uint128_t)(ns - r->ns) << CYCLES_RATE_BITS) / past) : 0;
	if (!rate || rate >> CYCLES_RATE_BITS > 1 || !is_near(rate, r->rate)) {
		log_debug("clock: the CPU's counter is not steady");
		r->usable = false;
		rate = 0;
	}
	r->cycles = cycles;
	r->ns = ns;
	return r->rate = rate;
}
