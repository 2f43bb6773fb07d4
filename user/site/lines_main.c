/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace-lines names places in one file for povtrace, which starts it on demand
 * (site/site_names.h). The file may belong to anybody and may be damaged. A crash here ends only
 * this process, which has no more rights than the file's owner.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/config.h"
#include "site/site_names.h"
#include "site/debug_info.h"

#define DATA_BYTES (4ull << 30) /* debug information of large programs takes some 100 MiB */

/* Replaces the inherited limit of memory, which povtrace has set for reading traces. */
static void limits_set(void)
{
	struct rlimit limit;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (getrlimit(RLIMIT_DATA, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < DATA_BYTES ? limit.rlim_max : DATA_BYTES;
#ifndef POV_SANITIZED /* the sanitizer's shadow counts, too */
	setrlimit(RLIMIT_DATA, &limit);
#endif
}

/* Gives up the rights of root, except for root's own files: others' files may be hostile. */
static int rights_drop(const struct stat *st)
{
	if (geteuid() || !st->st_uid)
		return 0;
	return setgroups(0, NULL) || setresgid(st->st_gid, st->st_gid, st->st_gid) ||
	       setresuid(st->st_uid, st->st_uid, st->st_uid);
}

/*
 * Opens the file that was recorded, identified by its build ID, or else by its stamp. 0 or -errno.
 */
static int recorded_open(const char *path, const char *build_id, uint64_t stamp,
			 struct debug_info **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || rights_drop(&st) ||
	    (!*build_id &&
	     stamp != POV_FILE_STAMP(st.st_ctim.tv_sec, st.st_ctim.tv_nsec, st.st_size))) {
		close(fd);
		return -ESTALE;
	}
	return debug_info_open(fd, path, build_id, out);
}

static uint16_t name_bytes(const char *name)
{
	return name ? (uint16_t)strnlen(name, SITE_NAME_BYTES) : 0;
}

static void offset_answer(struct debug_info *d, uint64_t offset)
{
	struct debug_place p = {0};
	struct site_answer a;

	debug_info_find(d, offset, &p);
	a = (struct site_answer){
		.function_offset = p.function_offset,
		.line = p.line,
		.function_bytes = name_bytes(p.function),
		.file_bytes = name_bytes(p.file),
	};
	fwrite(&a, sizeof(a), 1, stdout);
	if (a.function_bytes)
		fwrite(p.function, 1, a.function_bytes, stdout);
	if (a.file_bytes)
		fwrite(p.file, 1, a.file_bytes, stdout);
	fflush(stdout);
}

/* Arguments: PATH BUILD_ID STAMP */
int main(int argc, char **argv)
{
	struct debug_info *d;
	uint64_t offset;

	if (argc != 4) {
		fputs("povtrace-lines is started by povtrace\n", stderr);
		return 2;
	}
	limits_set();
	if (recorded_open(argv[1], argv[2], strtoull(argv[3], NULL, 10), &d))
		return 1;
	while (fread(&offset, sizeof(offset), 1, stdin) == 1)
		offset_answer(d, offset);
	debug_info_close(d);
	return 0;
}
