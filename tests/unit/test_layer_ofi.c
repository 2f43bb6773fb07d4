/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The libfabric layer: records are decoded to the right posts; and what is assumed of libfabric's objects is what its headers
 * declare, and finds functions of every kind in the installed library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<rdma/fi_tagged.h>)
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#define HAVE_HEADERS
#endif

#include "unit/test.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/fabric_ops.h"
#include "layer/func_table.h"
#include "layer_fixture.h"

#define EP 0xe000ull
#define CONTEXT 0xc000ull
#define CQ 0xc900ull
#define RX_CQ 0xca00ull
#define AV 0xa000ull
#define NO_MEMORY (-12)

static struct fixture f;

static int setup(void **state)
{
	*state = &f;
	fixture_init_layer(&f, &layer_ofi);
	return 0;
}

static void post_is(const char *op, enum post_kind kind, int64_t bytes, bool has_id, bool failed)
{
	const struct call_post *p = f.view.posts;

	assert_int_equal(f.view.nposts, 1);
	assert_string_equal(p->op, op);
	assert_int_equal(p->kind, kind);
	assert_int_equal(p->bytes, bytes);
	assert_int_equal(p->queue, EP);
	assert_int_equal(p->has_id, has_id);
	assert_true(!has_id || p->id == CONTEXT);
	assert_int_equal(p->failed, failed);
	assert_int_equal(p->carrier, CARRIER_UNKNOWN);
}

/* Begins a record of a function that returned so. */
#define CALLED(func, returned, n, ...)                    \
	do {                                              \
		rec_begin(&f, func, 0, n, __VA_ARGS__);   \
		rec_call(&f)->ret = (uint64_t)(returned); \
		rec_decode(&f);                           \
	} while (0)

TEST_WITH(posts, setup, fixture_teardown)
{
	CALLED("fi_tsend", 0, 7, EP, 1ull, 3000ull, 2ull, 3ull, 0xabull, CONTEXT);
	post_is("tsend", POST_SEND, 3000, true, false);
	assert_int_equal(value_hex(&f, "tag"), 0xab);
	assert_int_equal(f.view.roles.send_bytes, 3000);
	CALLED("fi_send", NO_MEMORY, 6, EP, 1ull, 3000ull, 2ull, 3ull, CONTEXT);
	post_is("send", POST_SEND, 3000, true, true);
	assert_int_equal(f.view.roles.error, NO_MEMORY);
	CALLED("fi_inject", 0, 4, EP, 1ull, 8ull, 3ull);
	post_is("inject", POST_SEND, 8, false, false);
	CALLED("fi_recv", 0, 6, EP, 1ull, 64ull, 2ull, 3ull, CONTEXT);
	post_is("recv", POST_RECV, 64, true, false);
	CALLED("fi_writedata", 0, 9, EP, 1ull, 500ull, 2ull, 3ull, 4ull, 5ull, 6ull, CONTEXT);
	post_is("writedata", POST_WRITE, 500, true, false);
	assert_int_equal(value_hex(&f, "key"), 6);
	CALLED("fi_read", 0, 8, EP, 1ull, 500ull, 2ull, 3ull, 4ull, 5ull, CONTEXT);
	post_is("read", POST_READ, 500, true, false);

	/* a call that never returned */
	rec_call(&f)->hdr.flags |= POV_CALL_OPEN;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
}

/* Lists of buffers: unknown if they could not be read; where the context is in what …msg calls are given. */
TEST_WITH(lists, setup, fixture_teardown)
{
	uint64_t msg[8] = {1, 2, 3, 4, CONTEXT, 6, 7, 8},
		 tagged[8] = {1, 2, 3, 4, 5, 6, CONTEXT, 8};

	CALLED("fi_sendv", 0, 6, EP, 1ull, 2ull, 3ull, 4ull, CONTEXT);
	post_is("sendv", POST_SEND, BYTES_UNKNOWN, true, false);
	rec_u64(&f, POV_FIELD_SUM, 1, 3, 700);
	rec_decode(&f);
	post_is("sendv", POST_SEND, 700, true, false);
	assert_int_equal(f.view.roles.send_bytes, 700);
	CALLED("fi_sendv", 0, 6, EP, 0ull, 2ull, 0ull, 4ull, CONTEXT);
	post_is("sendv", POST_SEND, 0, true, false);
	CALLED("fi_writemsg", 0, 3, EP, 1ull, 0ull);
	post_is("writemsg", POST_WRITE, BYTES_UNKNOWN, false, false);
	rec_field(&f, POV_FIELD_IN, 1, 1, tagged, sizeof(tagged));
	rec_u64(&f, POV_FIELD_SUM, 1, 3, 800);
	rec_decode(&f);
	post_is("writemsg", POST_WRITE, 800, true, false);
	CALLED("fi_recvmsg", 0, 3, EP, 1ull, 0ull);
	rec_field(&f, POV_FIELD_IN, 1, 1, msg, 48);
	rec_decode(&f);
	post_is("recvmsg", POST_RECV, BYTES_UNKNOWN, true, false);
}

