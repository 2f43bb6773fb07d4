/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where the CPU time of a process is limited, in both versions of control groups; what their files say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/test.h"
#include "attach/cgroup.h"

#define FIRST                                                                          \
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"          \
	"33 31 0:30 / /sys/fs/cgroup/cpuacct rw shared:9 - cgroup cgroup rw,cpuacct\n" \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw shared:8 master:1 - cgroup cgroup rw,cpuset,cpu\n"
#define SECOND "29 22 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static void dir_is(const char *mountinfo, const char *cgroup, const char *wanted,
		   size_t wanted_root)
{
	size_t root = 0;
	char *dir = cgroup_cpu_dir(mountinfo, cgroup, &root);

	if (wanted) {
		assert_non_null(dir);
		assert_string_equal(dir, wanted);
		assert_int_equal(root, wanted_root);
	} else {
		assert_null(dir);
	}
	free(dir);
}

TEST(dir)
{
	dir_is(FIRST SECOND, "9:cpuset:/x\n2:cpuacct,cpu:/job/1\n0::/y\n",
	       "/sys/fs/cgroup/cpu/job/1", 18);
	dir_is(FIRST, "2:cpu:/\n", "/sys/fs/cgroup/cpu", 18);
	dir_is(SECOND, "0::/system.slice/job.service\n", "/sys/fs/cgroup/system.slice/job.service",
	       14);
	dir_is(SECOND, "1:name=systemd:/a\n0::/b", "/sys/fs/cgroup/b", 14);
	/* The second version is there, but has not got the controller. */
	dir_is(SECOND, "3:cpu:/a\n0::/b\n", NULL, 0);
	dir_is(SECOND, "9:cpuset:/x\n", NULL, 0);
	dir_is("", "0::/b\n", NULL, 0);
	dir_is(SECOND, "", NULL, 0);
	dir_is("nonsense\n36 25\n - \n", "0::/b\n", NULL, 0);
}

/* In a container: what is mounted is a group in the middle. */
TEST(dir_below)
{
	static const char mounted[] = "29 22 0:25 /pod/7 /cg rw - cgroup2 cgroup2 rw\n";

	dir_is(mounted, "0::/pod/7\n", "/cg", 3);
	dir_is(mounted, "0::/pod/7/a\n", "/cg/a", 3);
	dir_is(mounted, "0::/pod/77\n", NULL, 0);
	dir_is(mounted, "0::/\n", NULL, 0);
	dir_is(SECOND, "0::/../other\n", NULL, 0);
}

static void file_write(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int in_new_dir(void **state)
{
	char name[] = "/tmp/test_cgroup.XXXXXX";

	if (!mkdtemp(name) || chdir(name))
		return -1;
	*state = strdup(name);
	return 0;
}

static int dir_remove(void **state)
{
	static const char *const files[] = {"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us",
					    "cpu.stat"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	rmdir(*state);
	free(*state);
	return 0;
}

TEST_WITH(limit, in_new_dir, dir_remove)
{
	struct cpu_bandwidth b = {0};

	assert_int_not_equal(cgroup_limit_read(".", &b), 0);
	file_write("cpu.cfs_period_us", "50000\n");
	file_write("cpu.cfs_quota_us", "-1\n");
	assert_int_not_equal(cgroup_limit_read(".", &b), 0);
	file_write("cpu.cfs_quota_us", "20000\n");
	assert_int_equal(cgroup_limit_read(".", &b), 0);
	assert_int_equal(b.quota_us, 20000);
	assert_int_equal(b.period_us, 50000);
	unlink("cpu.cfs_quota_us");
	file_write("cpu.max", "max 100000\n");
	assert_int_not_equal(cgroup_limit_read(".", &b), 0);
	file_write("cpu.max", "250000 100000\n");
	assert_int_equal(cgroup_limit_read(".", &b), 0);
	assert_int_equal(b.quota_us, 250000);
	assert_int_equal(b.period_us, 100000);
}

TEST_WITH(throttling, in_new_dir, dir_remove)
{
	struct cpu_throttling t;

	assert_int_not_equal(cgroup_throttling_read(".", &t), 0);
	file_write("cpu.stat",
		   "nr_periods 13\nnr_throttled 6\nthrottled_time 351234567\nnr_bursts 0\n");
	assert_int_equal(cgroup_throttling_read(".", &t), 0);
	assert_int_equal(t.periods, 13);
	assert_int_equal(t.throttled, 6);
	assert_int_equal(t.throttled_ns, 351234567);
	file_write("cpu.stat", "usage_usec 9\nnr_periods 2\nnr_throttled 1\nthrottled_usec 77\n");
	assert_int_equal(cgroup_throttling_read(".", &t), 0);
	assert_int_equal(t.periods, 2);
	assert_int_equal(t.throttled_ns, 77000);
}
