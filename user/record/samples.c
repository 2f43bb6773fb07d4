/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/samples.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/event.h"
#include "lib/log.h"
#include "lib/map.h"
#include "povtrace.skel.h"
#include "record/kernel.h"
#include "target/unwind.h"

/* Returns the link, which owns the clock, or NULL with errno. */
static struct bpf_link *clock_attach(struct bpf_program *prog, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = POV_SAMPLES_HZ,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), err;
	struct bpf_link *link;

	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(prog, fd);
	if (!link) {
		err = errno;
		close(fd);
		errno = err;
	}
	return link;
}

void place_samples_attach(struct kernel *k)
{
	struct bpf_program *prog = k->skel->progs.place_sample;

	for (int cpu = 0; bpf_program__autoload(prog) && cpu < libbpf_num_possible_cpus(); cpu++) {
		struct bpf_link *link = clock_attach(prog, cpu);

		if (link) {
			kernel_keep(k, link);
		} else if (errno != ENODEV) { /* an offline CPU */
			log_info(
				"ranks' code addresses are not sampled while they compute (CPU %d: "
				"%s)",
				cpu, strerror(errno));
			return;
		}
	}
}

/* ---- callers ---- */

#define PROCESSES_KEPT 1024 /* if there are more, all are forgotten and read again */
#define PLACES 16384	    /* number of places with known rules; a power of two */

struct process {
	struct unwind unwind; /* what it has mapped; not the stack */
	bool is_read;
	uint64_t since_ns; /* when it executed its program: older stacks are another program's */
};

/* The rules for a place in a file: they are the same in all processes. */
struct place {
	uint64_t ino, offset; /* 0: nothing is kept here */
	uint32_t dev;
	struct unwind_rules rules;
};

struct callers {
	struct map processes; /* by process id → struct process; owned */
	struct place place[PLACES];
};

struct callers *callers_new(void)
{
	return xcalloc(1, sizeof(struct callers));
}

static void process_free(void *value)
{
	struct process *p = value;

	unwind_close(&p->unwind);
	free(p);
}

void callers_free(struct callers *c)
{
	if (!c)
		return;
	map_free(&c->processes, process_free);
	free(c);
}

static struct process *process_of(struct callers *c, uint32_t tgid)
{
	if (c->processes.cnt >= PROCESSES_KEPT && !map_get(&c->processes, tgid))
		map_free(&c->processes, process_free);
	return map_make(&c->processes, tgid, sizeof(struct process));
}

void callers_identity(struct callers *c, const struct pov_hdr *rec)
{
	/* for a new thread of an old process, this finds nothing */
	uint32_t tgid = rec->kind == POV_KIND_IMAGE ? ((const struct pov_image *)rec)->tgid :
			rec->kind == POV_KIND_EXEC  ? ((const struct pov_task *)rec)->tgid :
			rec->kind == POV_KIND_FORK  ? ((const struct pov_fork *)rec)->child_tid :
						      0;
	struct process *p = tgid ? map_get(&c->processes, tgid) : NULL;

	if (!p)
		return;
	p->is_read = false;
	if (rec->kind != POV_KIND_IMAGE)
		p->since_ns = rec->ts_ns;
}

static void mappings_read(struct process *p, uint32_t tgid)
{
	struct unwind u;

	p->is_read = true;
	if (unwind_open((pid_t)tgid, &u)) /* it has ended, but its old mappings are still right */
		return;
	unwind_close(&p->unwind);
	p->unwind = u;
}

/* Returns the rules for an address of a process, or NULL. */
static const struct unwind_rules *rules_of(struct callers *c, const struct process *p, uint64_t pc)
{
	const struct unwind_map *m = unwind_map_of(&p->unwind, pc);
	uint64_t ino, offset;
	struct place *at;

	if (!m)
		return NULL;
	ino = m->vdso ? UINT64_MAX : m->ino;
	offset = m->off + (pc - m->start);
	at = &c->place[((ino * UINT64_C(0x9e3779b97f4a7c15) ^ offset) *
			UINT64_C(0xd6e8feb86659fd93)) >>
			       32 &
		       (PLACES - 1)];
	if (at->ino == ino && at->offset == offset && at->dev == m->dev)
		return &at->rules;
	if (!unwind_rules_find(&p->unwind, pc, &at->rules)) {
		at->ino = 0;
		return NULL;
	}
	at->ino = ino;
	at->offset = offset;
	at->dev = m->dev;
	return &at->rules;
}

/* Returns the number of callers. *cut: there are more. */
static uint32_t callers_find(struct callers *c, const struct process *p,
			     const struct pov_stack *stack, uint64_t *caller, bool *cut)
{
	const struct unwind copy = {
		.copy = {stack->data, stack->regs.reg[UNWIND_RSP], stack->bytes}};
	struct unwind_regs regs = {.pc = stack->regs.pc, .known = (1u << UNWIND_REGS) - 1};
	uint64_t cfa, sp = stack->regs.reg[UNWIND_RSP];
	uint32_t n = 0;

	memcpy(regs.reg, stack->regs.reg, sizeof(regs.reg));
	*cut = true;
	while (n < POV_SAMPLE_CALLERS_MAX) {
		const struct unwind_rules *rules = rules_of(c, p, regs.pc - !!n);

		if (rules && unwind_rules_end(rules)) {
			*cut = false;
			break;
		}
		if (!rules || !unwind_rules_apply(&copy, rules, &regs, &cfa) || cfa <= sp)
			break;
		sp = cfa;
		caller[n++] = regs.pc;
	}
	return n;
}

void callers_sample(struct callers *c, const struct pov_stack *stack, struct pov_sample *out)
{
	struct process *p = process_of(c, stack->regs.tgid);
	uint32_t n = 0;
	bool cut = true;

	*out = (struct pov_sample){
		.hdr = {.kind = POV_KIND_SAMPLE, .tid = stack->regs.tid, .ts_ns = stack->hdr.ts_ns},
		.tgid = stack->regs.tgid,
		.ip = stack->regs.pc,
	};
	if (stack->hdr.ts_ns >= p->since_ns) {
		if (!p->is_read)
			mappings_read(p, stack->regs.tgid);
		n = callers_find(c, p, stack, out->caller, &cut);
	}
	out->hdr.flags = cut ? POV_SAMPLE_CUT : 0;
	out->hdr.size = (uint16_t)(sizeof(*out) + 8u * n);
}
