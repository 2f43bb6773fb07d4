/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * met_functions [--perf] TRACE PROGRAM: puts probes into functions of a running program that have
 * no symbol, in the same way as into functions passed to it (POV_KIND_HANDED). It prints the calls
 * recorded at each stage. The program (tests/mpi/plain/met.c) prints the addresses and takes a step
 * for each input line. For tests only.
 */
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/event.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "record/images.h"
#include "record/kernel.h"
#include "layers/func_table.h"
#include "trace/trace_write.h"

struct recording {
	struct kernel kernel;
	struct images *images;
	struct ring_buffer *rings;
	uint64_t *calls; /* by row of the function table */
};

struct program {
	pid_t pid;
	FILE *to, *from;
	/*
	 * Addresses: a function, the function's second instruction, a function of the program
	 * itself.
	 */
	uint64_t hidden, inside, own;
};

static int on_record(void *ctx, void *data, size_t bytes)
{
	const struct pov_call *call = data;
	struct recording *r = ctx;

	if (call->hdr.kind == POV_KIND_CALL && call->func < func_table_count())
		r->calls[call->func]++;
	return 0;
}

static int on_control(void *ctx, void *data, size_t bytes)
{
	struct recording *r = ctx;

	images_control(r->images, data);
	return 0;
}

static void check(int err, const char *what)
{
	if (err)
		die("%s: %s", what, strerror(err < 0 ? -err : err));
}

static void on_mapping(void *ctx, const struct pov_hdr *rec)
{
	check(trace_writer_add(ctx, TRACE_STREAM_TASKS, rec), "trace_writer_add");
}

static void recording_start(struct recording *r, bool perf, struct trace_writer *writer)
{
	size_t cnt = func_table_count();
	struct pov_fn *fns = xcalloc(cnt, sizeof(*fns));
	bool *wanted = xcalloc(cnt, sizeof(*wanted));
	struct func_choice choice = {.groups = "all", .layers = "ucp"};
	struct kernel_options opt = {.perf_links = perf, .fns = fns, .fn_cnt = (uint32_t)cnt};

	check(func_table_select(&choice, wanted, NULL), "functions");
	for (size_t i = 0; i < cnt; i++)
		func_table_recipe(i, &fns[i]);
	r->calls = xcalloc(cnt, sizeof(*r->calls));
	check(kernel_load(&opt, &r->kernel), "kernel_load");
	check(images_new(&r->kernel,
			 &(struct images_wanted){
				 .function = wanted, .record = on_mapping, .ctx = writer},
			 writer, &r->images),
	      "images_new");
	r->rings = ring_buffer__new(r->kernel.control_fd, on_control, r, NULL);
	for (unsigned int i = 0; i <= r->kernel.rings; i++)
		check(!r->rings || ring_buffer__add(r->rings, r->kernel.ring_fd[i], on_record, r),
		      "rings");
	check(kernel_attach(&r->kernel), "kernel_attach");
	free(fns);
}

static void settle(struct recording *r)
{
	while (!images_settled(r->images)) {
		struct pollfd p = {.fd = images_fd(r->images), .events = POLLIN};

		kernel_say_alive(&r->kernel, true);
		poll(&p, 1, 10);
		images_poll(r->images);
	}
}

static void program_start(struct program *p, const char *path)
{
	int to[2], from[2];

	check(pipe(to) || pipe(from), "pipe");
	p->pid = fork();
	if (!p->pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[1]);
		close(from[0]);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	p->to = fdopen(to[1], "w");
	p->from = fdopen(from[0], "r");
	check(fscanf(p->from, "%" SCNx64 "%" SCNx64 "%" SCNx64, &p->hidden, &p->inside, &p->own) !=
		      3,
	      path);
}

/*
 * Makes the program call its hidden function n times and a named one n times. Prints what was
 * recorded of both so far.
 */
static void step(struct recording *r, struct program *p, const char *stage, int n)
{
	int done;

	fprintf(p->to, "%d\n", n);
	fflush(p->to);
	check(fscanf(p->from, "%d", &done) != 1 || done != n, "the program");
	ring_buffer__consume(r->rings);
	printf("%s hidden %" PRIu64 " named %" PRIu64 "\n", stage,
	       r->calls[func_table_find("ucp_tag_send_nbx")],
	       r->calls[func_table_find("ucp_tag_recv_nbx")]);
}

static void functions_add(struct recording *r, const struct program *p, const char *name,
			  uint64_t addr)
{
	struct pov_handed handed = {
		.hdr = {.size = sizeof(handed),
			.kind = POV_KIND_HANDED,
			.tid = (uint32_t)p->pid,
			.ts_ns = clock_now_ns()},
		.tgid = (uint32_t)p->pid,
		.cnt = 1,
		.function = {{.addr = addr, .row = (uint64_t)func_table_find(name)}},
	};

	images_control(r->images, &handed.hdr);
	settle(r);
}

static void stages(struct recording *r, struct program *p)
{
	step(r, p, "before", 7);
	functions_add(r, p, "ucp_tag_send_nbx", p->hidden);
	step(r, p, "added", 11);
	functions_add(r, p, "ucp_tag_send_nbx", p->hidden);
	step(r, p, "again", 13);
	functions_add(r, p, "ucp_get_nbx", p->inside);
	functions_add(r, p, "ucp_get_nbx", p->own);
	functions_add(r, p, "ucp_get_nbx", UINT64_MAX);
	functions_add(r, p, "MPI_Send", p->hidden);
	step(r, p, "refused", 17);
}

int main(int argc, char **argv)
{
	bool perf = argc > 1 && !strcmp(argv[1], "--perf");
	struct trace_writer_options opt = {0};
	struct trace_writer *writer;
	struct recording r = {0};
	struct program p = {0};

	if (argc != 3 + perf)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	log_set_level(LOG_INFO);
	check(trace_writer_open(argv[1 + perf], &opt, &writer), argv[1 + perf]);
	recording_start(&r, perf, writer);
	program_start(&p, argv[2 + perf]);
	check(kernel_add_target(&r.kernel, (uint32_t)p.pid), "target");
	check(images_scan(r.images, p.pid) != 1, "images_scan");
	stages(&r, &p);
	fclose(p.to);
	waitpid(p.pid, NULL, 0);
	images_free(r.images);
	ring_buffer__free(r.rings);
	kernel_release(&r.kernel);
	return trace_writer_finish(writer, NULL) ? 1 : 0;
}
