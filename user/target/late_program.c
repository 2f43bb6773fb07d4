/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libbpf relocates the program with the others. Just before it would load it, program_keep() copies
 * the program, and libbpf loads an empty one instead. There is one such program.
 */
#include "target/late_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"

#define LICENSE "Dual BSD/GPL" /* as bpf/ has it */

struct late_program {
	int handler; /* libbpf's number for the section */
	int fd;	     /* -1: not loaded yet */
	char *name;
	struct bpf_insn *insn;
	size_t insn_cnt;
	void *func_info;
	struct bpf_prog_load_opts opts;
};

static void *bytes_copy(const void *from, size_t bytes)
{
	void *to = xmalloc(bytes + 1);

	if (bytes)
		memcpy(to, from, bytes);
	return to;
}

static int program_keep(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	static struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct late_program *p = (struct late_program *)cookie;

	if (p->insn)
		return -EEXIST;
	p->name = xstrdup(bpf_program__name(prog));
	p->insn_cnt = bpf_program__insn_cnt(prog);
	p->insn = bytes_copy(bpf_program__insns(prog), p->insn_cnt * sizeof(*p->insn));
	p->func_info = bytes_copy(opts->func_info,
				  (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	p->opts = (struct bpf_prog_load_opts){
		.sz = sizeof(p->opts),
		.expected_attach_type = bpf_program__expected_attach_type(prog),
		.prog_btf_fd = opts->prog_btf_fd,
		.prog_flags = bpf_program__flags(prog),
		.kern_version = opts->kern_version,
		.func_info = p->func_info,
		.func_info_cnt = opts->func_info_cnt,
		.func_info_rec_size = opts->func_info_rec_size,
	};
	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(prog, nothing, sizeof(nothing) / sizeof(*nothing));
}

struct late_program *late_program_new(void)
{
	struct late_program *p = xcalloc(1, sizeof(*p));
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)p,
		    .prog_prepare_load_fn = program_keep);

	p->fd = -1;
	p->handler = libbpf_register_prog_handler(LATE_PROGRAM_SECTION, BPF_PROG_TYPE_KPROBE, 0,
						  &opts);
	if (p->handler >= 0)
		return p;
	free(p);
	return NULL;
}

void late_program_free(struct late_program *p)
{
	if (!p)
		return;
	libbpf_unregister_prog_handler(p->handler);
	if (p->fd >= 0)
		close(p->fd);
	free(p->name);
	free(p->insn);
	free(p->func_info);
	free(p);
}

int late_program_fd(struct late_program *p)
{
	int err;

	if (p->fd >= 0)
		return p->fd;
	if (!p->insn)
		return -ENOENT;
	p->fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, p->name, LICENSE, p->insn, p->insn_cnt,
			      &p->opts);
	if (p->fd >= 0)
		return p->fd;
	err = -errno;
	log_error("cannot load the BPF program %s: %s", p->name, strerror(-err));
	return err;
}

static bool fd_known(const int *fd, size_t cnt, int one)
{
	return table_any(cnt, i, fd[i] == one);
}

size_t late_program_needs(const struct late_program *p, int fd[LATE_PROGRAM_FDS_MAX])
{
	size_t cnt = 0;

	if (p->opts.prog_btf_fd)
		fd[cnt++] = (int)p->opts.prog_btf_fd;
	for (size_t i = 0; i < p->insn_cnt && cnt < LATE_PROGRAM_FDS_MAX; i++) {
		const struct bpf_insn *insn = &p->insn[i];

		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW) &&
		    (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE) &&
		    !fd_known(fd, cnt, insn->imm))
			fd[cnt++] = insn->imm;
	}
	return cnt;
}
