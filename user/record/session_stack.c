/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds calls that were open when their process was attached to, and still are when the recording
 * ends. No probe has seen them begin, so they are found by the return addresses on the threads'
 * stacks. This neither stops nor changes a process.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/thread.h"
#include "lib/clock.h"
#include "target/code_file.h"
#include "target/proc.h"
#include "target/probes/site_list.h"
#include "target/unwind.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/table.h"
#include "record/session_priv.h"
#include "target/x86/x86_args.h"

#define THREADS_MAX 4096 /* in all processes */
#define DEPTH_MAX 128
#define CODE_BYTES_MAX 65536
#define SCHEDSTAT_BYTES 256
#define PLACES_MAX 16 /* mappings of traced libraries in a process */
/*
 * If a thread ran while its stack was read, the stack is read again after a pause. It is read at
 * least LOOKS_LEAST times, and until LOOKS_NS have passed.
 */
#define LOOKS_LEAST 8
#define LOOKS_NS 1000000000ull
#define LOOKS_PAUSE_US 2000

struct stack_call {
	uint32_t tid, tgid;
	uint16_t func, lib;
	uint64_t site;
	uint32_t unknown, nargs;
	uint64_t arg[POV_CALL_ARGS_MAX];
};

struct session_stack {
	struct stack_call *call;
	size_t cnt;
	struct pov_sample *place; /* code addresses of threads without such a call */
	size_t nplaces;
	bool rough;	    /* also take addresses of threads that ran while their stack was read */
	struct map callers; /* threads whose calls probes have seen begin (by tid) */
	struct map recorded; /* threads with an open call whose begin was recorded */
};

struct place {
	const struct code_file *file;
	uint64_t bias;
};

struct finding_stack {
	struct session *s;
	struct place place[PLACES_MAX];
	size_t nplaces;
	struct unwind unwind;
	uint64_t program; /* inode number of the program's file */
};

static void on_library(void *ctx, const struct library_place *at)
{
	struct finding_stack *f = ctx;

	if (at->file->sites && f->nplaces < PLACES_MAX)
		f->place[f->nplaces++] = (struct place){at->file, at->bias};
}

/* Finds the recorded MPI function that begins at an address of the process. */
static bool function_find(const struct finding_stack *f, const struct unwind_frame *frame,
			  uint64_t *cookie)
{
	uint64_t offset;

	for (size_t i = 0; i < f->nplaces; i++) {
		const struct place *p = &f->place[i];

		if (code_file_offset(p->file, frame->function - p->bias, &offset) &&
		    site_list_function(p->file->sites, offset, offset + frame->bytes, cookie))
			return true;
	}
	return false;
}

/* A function on a thread's stack, with its caller's registers and its return address. */
struct stack_frame {
	struct unwind_frame at;
	struct unwind_regs regs; /* registers at its call of the next function */
};

#if defined(__x86_64__)
static uint8_t *code_read(const struct finding_stack *f, const struct unwind_frame *at)
{
	uint8_t *code;

	if (at->bytes > CODE_BYTES_MAX)
		return NULL;
	code = xmalloc(at->bytes + 1);
	if (unwind_code(&f->unwind, at->function, code, at->bytes))
		return code;
	free(code);
	return NULL;
}

static void arg_set(struct stack_call *c, uint32_t i, uint64_t value)
{
	c->arg[i] = value;
	c->unknown &= ~(1u << i);
}

/* Sets arguments that the function itself has saved. */
static void args_kept(const struct finding_stack *f, struct stack_call *c,
		      const struct stack_frame *fr)
{
	uint8_t *code = code_read(f, &fr->at);
	struct x86_arg arg[POV_CALL_ARGS_MAX];
	uint64_t value;

	if (code && x86_args_find(code, fr->at.bytes, fr->at.function, fr->regs.pc, arg, c->nargs))
		for (uint32_t i = 0; i < c->nargs; i++) {
			if (arg[i].place == X86_ARG_IN_REG && fr->regs.known >> arg[i].reg & 1)
				arg_set(c, i, fr->regs.reg[arg[i].reg]);
			else if (arg[i].place == X86_ARG_ON_STACK &&
				 unwind_read(&f->unwind, fr->at.cfa + (uint64_t)(int64_t)arg[i].off,
					     &value, sizeof(value)))
				arg_set(c, i, value);
		}
	free(code);
}

