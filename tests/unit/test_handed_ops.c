/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Objects with pointers to functions, in the memory of a child: those that libibverbs and its
 * providers make are found wherever they lie, and what only resembles them is not. Two ranges of
 * addresses stand for the code; no other word in memory has a value in them.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"
#include "target/handed_ops.h"
#include "target/helper/library_kind.h"

#define MEMORY_BYTES ((size_t)8 << 20)
#define EDGE ((size_t)1 << 20) /* memory is read in pieces of this size */
#define CODE 0x5afe12340000ull
#define OTHER_CODE 0x5afe56780000ull
#define CODE_BYTES 0x1000

/* Offsets in libibverbs' public structs. */
enum { COMPAT = 320, POLL_CQ = 96, POST_SRQ_RECV = 168, POST_SEND = 208, POST_RECV = 216 };
enum { WR_SEND = 240, WR_START = 320, WR_COMPLETE = 328 };
enum { START_POLL = 144, NEXT_POLL = 152, END_POLL = 160 };

static struct {
	pid_t pid;
	int fd;		/* its memory */
	uint8_t *start; /* of memory that the child has not written to */
} child;

static const struct library_kind *verbs(void)
{
	for (size_t i = 0; library_kinds[i]; i++)
		if (!strcmp(library_kinds[i]->layer, "verbs"))
			return library_kinds[i];
	return NULL;
}

static void bytes_put(size_t at, const void *bytes, size_t cnt)
{
	assert_int_equal(pwrite(child.fd, bytes, cnt, (off_t)(uintptr_t)(child.start + at)), cnt);
}

static void put(size_t object, size_t offset, uint64_t value)
{
	bytes_put(object + offset, &value, sizeof(value));
}

static uint64_t address_of(size_t object)
{
	return (uint64_t)(uintptr_t)(child.start + object);
}

static void device_put(size_t device, const char *name)
{
	bytes_put(device + 24, name, strlen(name) + 1);
}

/* Writes a context and its device. code: address before the functions. */
static void context_put(size_t context, size_t device, uint64_t code)
{
	device_put(device, "mlx5_0");
	put(context, 0, address_of(device));
	put(context, POST_SEND, code + 1);
	put(context, POST_RECV, code + 2);
	put(context, POLL_CQ, code + 3);
	put(context, POST_SRQ_RECV, code + 4);
	put(context, COMPAT, UINT64_MAX);
}

static void queue_pair_put(size_t qp, size_t context)
{
	put(qp, 0, address_of(context));
	put(qp, WR_SEND, CODE + 5);
	put(qp, WR_START, CODE + 6);
	put(qp, WR_COMPLETE, CODE + 7);
}

static void queue_put(size_t cq, size_t context)
{
	put(cq, 0, address_of(context));
	put(cq, START_POLL, CODE + 8);
	put(cq, NEXT_POLL, CODE + 9);
	put(cq, END_POLL, CODE + 10);
}

/* Returns "post_send 1 post_recv 2 …": each function found, with its offset from CODE. */
static const char *found(void)
{
	static const struct handed_ops_text text[] = {{CODE, CODE + CODE_BYTES},
						      {OTHER_CODE, OTHER_CODE + CODE_BYTES}};
	static char said[512];
	json_t *places = json_array(), *place;
	uint64_t left;
	size_t i;

	said[0] = '\0';
	assert_int_equal(handed_ops_find(child.pid, verbs(), text, 2, places, &left), 0);
	json_array_foreach(places, i, place)
	{
		size_t used = strlen(said);

		snprintf(said + used, sizeof(said) - used, "%s%s %d", i ? " " : "",
			 json_string_value(json_array_get(place, 0)),
			 (int)(json_integer_value(json_array_get(place, 1)) - (json_int_t)CODE));
	}
	json_decref(places);
	return said;
}

static int setup(void **state)
{
	char path[32];

	child.start = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	child.pid = fork();
	if (!child.pid)
		for (;;)
			pause();
	snprintf(path, sizeof(path), "/proc/%d/mem", child.pid);
	child.fd = open(path, O_RDWR | O_CLOEXEC);
	return child.start == MAP_FAILED || child.pid < 0 || child.fd < 0;
}

static int teardown(void **state)
{
	close(child.fd);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	return munmap(child.start, MEMORY_BYTES);
}

