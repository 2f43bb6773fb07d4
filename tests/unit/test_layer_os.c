/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The kernel's layer: records put together as the kernel half writes them are decoded to the right posts, damaged ones to
 * none; and each row of the table has a program in the kernel half.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "unit/test.h"
#include "base/json_get.h"
#include "base/log.h"
#include "collect/kernel_functions.h"
#include "layer_fixture.h"
#include "trace/trace_join.h"

static struct fixture f;

static int setup(void **state)
{
	*state = &f;
	fixture_init_layer(&f, &layer_os);
	return 0;
}

static void ends(const struct pov_field_ends *e)
{
	rec_field(&f, POV_FIELD_ENDS, 0, 1, e, sizeof(*e));
}

static const struct call_post *decoded(int64_t ret)
{
	rec_call(&f)->ret = (uint64_t)ret;
	rec_decode(&f);
	return f.view.nposts ? f.view.posts : NULL;
}

static const struct pov_field_ends tcp = {
	.family = AF_INET,
	.local_port = 4711,
	.remote_port = 80,
	.local_id = 99,
	.local = {10, 0, 0, 1},
	.remote = {10, 0, 0, 2},
};

TEST_WITH(send, setup, fixture_teardown)
{
	const struct call_post *p;

	rec_begin(&f, "tcp_sendmsg", 0, 4, 0xabcull, 0x40ull, 1000ull, 0xdefull);
	ends(&tcp);
	p = decoded(700);
	assert_non_null(p);
	assert_int_equal(p->kind, POST_SEND);
	assert_int_equal(p->carrier, CARRIER_SOCKET);
	assert_string_equal(p->op, "tcp_sendmsg");
	assert_string_equal(p->transport, "tcp");
	assert_string_equal(p->local_end, "10.0.0.1:4711");
	assert_string_equal(p->remote_end, "10.0.0.2:80");
	assert_string_equal(p->dest, "10.0.0.2");
	assert_int_equal(p->queue, 99);
	assert_int_equal(p->bytes, 700);
	assert_false(p->failed);
	assert_int_equal(f.view.roles.send_bytes, 700);
	assert_true(f.view.roles.sends && !f.view.roles.receives && f.view.roles.poll_found);
	assert_int_equal(value_int(&f, "bytes"), 700);
	assert_int_equal(value_int(&f, "size"), 1000);

	p = decoded(-ECONNRESET);
	assert_true(p->failed);
	assert_int_equal(p->bytes, 0);
	assert_string_equal(value_text(&f, "status"), "ECONNRESET");
	assert_int_equal(f.view.roles.error, -ECONNRESET);
	decoded(-512);
	assert_string_equal(value_text(&f, "status"), "interrupted");
	decoded(-599);
	assert_string_equal(value_text(&f, "status"), "error -599");
	decoded(INT64_MIN); /* a damaged record's */
	assert_string_equal(value_text(&f, "status"), "error -9223372036854775808");

	rec_call(&f)->hdr.flags |= POV_CALL_OPEN;
	p = decoded(0);
	assert_int_equal(p->bytes, BYTES_UNKNOWN);
	assert_false(p->failed);
}

/* What is only looked at comes again; a stream may end; a datagram may be empty. */
TEST_WITH(receive, setup, fixture_teardown)
{
	const struct call_post *p;

	rec_begin(&f, "tcp_recvmsg", 0, 4, 1ull, 0x40ull, 1000ull, 2ull);
	ends(&tcp);
	p = decoded(17);
	assert_int_equal(p->kind, POST_ARRIVAL);
	assert_int_equal(p->bytes, 17);
	assert_int_equal(f.view.roles.recv_bytes, 17);
	assert_null(decoded(0));
	assert_null(decoded(-ENOTCONN));
	rec_call(&f)->hdr.flags |= POV_CALL_OPEN;
	assert_null(decoded(0));

	rec_begin(&f, "tcp_recvmsg", 0, 2, 1ull, (uint64_t)MSG_PEEK);
	assert_null(decoded(17));
	assert_int_equal(f.view.roles.recv_bytes, 0);

	rec_begin(&f, "udp_recvmsg", 0, 2, 1ull, 0ull);
	p = decoded(0);
	assert_non_null(p);
	assert_int_equal(p->bytes, 0);
	assert_null(p->local_end);
}