/*
 * Sets arguments by the code of the caller that passed them. The caller's registers at the begin of
 * the call are its current ones, and sp is the function's CFA.
 */
static void args_passed(const struct finding_stack *f, struct stack_call *c,
			const struct stack_frame *caller)
{
	uint8_t *code = code_read(f, &caller->at);

	for (uint32_t i = 0; code && i < c->nargs && i < 6; i++) {
		struct x86_passed p;
		uint64_t value = 0;

		if (!(c->unknown >> i & 1))
			continue;
		p = x86_passed_find(code, caller->at.bytes, caller->at.function, caller->regs.pc,
				    i);
		if (p.kind == X86_PASSED_CONSTANT)
			arg_set(c, i, (uint64_t)p.value);
		else if (p.kind == X86_PASSED_LOADED &&
			 unwind_read(&f->unwind, (uint64_t)p.value, &value, sizeof(value)))
			arg_set(c, i, value);
		else if (p.kind == X86_PASSED_REG && caller->regs.known >> p.reg & 1)
			arg_set(c, i, caller->regs.reg[p.reg]);
		else if (p.kind == X86_PASSED_MEMORY && caller->regs.known >> p.reg & 1 &&
			 unwind_read(&f->unwind, caller->regs.reg[p.reg] + (uint64_t)p.value,
				     &value, p.bytes))
			arg_set(c, i, value);
	}
	free(code);
}
#endif

/* Follows a thread's stack. Sets *whole if it reached the function with which the thread began. */
static size_t frames_read(struct finding_stack *f, const struct thread_regs *t,
			  struct stack_frame *frame, bool *whole)
{
	struct unwind_regs regs = t->regs;
	int stepped = 1;
	size_t n = 0;

	f->unwind.copy = t->stack;
	while (n < DEPTH_MAX && regs.pc) {
		frame[n].regs = regs;
		stepped = unwind_step(&f->unwind, &regs, n > 0, &frame[n].at);
		if (stepped <= 0)
			break;
		n++;
	}
	frame[n].regs = regs; /* registers of the last function's caller */
	*whole = !stepped || !regs.pc;
	return n;
}

static bool is_in_program(const struct finding_stack *f, uint64_t pc)
{
	for (size_t i = 0; i < f->unwind.maps; i++)
		if (pc >= f->unwind.map[i].start && pc < f->unwind.map[i].end)
			return f->unwind.map[i].ino == f->program;
	return false;
}

/* Finds the innermost function of the thread's program. False: there is none. */
static bool place_find(struct finding_stack *f, const struct thread_regs *t,
		       const struct stack_frame *frame, size_t n)
{
	struct session_stack *st = f->s->stack;
	size_t i = 0;

	while (i <= n && !is_in_program(f, frame[i].regs.pc))
		i++;
	if (!f->program || i > n)
		return false;
	*table_append(st->place, st->nplaces) = (struct pov_sample){
		.hdr = {.size = sizeof(struct pov_sample),
			.kind = POV_KIND_SAMPLE,
			.flags = POV_SAMPLE_STACK,
			.tid = (uint32_t)t->tid},
		.tgid = (uint32_t)t->pid,
		.ip = frame[i].regs.pc + !i, /* + 1 as in a return address */
	};
	return true;
}

/* Returns true if the innermost function has neither just begun nor is about to return. */
static bool has_frame(const struct stack_frame *innermost)
{
	return innermost->at.cfa - innermost->regs.reg[UNWIND_RSP] > sizeof(uint64_t);
}

/*
 * Finds the outermost recorded function of a thread; calls inside it do not matter. False: the
 * stack could not be followed.
 */
static bool thread_walk(struct finding_stack *f, const struct thread_regs *t)
{
	struct stack_frame *frame = xcalloc(DEPTH_MAX + 1, sizeof(*frame));
	bool whole;
	size_t n = frames_read(f, t, frame, &whole), i = n;
	struct session_stack *st = f->s->stack;
	struct stack_call c = {.tid = (uint32_t)t->tid, .tgid = (uint32_t)t->pid};
	uint64_t cookie;

	while (i > 0 && !function_find(f, &frame[i - 1].at, &cookie))
		i--;
	if (i > 1 || (i == 1 && has_frame(&frame[0]))) {
		const struct pov_fn *fn = &f->s->fns[POV_COOKIE_FUNC(cookie)];

		c.func = POV_COOKIE_FUNC(cookie);
		c.lib = POV_COOKIE_LIB(cookie);
		c.site = frame[i].regs.pc;
		c.nargs = fn->nargs < POV_CALL_ARGS_MAX ? fn->nargs : POV_CALL_ARGS_MAX;
		c.unknown = (1u << c.nargs) - 1;
#if defined(__x86_64__)
		args_kept(f, &c, &frame[i - 1]);
		if (i < n)
			args_passed(f, &c, &frame[i]);
#endif
		*table_append(st->call, st->cnt) = c;
		whole = true;
	} else if (place_find(f, t, frame, n)) {
		whole = true;
	}
	free(frame);
	return whole;
}