TEST_WITH(context, setup, teardown)
{
	if (!verbs()->handed_ops)
		skip_because("the offsets are those of x86-64");
	assert_string_equal(found(), "");
	context_put(4096, 64, CODE);
	assert_string_equal(found(), "post_send 1 post_recv 2 post_srq_recv 4 poll_cq 3");
	/* a pointer into another library's code is no function of the provider */
	put(4096, POST_SRQ_RECV, OTHER_CODE);
	assert_string_equal(found(), "post_send 1 post_recv 2 poll_cq 3");
	put(4096, POST_SRQ_RECV, 0);
	assert_string_equal(found(), "post_send 1 post_recv 2 poll_cq 3");
	/* a second context with the same functions adds nothing */
	context_put(8192, 64, CODE);
	put(8192, POST_SRQ_RECV, 0);
	assert_string_equal(found(), "post_send 1 post_recv 2 poll_cq 3");
}

/* Contexts across the edge of a piece, at the end of memory, and far from other used memory. */
TEST_WITH(places, setup, teardown)
{
	static const size_t places[] = {
		0, EDGE - 320, 2 * EDGE - 8, 3 * EDGE, 5 * EDGE - 4096 - 200, MEMORY_BYTES - 328};
	const char *said;
	char one[64];

	if (!verbs()->handed_ops)
		skip();
	for (size_t i = 0; i < COUNT(places); i++)
		context_put(places[i], 4 * EDGE, CODE + 16 * i);
	said = found();
	for (size_t i = 0; i < COUNT(places); i++) {
		snprintf(one, sizeof(one),
			 "post_send %zu post_recv %zu post_srq_recv %zu poll_cq %zu", 16 * i + 1,
			 16 * i + 2, 16 * i + 4, 16 * i + 3);
		assert_non_null(strstr(said, one));
	}
}

/* Objects that lack one property of a context each. */
TEST_WITH(no_context, setup, teardown)
{
	char endless[64];

	if (!verbs()->handed_ops)
		skip();
	memset(endless, 'x', sizeof(endless));
	for (size_t i = 1; i <= 8; i++)
		context_put(4096 * i, 64 * i, CODE);
	put(4096, COMPAT, UINT64_MAX - 1);
	put(4096 * 2, POST_RECV, OTHER_CODE + 2);
	put(4096 * 3, POST_RECV, CODE + CODE_BYTES);
	device_put(64 * 4, "");
	device_put(64 * 5, "a/b");
	put(4096 * 6, 0, 8); /* a device at an unreadable address */
	put(4096 * 7, 0, UINT64_MAX);
	put(4096 * 8, 0, address_of(MEMORY_BYTES / 2));
	bytes_put(MEMORY_BYTES / 2 + 24, endless, sizeof(endless));
	assert_string_equal(found(), "");
	put(4096 * 3, POST_RECV, CODE);
	assert_string_not_equal(found(), "");
}

TEST_WITH(queues, setup, teardown)
{
	static const char of_context[] = "post_send 1 post_recv 2 post_srq_recv 4 poll_cq 3";
	char wanted[256];

	if (!verbs()->handed_ops)
		skip();
	context_put(4096, 64, CODE);
	queue_pair_put(16384, 4096);
	snprintf(wanted, sizeof(wanted), "%s wr_send 5 wr_start 6 wr_complete 7", of_context);
	assert_string_equal(found(), wanted);
	queue_put(32768, 4096);
	snprintf(wanted, sizeof(wanted),
		 "%s wr_send 5 wr_start 6 wr_complete 7 cq_start_poll 8 cq_next_poll 9 "
		 "cq_end_poll 10",
		 of_context);
	assert_string_equal(found(), wanted);
	/* a queue that does not belong to a context */
	put(16384, 0, address_of(4096 + 8));
	put(32768, 0, 0);
	assert_string_equal(found(), of_context);
	queue_pair_put(16384, 4096);
	put(16384, WR_COMPLETE, 0);
	assert_string_equal(found(), of_context);
}

TEST(gone)
{
	json_t *places = json_array();
	uint64_t left = 0;

	assert_true(handed_ops_find(0x3fffffff, verbs(), NULL, 0, places, &left) < 0);
	json_decref(places);
}
