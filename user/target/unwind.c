/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See unwind.h. */
#include "target/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/proc.h"
#include "target/unwind_bytes.h"

#define MAPS_MAX 65536

/* ---- memory ---- */

bool unwind_read(const struct unwind *u, uint64_t addr, void *buf, size_t bytes)
{
	const struct unwind_copy *c = &u->copy;
	struct iovec to = {buf, bytes}, from = {(void *)(uintptr_t)addr, bytes};

	if (addr >= c->addr && addr - c->addr < c->bytes && c->bytes - (addr - c->addr) >= bytes) {
		memcpy(buf, c->data + (addr - c->addr), bytes);
		return true;
	}
	return u->pid && process_vm_readv(u->pid, &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

const struct unwind_map *unwind_map_of(const struct unwind *u, uint64_t addr)
{
	size_t at = table_first(0, u->maps, i, u->map[i].end > addr);

	return at < u->maps && u->map[at].start <= addr ? &u->map[at] : NULL;
}

bool unwind_code(const struct unwind *u, uint64_t addr, void *buf, size_t bytes)
{
	const struct unwind_map *m = unwind_map_of(u, addr);
	bool whole = false;
	char path[80];
	int fd;

	if (!m || m->vdso || bytes > m->end - addr)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, u->pid, m->start,
		 m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		whole = pread(fd, buf, bytes, (off_t)(m->off + (addr - m->start))) ==
			(ssize_t)bytes;
		close(fd);
	}
	return whole;
}

static void map_add(struct unwind *u, const char *line)
{
	unsigned int major, minor;
	struct unwind_map m = {0};
	char perms[8];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start,
		   &m.end, perms, &m.off, &major, &minor, &m.ino, &path) < 7 ||
	    u->maps == MAPS_MAX)
		return;
	m.vdso = path && !strncmp(line + path, "[vdso]", 6);
	if (!m.ino && !m.vdso)
		return;
	m.dev = major << 20 | minor;
	*table_append(u->map, u->maps) = m;
}

int unwind_open(pid_t pid, struct unwind *out)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *in;

	pid = proc_memory_of(pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	in = fopen(path, "re");
	if (!in)
		return -errno;
	*out = (struct unwind){.pid = pid};
	while (getline(&line, &room, in) > 0)
		map_add(out, line);
	free(line);
	fclose(in);
	return 0;
}

void unwind_close(struct unwind *u)
{
	free(u->map);
	*u = (struct unwind){0};
}

/* ---- a step ---- */

static bool is_known(const struct unwind_regs *r, uint64_t reg)
{
	return reg < UNWIND_REGS && r->known >> reg & 1;
}

#define EXPRESSION_DEPTH 16

/* Applies an operation to the two values on top of the stack. False: unknown operation. */
static bool expression_two(uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
	switch (op) {
	case 0x1a: /* and */
		*out = a & b;
		return true;
	case 0x1c: /* minus */
		*out = a - b;
		return true;
	case 0x22: /* plus */
		*out = a + b;
		return true;
	case 0x24: /* shl */
		*out = b < 64 ? a << b : 0;
		return true;
	case 0x2a: /* ge */
		*out = (int64_t)a >= (int64_t)b;
		return true;
	}
	return false;
}

/*
 * Evaluates the expressions that tables use: those of procedure linkage tables, and of functions
 * that align their stack.
 */
static bool expression_cfa(const struct unwind *u, const struct unwind_regs *r,
			   const struct unwind_rules *rules, uint64_t *cfa)
{
	struct bytes b = {rules->expression, rules->expression + rules->expression_bytes, false};
	uint64_t stack[EXPRESSION_DEPTH + 1] = {0};
	unsigned int n = 0;

	while (b.at < b.end && !b.bad && n < EXPRESSION_DEPTH) {
		uint8_t op = (uint8_t)bytes_take(&b, 1);

		if (op >= 0x30 && op <= 0x4f) { /* lit */
			stack[n++] = op - 0x30u;
		} else if (op >= 0x70 && op <= 0x80) { /* breg */
			uint64_t reg = op - 0x70u, off = (uint64_t)sleb_take(&b);

			if (reg < UNWIND_REGS && !is_known(r, reg))
				return false;
			stack[n++] = (reg < UNWIND_REGS ? r->reg[reg] : r->pc) + off;
		} else if (op == 0x06 && n) { /* deref */
			if (!unwind_read(u, stack[n - 1], &stack[n - 1], 8))
				return false;
		} else if (op == 0x23 && n) { /* plus_uconst */
			stack[n - 1] += uleb_take(&b);
		} else if (n > 1 && expression_two(op, stack[n - 2], stack[n - 1], &stack[n - 2])) {
			n--;
		} else {
			return false;
		}
	}
	*cfa = n ? stack[n - 1] : 0;
	return n && !b.bad && b.at == b.end;
}