static uint64_t program_of(pid_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", proc_memory_of(pid));
	return stat(path, &st) ? 0 : st.st_ino;
}

/*
 * Returns true if a thread that was not running has run since its registers were read. Then they
 * may be older or newer than the stack.
 */
static bool has_run_since(const struct thread_regs *t)
{
	char name[48], *text;
	unsigned long long cnt;
	size_t bytes;
	bool same;

	if (t->stack.data || !t->run_cnt)
		/* registers and stack are from one sample, or unknown: cannot be checked */
		return false;
	snprintf(name, sizeof(name), "task/%d/schedstat", t->tid);
	text = proc_file_read(t->pid, name, SCHEDSTAT_BYTES, &bytes);
	same = text && sscanf(text, "%*u %*u %llu", &cnt) == 1 && cnt == t->run_cnt;
	free(text);
	return !same;
}

static void process_walk(struct session *s, struct thread_regs *t, size_t cnt, bool *done)
{
	struct finding_stack f = {.s = s, .program = program_of(t->pid)};

	images_libraries(s->images, t->pid, on_library, &f);
	if (!f.nplaces)
		memset(done, true, cnt);
	if (!f.nplaces || unwind_open(t->pid, &f.unwind))
		return;
	for (size_t i = 0; i < cnt; i++) {
		size_t calls = s->stack->cnt, places = s->stack->nplaces;

		if (!t[i].found || done[i] || !thread_walk(&f, &t[i]))
			continue;
		done[i] = t[i].found = !has_run_since(&t[i]);
		if (done[i])
			continue;
		t[i].run_cnt = 0;
		s->stack->cnt = calls;
		if (s->stack->rough)
			done[i] = s->stack->nplaces > places;
		else
			s->stack->nplaces = places;
	}
	unwind_close(&f.unwind);
}

/* Lists the threads of processes that may call MPI. */
static size_t threads_list(struct session *s, struct thread_regs *t)
{
	uint32_t key, state, *last = NULL;
	int fd = s->kernel.targets_fd;
	pid_t *tid = xcalloc(THREADS_MAX, sizeof(*tid));
	size_t cnt = 0;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		size_t n;

		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &state) || state != POV_TARGET_ALIVE)
			continue;
		n = proc_threads((pid_t)key, tid, THREADS_MAX - cnt);
		for (size_t i = 0; i < n; i++)
			t[cnt++] = (struct thread_regs){.pid = (pid_t)key, .tid = tid[i]};
	}
	free(tid);
	return cnt;
}

struct asleep {
	struct thread_regs *t;
	size_t cnt;
};

static void on_regs(void *ctx, const void *item)
{
	const struct pov_regs *r = item;
	const struct asleep *a = ctx;

	for (size_t i = 0; i < a->cnt; i++) {
		struct thread_regs *t = &a->t[i];

		if (t->found || t->tid != (pid_t)r->tid || t->pid != (pid_t)r->tgid)
			continue;
		t->found = true;
		t->run_cnt = r->run_cnt;
		t->regs.pc = r->pc;
		t->regs.known = (1u << UNWIND_REGS) - 1;
		memcpy(t->regs.reg, r->reg, sizeof(t->regs.reg));
	}
}

/* Searches the stacks of threads whose registers were found and that are not done. */
static void stacks_walk(struct session *s, struct thread_regs *t, size_t cnt, bool *done)
{
	size_t end, todo;

	for (size_t i = 0; i < cnt; i = end) {
		for (end = i, todo = 0; end < cnt && t[end].pid == t[i].pid; end++)
			todo += t[end].found && !done[end];
		if (todo)
			process_walk(s, &t[i], end - i, &done[i]);
	}
}

