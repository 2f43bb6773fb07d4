/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Compares the code of processes with their files, byte by byte, in each executable mapping of a
 * file. Prints differences; then the status is 1. With -x, skips files whose name contains a text.
 * Without PIDs it checks itself. Usage: text_check [-x TEXT] [PID…]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536

static int files_cnt;

/* Prints the differences in a chunk; consecutive ones count as one place. */
static int chunk_compare(const char *path, unsigned long offset, const unsigned char *file,
			 const unsigned char *memory, ssize_t len)
{
	int places = 0;

	for (ssize_t i = 0; i < len; i++) {
		if (file[i] == memory[i])
			continue;
		if (!places++)
			printf("%s: at 0x%lx: %02x, not %02x\n", path, offset + (unsigned long)i,
			       memory[i], file[i]);
		while (i < len && file[i] != memory[i])
			i++;
	}
	return places;
}

static int mapping_compare(int mem, const char *path, unsigned long begin, unsigned long end,
			   unsigned long offset)
{
	static unsigned char in_file[CHUNK], in_memory[CHUNK];
	int fd = open(path, O_RDONLY), places = 0;

	if (fd < 0)
		return 0;
	files_cnt++;
	for (unsigned long at = begin; at < end; at += CHUNK) {
		size_t want = end - at < CHUNK ? end - at : CHUNK;
		ssize_t len = pread(fd, in_file, want, (off_t)(offset + at - begin));

		if (len <= 0 || pread(mem, in_memory, (size_t)len, (off_t)at) != len)
			break;
		places += chunk_compare(path, offset + at - begin, in_file, in_memory, len);
	}
	close(fd);
	return places;
}

static int process_compare(const char *pid, const char *left_out)
{
	char name[64], line[4096 + 128], path[4096];
	unsigned long begin, end, offset;
	int mem, places = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%s/mem", pid);
	mem = open(name, O_RDONLY);
	snprintf(name, sizeof(name), "/proc/%s/maps", pid);
	maps = fopen(name, "r");
	if (mem < 0 || !maps) {
		perror(name);
		exit(2);
	}
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx r-x%*c %lx %*s %*s %4095[^\n]", &begin, &end, &offset,
			   path) != 4 ||
		    path[0] != '/')
			continue;
		if (!left_out || !strstr(path, left_out))
			places += mapping_compare(mem, path, begin, end, offset);
	}
	fclose(maps);
	close(mem);
	return places;
}

int main(int argc, char **argv)
{
	const char *left_out = NULL;
	int first = 1, places = 0;

	if (argc > 2 && !strcmp(argv[1], "-x")) {
		left_out = argv[2];
		first = 3;
	}
	if (first == argc)
		places = process_compare("self", left_out);
	for (int i = first; i < argc; i++)
		places += process_compare(argv[i], left_out);
	if (!files_cnt) {
		puts("no code of any file");
		return 2;
	}
	if (places)
		printf("%d places\n", places);
	return places > 0;
}