/* A function that is made of another one does not post again; unless that was to another endpoint, or before. */
TEST_WITH(inner, setup, fixture_teardown)
{
	CALLED("fi_sendv", 0, 6, EP, 0ull, 2ull, 0ull, 4ull, CONTEXT);
	assert_int_equal(f.view.nposts, 1);
	rec_begin(&f, "fi_send", 0, 6, EP, 1ull, 30ull, 2ull, 3ull, CONTEXT);
	rec_call(&f)->dur_ns = rec_call(&f)->hdr.ts_ns - 1;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
	assert_int_equal(value_int(&f, "bytes"), 30);
	rec_begin(&f, "fi_send", 0, 6, EP + 8, 1ull, 30ull, 2ull, 3ull, CONTEXT);
	rec_call(&f)->dur_ns = rec_call(&f)->hdr.ts_ns - 1;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 1);
	CALLED("fi_send", 0, 6, EP + 8, 1ull, 30ull, 2ull, 3ull, CONTEXT);
	assert_int_equal(f.view.nposts, 1);
}

/* ---- completions ---- */

static void cq_open(uint64_t cq, uint32_t format, uint64_t bind_flags)
{
	rec_begin(&f, "fi_cq_open", 0, 4, 1ull, 2ull, 3ull, 0ull);
	rec_field(&f, POV_FIELD_IN, 1, 1, &format, sizeof(format));
	rec_u64(&f, POV_FIELD_OUT, 2, 1, cq);
	rec_decode(&f);
	CALLED("fi_bind", 0, 3, EP, cq, bind_flags);
}

static void read_decode(uint64_t cq, uint32_t n, const void *entries, size_t bytes)
{
	rec_begin(&f, "fi_cq_read", n, 3, cq, 0xb0f0ull, 16ull);
	if (bytes)
		rec_field(&f, POV_FIELD_OUT, 1, n, entries, bytes);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, n);
}

static void completion_is(uint32_t i, const char *op, int64_t bytes, bool has_id, uint64_t queue)
{
	const struct call_post *p = &f.view.posts[i];

	assert_int_equal(p->kind, POST_COMPLETION);
	assert_true(op ? p->op && !strcmp(p->op, op) : !p->op);
	assert_int_equal(p->bytes, bytes);
	assert_int_equal(p->has_id, has_id);
	assert_int_equal(p->queue, queue);
}

#define TAGGED_RECV (1u << 10 | 1u << 3)
#define SENT (1u << 11 | 1u << 1)

TEST_WITH(completions, setup, fixture_teardown)
{
	uint64_t e[2][6] = {{CONTEXT, TAGGED_RECV, 77}, {CONTEXT + 1, SENT, 55}}, msg[6] = {0};

	CALLED("fi_trecv", 0, 8, EP, 1ull, 100ull, 2ull, 3ull, 4ull, 5ull, CONTEXT);
	CALLED("fi_send", 0, 6, EP, 1ull, 55ull, 2ull, 3ull, CONTEXT + 1);
	/* nothing is known of the queue: the first context */
	read_decode(CQ, 2, e, sizeof(e));
	completion_is(0, NULL, BYTES_UNKNOWN, false, 0);
	completion_is(1, NULL, BYTES_UNKNOWN, false, 0);
	cq_open(CQ, 4, 1u << 10 | 1u << 11);
	read_decode(CQ, 2, e, sizeof(e));
	completion_is(0, "trecv", 77, true, EP);
	assert_int_equal(f.view.posts[0].id, CONTEXT);
	completion_is(1, "send", BYTES_UNKNOWN, true, EP);
	assert_int_equal(f.view.posts[1].id, CONTEXT + 1);
	/* could not be read */
	read_decode(CQ, 2, e, 0);
	completion_is(1, NULL, BYTES_UNKNOWN, false, 0);
	/* shorter entries lie closer together */
	cq_open(CQ, 2, 1u << 10 | 1u << 11);
	memcpy(msg, e[0], 24);
	memcpy(msg + 3, e[1], 24);
	read_decode(CQ, 2, msg, sizeof(msg));
	completion_is(0, "trecv", 77, true, EP);
	completion_is(1, "send", BYTES_UNKNOWN, true, EP);
}