/* An end has one name, whatever the family of the socket that tells it. */
TEST_WITH(addresses, setup, fixture_teardown)
{
	struct pov_field_ends e = {
		.family = AF_INET6,
		.local_port = 1,
		.remote_port = 2,
		.local = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 7},
		.remote = {[0] = 0xfe, [1] = 0x80, [15] = 1},
	};
	const struct call_post *p;

	rec_begin(&f, "tcp_sendmsg", 0, 2, 1ull, 0ull);
	ends(&e);
	p = decoded(1);
	assert_string_equal(p->local_end, "10.0.0.7:1");
	assert_string_equal(p->remote_end, "[fe80::1]:2");
	assert_string_equal(p->dest, "fe80::1");

	memset(e.local, 0, sizeof(e.local)); /* bound to any address: not known */
	e.remote_port = 0;
	rec_begin(&f, "udpv6_sendmsg", 0, 2, 1ull, 0ull);
	ends(&e);
	p = decoded(1);
	assert_null(p->local_end);
	assert_null(p->remote_end);
}

TEST_WITH(unix, setup, fixture_teardown)
{
	struct pov_field_ends e = {.family = AF_UNIX, .local_id = 5, .remote_id = 6};
	const struct call_post *p;

	rec_begin(&f, "unix_stream_sendmsg", 0, 2, 1ull, 0ull);
	ends(&e);
	p = decoded(3);
	assert_string_equal(p->transport, "unix");
	assert_string_equal(p->local_end, "socket 5");
	assert_string_equal(p->remote_end, "socket 6");
	assert_int_equal(p->queue, 5);
}

TEST_WITH(copy, setup, fixture_teardown)
{
	struct pov_field_ends e = {.local_id = 100, .remote_id = 101};
	const struct call_post *p;

	rec_begin(&f, "process_vm_readv", 0, 6, 101ull, 1ull, 1ull, 1ull, 1ull, 0ull);
	ends(&e);
	p = decoded(4096);
	assert_int_equal(p->kind, POST_READ);
	assert_int_equal(p->carrier, CARRIER_CMA);
	assert_string_equal(p->transport, "cma");
	assert_string_equal(p->local_end, "pid 100");
	assert_string_equal(p->remote_end, "pid 101");
	assert_string_equal(p->dest, "pid 101");
	assert_int_equal(p->bytes, 4096);
	assert_true(f.view.roles.receives && !f.view.roles.sends);
	assert_int_equal(value_int(&f, "pid"), 101);

	e.remote_id = 0; /* in a pid namespace of its own */
	rec_begin(&f, "process_vm_writev", 0, 6, 2ull, 1ull, 1ull, 1ull, 1ull, 0ull);
	ends(&e);
	p = decoded(-EPERM);
	assert_int_equal(p->kind, POST_WRITE);
	assert_null(p->remote_end);
	assert_true(p->failed);
}

/* What has a meaning on one host only, where several are read together. */
TEST_WITH(hosts, setup, fixture_teardown)
{
	struct pov_field_ends e = tcp;
	const struct call_post *p;

	memcpy(e.remote, "\x7f\0\0\1", 4);
	rec_begin(&f, "tcp_sendmsg", 0, 2, 1ull, 0ull);
	ends(&e);
	rec_call(&f)->tgid |= 3u << TRACE_HOST_SHIFT;
	p = decoded(1);
	assert_string_equal(p->local_end, "10.0.0.1:4711");
	assert_string_equal(p->remote_end, "127.0.0.1:80 on host 3");
	assert_string_equal(p->dest, "127.0.0.1 on host 3");

	e = (struct pov_field_ends){.local_id = 100, .remote_id = 101};
	rec_begin(&f, "process_vm_readv", 0, 6, 101ull, 1ull, 1ull, 1ull, 1ull, 0ull);
	ends(&e);
	rec_call(&f)->tgid |= 3u << TRACE_HOST_SHIFT;
	p = decoded(1);
	assert_string_equal(p->local_end, "pid 100 on host 3");
	assert_string_equal(p->remote_end, "pid 101 on host 3");
}

/* Records cut at every length: nothing is read behind them, and no end is made up. */
TEST_WITH(damaged, setup, fixture_teardown)
{
	uint16_t full;

	rec_begin(&f, "tcp_sendmsg", 0, 4, 1ull, 2ull, 3ull, 4ull);
	ends(&tcp);
	full = rec_call(&f)->hdr.size;
	for (uint16_t size = sizeof(struct pov_call); size < full; size++) {
		uint8_t *exact = xmalloc(size);
		struct pov_call *c = (struct pov_call *)exact;

		memcpy(exact, f.rec, size);
		c->hdr.size = size;
		f.layer->decode(f.d, &f.funcs[rec_call(&f)->func], c, &f.view);
		assert_true(!f.view.nposts || !f.view.posts->local_end);
		free(exact);
	}
}

/* The list needs no privileges, only what is seen does. */
TEST(programs)
{
	json_t *list = kernel_functions_list();

	assert_int_equal(json_array_size(list), layer_os.row_cnt);
	for (size_t i = 0; i < layer_os.row_cnt; i++)
		assert_string_equal(json_get_text(json_array_get(list, i), "name"),
				    layer_os.rows[i].name);
	json_decref(list);
}
