/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Runs a command with an empty entry and return probe on each function named: the floor that a
 * tracer can be measured against. The probes sit where povtrace would put them, so that both pay
 * the kernel the same price.
 *
 * Usage: empty_probe LIBRARY FUNCTION[,FUNCTION…] COMMAND [ARGUMENT…]
 */
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/elf/elf_file.h"
#include "target/elf/probe_site.h"
#include "empty_probe.skel.h"

#define FUNCS_MAX 64
#define REGS_ALL 6

struct sites {
	unsigned long offset[FUNCS_MAX];
	size_t cnt;
};

static int find_sites(const char *lib, char *names, struct sites *out)
{
	struct elf_file *f;
	char *name, *rest;

	if (elf_file_open(lib, &f)) {
		fprintf(stderr, "empty_probe: cannot read %s\n", lib);
		return -1;
	}
	for (name = strtok_r(names, ",", &rest); name && out->cnt < FUNCS_MAX;
	     name = strtok_r(NULL, ",", &rest)) {
		const struct elf_symbol *sym = elf_file_find(f, name);
		struct probe_site site;

		if (!sym || probe_site_choose(f, sym, REGS_ALL, &site)) {
			fprintf(stderr, "empty_probe: no %s in %s\n", name, lib);
			elf_file_close(f);
			return -1;
		}
		out->offset[out->cnt++] = site.offset;
	}
	elf_file_close(f);
	return 0;
}

/* Returns true if both programs are attached. */
static bool attach(struct empty_probe *skel, const char *lib, const struct sites *s)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, entry, .offsets = s->offset, .cnt = s->cnt);
	LIBBPF_OPTS(bpf_uprobe_multi_opts, ret, .offsets = s->offset, .cnt = s->cnt,
		    .retprobe = true);

	return bpf_program__attach_uprobe_multi(skel->progs.entry, -1, lib, NULL, &entry) &&
	       bpf_program__attach_uprobe_multi(skel->progs.at_return, -1, lib, NULL, &ret);
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct sites sites = {.cnt = 0};
	struct empty_probe *skel;
	int status = 1;

	if (argc < 4) {
		fprintf(stderr, "usage: empty_probe LIBRARY FUNCTIONS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	skel = empty_probe__open_and_load();
	if (!skel || find_sites(argv[1], argv[2], &sites))
		return 1;
	if (attach(skel, argv[1], &sites))
		status = run(argv + 3);
	else
		fprintf(stderr, "empty_probe: cannot attach\n");
	empty_probe__destroy(skel); /* the links end with the process */
	return status;
}