void session_stack_identity(struct session *s, const struct pov_hdr *rec)
{
	if (!s->opt->pid_cnt)
		return;
	if (!s->stack)
		s->stack = xcalloc(1, sizeof(*s->stack));
	if (rec->kind == POV_KIND_CALLER)
		map_set(&s->stack->callers, rec->tid, s->stack);
	else if (rec->kind == POV_KIND_EXIT)
		map_remove(&s->stack->callers, rec->tid);
}

/*
 * Searches the stacks of threads that are not done: first of threads that do not run, then of
 * running threads, then of those that have stopped running meanwhile. Each has its registers read
 * just before its stack. Threads of one process are adjacent in the array.
 */
static void threads_search(struct session *s, struct thread_regs *t, size_t cnt, bool *done)
{
	struct asleep a = {t, cnt};

	for (size_t i = 0; i < cnt; i++)
		t[i] = (struct thread_regs){.pid = t[i].pid, .tid = t[i].tid, .found = done[i]};
	kernel_thread_regs(&s->kernel, on_regs, &a);
	stacks_walk(s, t, cnt, done);
	thread_regs_read(t, cnt);
	stacks_walk(s, t, cnt, done);
	kernel_thread_regs(&s->kernel, on_regs, &a);
	stacks_walk(s, t, cnt, done);
	thread_regs_release(t, cnt);
}

void session_stack_find(struct session *s)
{
	struct thread_regs *t;
	uint64_t until_ns = clock_now_ns() + LOOKS_NS;
	bool *done;
	size_t cnt;

	if (!s->opt->pid_cnt)
		return;
	if (!s->stack)
		s->stack = xcalloc(1, sizeof(*s->stack));
	t = xcalloc(THREADS_MAX, sizeof(*t));
	done = xcalloc(THREADS_MAX, sizeof(*done));
	cnt = threads_list(s, t);
	threads_search(s, t, cnt, done);
	for (int look = 1;
	     table_any(cnt, i, !done[i]) && (look < LOOKS_LEAST || clock_now_ns() < until_ns);
	     look++) {
		usleep(LOOKS_PAUSE_US);
		threads_search(s, t, cnt, done);
	}
	s->stack->rough = true;
	if (table_any(cnt, i, !done[i]))
		threads_search(s, t, cnt, done);
	free(done);
	free(t);
}

void session_stack_seen(struct session *s, const struct pov_hdr *open)
{
	if (s->stack && open->kind == POV_KIND_CALL)
		map_set(&s->stack->recorded, open->tid, s->stack);
}

static void stack_call_write(struct session *s, const struct stack_call *c)
{
	_Alignas(8) uint8_t room[sizeof(struct pov_call) + sizeof(c->arg)] = {0};
	struct pov_call *rec = (struct pov_call *)room;

	rec->hdr = (struct pov_hdr){
		.size = (uint16_t)(sizeof(*rec) + 8 * c->nargs),
		.kind = POV_KIND_CALL,
		.flags = POV_CALL_OPEN,
		.tid = c->tid,
		.ts_ns = s->end_ns,
	};
	rec->dur_ns = s->end_ns - s->start_ns;
	rec->tgid = c->tgid;
	rec->func = c->func;
	rec->lib = c->lib;
	rec->site = c->site;
	rec->nargs = (uint8_t)c->nargs;
	rec->unknown = c->unknown;
	memcpy(rec->args, c->arg, sizeof(c->arg));
	session_record(s, 0, &rec->hdr);
	s->res->open_calls++;
}

void session_stack_write(struct session *s)
{
	const struct session_stack *st = s->stack;

	for (size_t i = 0; st && i < st->cnt; i++)
		if (!map_get(&st->callers, st->call[i].tid))
			stack_call_write(s, &st->call[i]);
	for (size_t i = 0; st && i < st->nplaces; i++) {
		if (map_get(&st->recorded, st->place[i].hdr.tid))
			continue;
		st->place[i].hdr.ts_ns = s->end_ns;
		session_record(s, 0, &st->place[i].hdr);
	}
}

void session_stack_release(struct session *s)
{
	if (!s->stack)
		return;
	free(s->stack->call);
	free(s->stack->place);
	map_release(&s->stack->callers);
	map_release(&s->stack->recorded);
	free(s->stack);
	s->stack = NULL;
}
