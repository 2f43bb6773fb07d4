/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "target/unwind.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"

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
		log_debug("sampling thread %d: %s", tid, strerror(errno));
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