bool unwind_rules_end(const struct unwind_rules *rules)
{
	return rules->reg[UNWIND_REGS].is == UNWIND_UNKNOWN;
}

/*
 * True if the stack pointer has passed the place where a register is saved: the function is about
 * to return, and has restored the register. Unwind tables do not show this, and memory below the
 * stack is soon overwritten.
 */
static bool is_restored(const struct unwind_regs *r, uint64_t saved_at)
{
	return is_known(r, UNWIND_RSP) && saved_at < r->reg[UNWIND_RSP];
}

/* Registers that a call may change are unknown in the caller. */
#define SAVED_BY_CALLER 0x0f37u /* rax rdx rcx rsi rdi r8-r11 */

bool unwind_rules_apply(const struct unwind *u, const struct unwind_rules *rules,
			struct unwind_regs *r, uint64_t *cfa)
{
	struct unwind_regs out = *r;
	uint64_t value;

	if (rules->expression_bytes) {
		if (!expression_cfa(u, r, rules, cfa))
			return false;
	} else if (is_known(r, rules->cfa_reg)) {
		*cfa = r->reg[rules->cfa_reg] + (uint64_t)rules->cfa_off;
	} else {
		return false;
	}
	for (unsigned int i = 0; i <= UNWIND_REGS; i++) {
		uint64_t at = *cfa + (uint64_t)(int64_t)rules->reg[i].off;
		bool known = rules->reg[i].is != UNWIND_UNKNOWN;

		if (rules->reg[i].is == UNWIND_SAME ||
		    (i < UNWIND_REGS && rules->reg[i].is == UNWIND_AT_CFA && is_restored(r, at)))
			continue;
		if (rules->reg[i].is == UNWIND_AT_CFA)
			known = unwind_read(u, at, &value, sizeof(value));
		else
			value = at;
		if (i == UNWIND_REGS) {
			if (!known)
				return false;
			out.pc = value;
		} else {
			out.reg[i] = value;
			out.known = known ? out.known | 1u << i : out.known & ~(1u << i);
		}
	}
	if (rules->reg[UNWIND_RSP].is == UNWIND_SAME) {
		out.reg[UNWIND_RSP] = *cfa;
		out.known |= 1u << UNWIND_RSP;
	}
	out.known &= ~SAVED_BY_CALLER;
	*r = out;
	return rules->reg[UNWIND_REGS].is != UNWIND_SAME;
}

int unwind_step(const struct unwind *u, struct unwind_regs *regs, bool returns,
		struct unwind_frame *frame)
{
	struct unwind_rules rules;

	if (!unwind_rules_find(u, regs->pc - returns, &rules))
		return -1;
	if (unwind_rules_end(&rules))
		return 0;
	frame->function = rules.function;
	frame->bytes = rules.bytes;
	return unwind_rules_apply(u, &rules, regs, &frame->cfa) ? 1 : -1;
}

/* ---- registers of running threads ---- */

#define PERIOD_NS 1000000
#define ROUNDS 10
#define ROUND_MS 10
#define AT_ONCE 64 /* threads sampled at a time */
#define STACK_BYTES 16384
#define RING_BYTES 65536 /* a power of two, with room for a sample */

/*
 * Bits of enum perf_event_x86_regs in the order of DWARF's numbers, and of the instruction pointer.
 */
static const uint8_t perf_reg[UNWIND_REGS] = {0,  3,  2,  1,  4,  5,  6,  7,
					      16, 17, 18, 19, 20, 21, 22, 23};
#define PERF_REG_IP 8

struct sampling {
	int fd;
	struct perf_event_mmap_page *ring;
};

static uint64_t regs_wanted(void)
{
	uint64_t mask = 1u << PERF_REG_IP;

	for (int i = 0; i < UNWIND_REGS; i++)
		mask |= 1ull << perf_reg[i];
	return mask;
}