TEST_WITH(contexts, setup, fixture_teardown)
{
	uint64_t e[2] = {CONTEXT, CONTEXT + 1};

	CALLED("fi_trecv", 0, 8, EP, 1ull, 100ull, 2ull, 3ull, 4ull, 5ull, CONTEXT);
	CALLED("fi_send", 0, 6, EP, 1ull, 55ull, 2ull, 3ull, CONTEXT + 1);
	cq_open(CQ, 1, 1u << 10 | 1u << 11);
	read_decode(CQ, 2, e, sizeof(e));
	completion_is(0, "recv", BYTES_UNKNOWN, true, EP);
	completion_is(1, NULL, BYTES_UNKNOWN, true, EP);
	/* both sides have that context: which one is meant is not known, unless the queue is one side's */
	CALLED("fi_send", 0, 6, EP, 1ull, 55ull, 2ull, 3ull, CONTEXT);
	read_decode(CQ, 1, e, sizeof(e));
	completion_is(0, NULL, BYTES_UNKNOWN, false, 0);
	cq_open(RX_CQ, 1, 1u << 10);
	read_decode(RX_CQ, 1, e, sizeof(e));
	completion_is(0, "recv", BYTES_UNKNOWN, true, EP);
}

TEST_WITH(error, setup, fixture_teardown)
{
	uint64_t e[8] = {CONTEXT, SENT, 99, 0, 0, 0, 0, 110};

	rec_begin(&f, "fi_cq_readerr", 1, 3, CQ, 1ull, 0ull);
	rec_field(&f, POV_FIELD_OUT, 1, 1, e, sizeof(e));
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 1);
	completion_is(0, "send", BYTES_UNKNOWN, true, 0);
	assert_true(f.view.posts->failed);
	assert_int_equal(value_int(&f, "completed_with"), 110);
	CALLED("fi_cq_read", -259, 3, CQ, 1ull, 16ull);
	assert_int_equal(f.view.nposts, 0);
	assert_int_equal(f.view.roles.error, -259);
}

/* ---- addresses ---- */

static void ep_open(uint32_t protocol)
{
	uint32_t attr[2] = {3, protocol};

	rec_begin(&f, "fi_endpoint", 0, 4, 1ull, 2ull, 3ull, 0ull);
	rec_field(&f, POV_FIELD_MEMBER, 1, 88, attr, sizeof(attr));
	rec_u64(&f, POV_FIELD_OUT, 2, 1, EP);
	rec_decode(&f);
	CALLED("fi_bind", 0, 3, EP, AV, 0ull);
}

static void getname(const void *addr, uint64_t bytes)
{
	uint8_t room[128] = {0};

	memcpy(room, addr, bytes);
	rec_begin(&f, "fi_getname", 0, 3, EP, 1ull, 2ull);
	rec_field(&f, POV_FIELD_OUT, 1, 1, room, sizeof(room));
	rec_u64(&f, POV_FIELD_OUT, 2, 1, bytes);
	rec_decode(&f);
}

static void insert(const void *addr, size_t bytes, uint32_t cnt)
{
	uint64_t numbers[4] = {3, 5, 8, 9};

	rec_begin(&f, "fi_av_insert", cnt, 6, AV, 1ull, (uint64_t)cnt, 2ull, 0ull, 0ull);
	rec_field(&f, POV_FIELD_IN, 1, cnt, addr, bytes);
	rec_field(&f, POV_FIELD_OUT, 3, cnt, numbers, 8 * (size_t)cnt);
	rec_decode(&f);
}

static void ends_are(uint64_t number, enum post_carrier carrier, const char *local,
		     const char *remote, const char *dest)
{
	const struct call_post *p;

	CALLED("fi_inject", 0, 4, EP, 1ull, 8ull, number);
	p = f.view.posts;
	assert_int_equal(f.view.nposts, 1);
	assert_int_equal(p->carrier, carrier);
	assert_string_equal(p->local_end ?: "-", local);
	assert_string_equal(p->remote_end ?: "-", remote);
	assert_string_equal(p->dest ?: "-", dest);
}

