/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "unit/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/log.h"

static char temp_dir[64];

static void temp_remove(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", temp_dir);
	if (system(command))
		fprintf(stderr, "could not remove %s\n", temp_dir);
}

const char *temp_path(const char *name)
{
	static char path[128];

	if (!temp_dir[0]) {
		strcpy(temp_dir, "/tmp/povtest.XXXXXX");
		if (!mkdtemp(temp_dir))
			die("mkdtemp failed");
		atexit(temp_remove);
	}
	snprintf(path, sizeof(path), "%s/%s", temp_dir, name);
	return path;
}

void file_load(const char *path, uint8_t **data, size_t *len)
{
	FILE *in = fopen(path, "rb");
	struct stat st;

	if (!in || fstat(fileno(in), &st))
		die("cannot open %s", path);
	*len = (size_t)st.st_size;
	*data = xmalloc(*len + 1);
	if (fread(*data, 1, *len, in) != *len)
		die("cannot read %s", path);
	fclose(in);
}

void file_store(const char *path, const void *data, size_t len)
{
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(data, 1, len, out) != len || fclose(out))
		die("cannot write %s", path);
}