static void sampling_begin(struct sampling *s, pid_t tid)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = regs_wanted(),
		.sample_stack_user = STACK_BYTES,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};

	*s = (struct sampling){.fd = -1};
	s->fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0) {
		log_debug("cannot sample thread %d: %s", tid, strerror(errno));
		return;
	}
	s->ring = mmap(NULL, (size_t)getpagesize() + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		       s->fd, 0);
	if (s->ring == MAP_FAILED) {
		s->ring = NULL;
		close(s->fd);
		s->fd = -1;
	}
}

static void sampling_end(struct sampling *s)
{
	if (s->ring)
		munmap(s->ring, (size_t)getpagesize() + RING_BYTES);
	if (s->fd >= 0)
		close(s->fd);
}

/*
 * A sample is: u64 abi, a word for each register in order of its bit, u64 size, the stack, and u64
 * the number of valid stack bytes.
 */
static bool sample_take(struct thread_regs *t, const uint8_t *data, size_t bytes)
{
	uint64_t mask = regs_wanted(), word[32], abi, size, true_bytes;
	unsigned int n = 0, at[32];

	for (unsigned int bit = 0; bit < 32; bit++)
		if (mask >> bit & 1)
			at[bit] = n++;
	if (bytes < (n + 2) * 8)
		return false;
	memcpy(&abi, data, 8);
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	memcpy(word, data + 8, n * 8ul);
	t->regs.pc = word[at[PERF_REG_IP]];
	t->regs.known = (1u << UNWIND_REGS) - 1;
	for (int i = 0; i < UNWIND_REGS; i++)
		t->regs.reg[i] = word[at[perf_reg[i]]];
	data += (n + 1) * 8ul;
	bytes -= (n + 1) * 8ul;
	memcpy(&size, data, 8);
	if (!size || bytes < 16 || size > bytes - 16)
		return true;
	memcpy(&true_bytes, data + 8 + size, 8);
	if (true_bytes > size)
		true_bytes = size;
	t->stack.data = memcpy(xmalloc(true_bytes + 1), data + 8, true_bytes);
	t->stack.addr = t->regs.reg[UNWIND_RSP];
	t->stack.bytes = true_bytes;
	return true;
}

static bool sampling_look(const struct sampling *s, struct thread_regs *t)
{
	const uint8_t *ring = (const uint8_t *)s->ring + getpagesize();
	uint64_t head, tail;
	bool found = false;

	head = __atomic_load_n(&s->ring->data_head, __ATOMIC_ACQUIRE);
	tail = s->ring->data_tail;
	while (!found && head - tail >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *h =
			(const struct perf_event_header *)(ring + tail % RING_BYTES);

		/* the first one begins at the ring's start and fits */
		if (!h->size || h->size > head - tail || tail % RING_BYTES + h->size > RING_BYTES)
			break;
		if (h->type == PERF_RECORD_SAMPLE)
			found = sample_take(t, (const uint8_t *)(h + 1), h->size - sizeof(*h));
		tail += h->size;
	}
	return found;
}

static void round_pause(void)
{
	const struct timespec t = {.tv_nsec = ROUND_MS * 1000000};

	nanosleep(&t, NULL);
}

static void some_read(struct thread_regs *t, size_t cnt)
{
	struct sampling s[AT_ONCE];
	size_t left = 0;

	for (size_t i = 0; i < cnt; i++) {
		s[i] = (struct sampling){.fd = -1};
		if (!t[i].found)
			sampling_begin(&s[i], t[i].tid);
		left += !t[i].found;
	}
	for (int round = 0; left && round < ROUNDS; round++) {
		round_pause();
		for (size_t i = 0; i < cnt; i++) {
			if (t[i].found)
				continue;
			t[i].found = s[i].ring && sampling_look(&s[i], &t[i]);
			left -= t[i].found;
		}
	}
	for (size_t i = 0; i < cnt; i++)
		sampling_end(&s[i]);
}

void thread_regs_read(struct thread_regs *t, size_t cnt)
{
	for (size_t i = 0; i < cnt; i += AT_ONCE)
		some_read(t + i, cnt - i < AT_ONCE ? cnt - i : AT_ONCE);
}

void thread_regs_release(struct thread_regs *t, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free((void *)t[i].stack.data);
}