TEST_WITH(addresses, setup, fixture_teardown)
{
	static const uint8_t in[2][16] = {{2, 0, 0x12, 0x34, 10, 0, 0, 1},
					  {2, 0, 0x12, 0x35, 10, 0, 0, 2}};
	static const char names[] = "fi_shm://7\0fi_shm://8:0";

	ends_are(3, CARRIER_UNKNOWN, "-", "-", "-");
	ep_open(6);
	getname(in[0], 16);
	insert(in, sizeof(in), 2);
	ends_are(3, CARRIER_SOCKET, "10.0.0.1:4660", "10.0.0.1:4660", "10.0.0.1");
	ends_are(5, CARRIER_SOCKET, "10.0.0.1:4660", "10.0.0.2:4661", "10.0.0.2");
	ends_are(4, CARRIER_SOCKET, "10.0.0.1:4660", "-", "-");
	/* an endpoint of the same place is another one; texts */
	ep_open(16);
	ends_are(5, CARRIER_SHM, "-", "10.0.0.2:4661", "10.0.0.2");
	getname("fi_shm://9", 11);
	insert(names, sizeof(names), 2);
	ends_are(5, CARRIER_SHM, "fi_shm://9", "fi_shm://8:0", "fi_shm://8:0");
	/* what hands on to others does not say by what */
	ep_open(11);
	ends_are(3, CARRIER_UNKNOWN, "-", "fi_shm://7", "fi_shm://7");
}

/* Addresses of no known form are as long as the process's own ones. */
TEST_WITH(raw_addresses, setup, fixture_teardown)
{
	static const uint8_t raw[2][6] = {{0xfe, 0x80, 1, 2, 3, 4}, {0xfe, 0x80, 1, 2, 3, 5}};

	insert(raw, sizeof(raw), 2);
	ep_open(20);
	ends_are(3, CARRIER_UNKNOWN, "-", "-", "-");
	getname(raw[0], 6);
	insert(raw, sizeof(raw), 2);
	ends_are(5, CARRIER_UNKNOWN, "fe8001020304", "fe8001020305", "fe8001020305");
	getname(raw[0], 5);
	CALLED("fi_av_open", 0, 4, 1ull, 2ull, 3ull, 0ull);
	rec_u64(&f, POV_FIELD_OUT, 2, 1, AV);
	rec_decode(&f);
	insert(raw, sizeof(raw), 2);
	ends_are(5, CARRIER_UNKNOWN, "fe80010203", "-", "-");
}

/* One endpoint hands what it is given to another one: that is where its connection leads to. */
TEST_WITH(handed_on, setup, fixture_teardown)
{
	static const uint8_t in[16] = {2, 0, 0x12, 0x34, 10, 0, 0, 1};

	ep_open(25);
	getname(in, 16);
	insert(in, sizeof(in), 1);
	CALLED("fi_send", 0, 6, EP + 8, 1ull, 30ull, 2ull, 0ull, CONTEXT);
	assert_null(f.view.posts->remote_end);
	rec_begin(&f, "fi_send", 0, 6, EP, 1ull, 30ull, 2ull, 3ull, CONTEXT);
	rec_call(&f)->dur_ns = rec_call(&f)->hdr.ts_ns - 1;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 1);
	CALLED("fi_send", 0, 6, EP + 8, 1ull, 40ull, 2ull, 0ull, CONTEXT);
	assert_string_equal(f.view.posts->remote_end, "10.0.0.1:4660");
}

TEST_WITH(damaged, setup, fixture_teardown)
{
	uint16_t full;

	CALLED("fi_tsend", 0, 7, EP, 1ull, 3000ull, 2ull, 3ull, 0xabull, CONTEXT);
	full = rec_call(&f)->hdr.size;
	for (uint16_t size = sizeof(struct pov_call); size < full; size++) {
		uint8_t *exact = xmalloc(size);

		memcpy(exact, f.rec, size);
		((struct pov_call *)exact)->hdr.size = size;
		f.layer->decode(f.d, &f.funcs[rec_call(&f)->func], (struct pov_call *)exact,
				&f.view);
		assert_int_equal(f.view.nposts, 0);
		free(exact);
	}
}

TEST(layout)
{
#ifdef HAVE_HEADERS
	assert_int_equal(offsetof(struct fid_ep, msg), 40);
	assert_int_equal(offsetof(struct fid_ep, rma), 48);
	assert_int_equal(offsetof(struct fid_ep, tagged), 56);
	assert_int_equal(sizeof(struct fi_ops_msg), 80);
	assert_int_equal(sizeof(struct fi_ops_rma), 80);
	assert_int_equal(sizeof(struct fi_ops_tagged), 80);
	assert_int_equal(offsetof(struct fi_ops_msg, send), 32);
	assert_int_equal(offsetof(struct fi_ops_msg, injectdata), 72);
	assert_int_equal(offsetof(struct fi_ops_rma, writemsg), 48);
	assert_int_equal(offsetof(struct fi_ops_rma, inject), 56);
	assert_int_equal(offsetof(struct fi_ops_tagged, recvmsg), 24);
	assert_int_equal(offsetof(struct fi_ops_tagged, senddata), 64);
	assert_int_equal(offsetof(struct fid_ep, cm), 32);
	assert_int_equal(offsetof(struct fi_ops_cm, getname), 16);
	assert_int_equal(offsetof(struct fi_ops_cm, connect), 32);
	assert_int_equal(offsetof(struct fid, ops), 16);
	assert_int_equal(offsetof(struct fi_ops, bind), 16);
	assert_int_equal(offsetof(struct fid_domain, ops), 24);
	assert_int_equal(offsetof(struct fid_cq, ops), 24);
	assert_int_equal(offsetof(struct fid_av, ops), 24);
	assert_int_equal(offsetof(struct fi_ops_domain, endpoint), 24);
	assert_int_equal(offsetof(struct fi_ops_cq, sreadfrom), 40);
	assert_int_equal(offsetof(struct fi_ops_av, insert), 8);
	assert_int_equal(offsetof(struct fi_cq_attr, format), 16);
	assert_int_equal(offsetof(struct fi_info, ep_attr), 88);
	assert_int_equal(offsetof(struct fi_ep_attr, protocol), 4);
	assert_int_equal(sizeof(struct fi_cq_entry), 8);
	assert_int_equal(sizeof(struct fi_cq_msg_entry), 24);
	assert_int_equal(sizeof(struct fi_cq_data_entry), 40);
	assert_int_equal(sizeof(struct fi_cq_tagged_entry), 48);
	assert_int_equal(FI_CQ_FORMAT_TAGGED, 4);
	assert_int_equal(offsetof(struct fi_cq_err_entry, err), 56);
	assert_int_equal(sizeof(struct fi_msg), 48);
	assert_int_equal(offsetof(struct fi_msg, context), 32);
	assert_int_equal(sizeof(struct fi_msg_tagged), 64);
	assert_int_equal(offsetof(struct fi_msg_tagged, context), 48);
	assert_int_equal(sizeof(struct fi_msg_rma), 64);
	assert_int_equal(offsetof(struct fi_msg_rma, context), 48);
	assert_int_equal(offsetof(struct fi_msg_rma, addr), 24);
	assert_int_equal(FI_PROTO_SOCK_TCP, 6);
	assert_int_equal(FI_PROTO_RXM, 11);
	assert_int_equal(FI_PROTO_SHM, 16);
	assert_int_equal(FI_PROTO_EFA, 20);
	assert_int_equal(FI_PROTO_CXI, 24);
#else
	print_message("SKIP: no headers of libfabric\n");
	skip();
#endif
}

#define LIBRARY "/usr/lib/x86_64-linux-gnu/libfabric.so.1"
#define FOUND_MAX 1024

TEST(functions)
{
	static struct fabric_function found[FOUND_MAX];
	struct elf_file *lib;
	size_t cnt, seen;

	if (elf_file_open(LIBRARY, &lib)) {
		print_message("SKIP: no " LIBRARY "\n");
		skip();
	}
	cnt = fabric_ops_find(lib, found, FOUND_MAX);
	for (size_t i = 0; i < cnt; i++) {
		assert_true(func_table_find(found[i].name) >= 0);
		for (size_t k = 0; k < i; k++)
			assert_true(found[k].addr != found[i].addr);
	}
	for (size_t row = 0; row < layer_ofi.row_cnt; row++) {
		seen = 0;
		for (size_t i = 0; i < cnt; i++)
			seen += !strcmp(found[i].name, layer_ofi.rows[row].name);
		if (seen < 5)
			fail_msg("%s: %zu found", layer_ofi.rows[row].name, seen);
	}
	assert_int_equal(fabric_ops_find(lib, found, 3), 3);
	elf_file_close(lib);
}
