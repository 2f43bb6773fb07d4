/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The verbs layer: records put together as the kernel half writes them become the right posts, with the right ends as soon
 * as the calls that made the connection have been seen, and damaged ones none; what is read lies where the library has it.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "layer/layer.h"
#include "layer_fixture.h"

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>

/* What bpf/work.bpf.c, bpf/verbs.def and user/layer/verbs_conn.c rely on. */
#define AT(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), #member)
AT(ibv_send_wr, wr_id, 0);
AT(ibv_send_wr, next, 8);
AT(ibv_send_wr, sg_list, 16);
AT(ibv_send_wr, num_sge, 24);
AT(ibv_send_wr, opcode, 28);
AT(ibv_send_wr, send_flags, 32);
AT(ibv_send_wr, wr.ud.ah, 40);
AT(ibv_send_wr, wr.ud.remote_qpn, 48);
AT(ibv_recv_wr, wr_id, 0);
AT(ibv_recv_wr, next, 8);
AT(ibv_recv_wr, sg_list, 16);
AT(ibv_recv_wr, num_sge, 24);
_Static_assert(sizeof(struct ibv_recv_wr) == 32, "of a receive so many bytes are read");
AT(ibv_sge, length, 8);
_Static_assert(sizeof(struct ibv_sge) == 16, "pieces of memory");
AT(ibv_qp, context, 0);
AT(ibv_qp, send_cq, 24);
AT(ibv_qp, recv_cq, 32);
AT(ibv_qp, handle, 48);
AT(ibv_qp, qp_num, 52);
AT(ibv_qp, qp_type, 60);
AT(ibv_qp_ex, wr_id, 168);
AT(ibv_qp_ex, wr_flags, 176);
AT(ibv_cq_ex, status, 132);
AT(ibv_cq_ex, wr_id, 136);
AT(ibv_data_buf, length, 8);
_Static_assert(sizeof(struct ibv_data_buf) == 16, "pieces of inline data");
AT(ibv_pd, context, 0);
AT(ibv_device, name, 24);
AT(ibv_qp_init_attr, qp_type, 52);
AT(ibv_qp_attr, qp_state, 0);
AT(ibv_qp_attr, dest_qp_num, 28);
AT(ibv_qp_attr, ah_attr, 56);
AT(ibv_qp_attr, port_num, 129);
AT(ibv_ah_attr, grh.dgid, 0);
AT(ibv_ah_attr, grh.sgid_index, 20);
AT(ibv_ah_attr, dlid, 24);
AT(ibv_ah_attr, is_global, 29);
AT(ibv_ah_attr, port_num, 30);
_Static_assert(sizeof(struct ibv_ah_attr) == 32, "as it is read");
AT(ibv_wc, wr_id, 0);
AT(ibv_wc, status, 8);
AT(ibv_wc, opcode, 12);
AT(ibv_wc, byte_len, 20);
AT(ibv_wc, qp_num, 28);
_Static_assert(sizeof(struct ibv_wc) == 48, "completions");
_Static_assert(IBV_QP_STATE == 1 && IBV_QP_PORT == 1 << 5 && IBV_QP_AV == 1 << 7 &&
		       IBV_QP_DEST_QPN == 1 << 20,
	       "masks");
_Static_assert(IBV_WR_RDMA_READ == 4 && IBV_WR_TSO == 10 && IBV_QPT_UD == 4 && IBV_WC_RECV == 128 &&
		       IBV_WC_TM_RNDV_INCOMPLETE == 23,
	       "numbers");
#endif

#define CONTEXT 0xc000ull
#define PD 0xd000ull
#define QP 0x1000ull
#define LIST 0x7000ull
#define BAD 0x7100ull
#define CQ 0x3000ull
#define RC 2
#define UD 4

static struct fixture f;

static int setup(void **state)
{
	*state = &f;
	fixture_init_layer(&f, &layer_verbs);
	fixture_meta(
		&f, "{\"type\":\"adapters\",\"devices\":[{\"name\":\"rxe0\",\"ports\":[{\"port\":1,"
		    "\"link\":\"Ethernet\",\"lid\":0,\"gids\":[{\"index\":1,\"gid\":"
		    "\"0000:0000:0000:0000:0000:ffff:0a00:020f\"}]}]},{\"name\":\"mlx5_0\","
		    "\"ports\":[{\"port\":2,\"link\":\"InfiniBand\",\"lid\":7,\"gids\":[]}]}]}");
	return 0;
}

static void returned(uint64_t ret)
{
	rec_call(&f)->ret = ret;
	rec_decode(&f);
}

static struct pov_work work(uint64_t id, uint8_t opcode, uint32_t bytes, uint32_t qp,
			    uint8_t qp_type)
{
	return (struct pov_work){.id = id,
				 .opcode = opcode,
				 .bytes = bytes,
				 .qp = qp,
				 .qp_type = qp_type,
				 .npieces = 1};
}

static void device_open(uint64_t context, const char *name)
{
	char text[64] = "";

	strcpy(text, name);
	rec_begin(&f, "ibv_open_device", 0, 1, 0xdeull);
	rec_field(&f, POV_FIELD_IN, 0, 1, text, sizeof(text));
	returned(context);
}

/* struct ibv_ah_attr */
static void ah_attr(uint8_t out[32], const char *gid_end, uint16_t dlid, uint8_t port)
{
	memset(out, 0, 32);
	if (gid_end) { /* ::ffff:10.0.2.x */
		memcpy(out + 10, "\xff\xff\x0a\x00\x02", 5);
		out[15] = (uint8_t)atoi(gid_end);
		out[20] = 1;
		out[29] = 1;
	}
	memcpy(out + 24, &dlid, 2);
	out[30] = port;
}

static void qp_modify(uint32_t num, uint32_t type, uint32_t state, uint32_t dest,
		      const uint8_t ah[32], uint32_t mask, uint32_t ret)
{
	uint8_t qp[64] = {0}, attr[136] = {0};
	uint64_t context = CONTEXT, cq = CQ;

	memcpy(qp, &context, 8);
	memcpy(qp + 24, &cq, 8);
	memcpy(qp + 32, &cq, 8);
	memcpy(qp + 52, &num, 4);
	memcpy(qp + 60, &type, 4);
	memcpy(attr, &state, 4);
	memcpy(attr + 28, &dest, 4);
	memcpy(attr + 56, ah, 32);
	attr[129] = ah[30];
	rec_begin(&f, "ibv_modify_qp", ret, 3, QP, 0x2000ull, (uint64_t)mask);
	rec_field(&f, POV_FIELD_IN, 0, 1, qp, sizeof(qp));
	rec_field(&f, POV_FIELD_IN, 1, 1, attr, sizeof(attr));
	rec_decode(&f);
}

static void post(const char *func, const struct pov_work *w, uint32_t kept, uint32_t cnt)
{
	rec_begin(&f, func, 0, 3, QP, LIST, BAD);
	rec_field(&f, POV_FIELD_WORK, 1, cnt, w, kept * sizeof(*w));
	returned(0);
}

TEST(requests)
{
	struct pov_work w[3] = {work(11, 2, 4096, 17, RC), work(12, 4, 65536, 17, RC),
				work(13, 0, POV_WORK_BYTES_UNKNOWN, 17, RC)};
	const struct call_post *p;

	post("post_send", w, 1, 1);
	p = f.view.posts;
	assert_int_equal(f.view.nposts, 1);
	assert_int_equal(p->kind, POST_SEND);
	assert_int_equal(p->carrier, CARRIER_NIC);
	assert_string_equal(p->op, "SEND");
	assert_string_equal(p->transport, "rc");
	assert_int_equal(p->bytes, 4096);
	assert_int_equal(p->queue, 17);
	assert_int_equal(p->id, 11);
	assert_true(p->has_id && !p->failed);
	assert_null(p->device); /* connected before the recording, for all that is known */
	assert_null(p->dest);
	assert_null(p->local_end);
	assert_null(p->remote_end);
	assert_int_equal(f.view.roles.send_bytes, 4096);
	assert_true(f.view.roles.sends && !f.view.roles.receives);
	assert_null(value_find(&f, "requests"));

	post("post_send", w, 2, 2);
	assert_int_equal(f.view.nposts, 2);
	assert_int_equal(f.view.posts[1].kind, POST_READ);
	assert_int_equal(f.view.roles.send_bytes, 4096);
	assert_int_equal(f.view.roles.recv_bytes, 65536);
	assert_int_equal(value_int(&f, "requests"), 2);
	assert_int_equal(value_int(&f, "bytes"), 4096 + 65536);
	assert_string_equal(value_text(&f, "op"), "several");

	post("post_send", w, 3, 3);
	assert_int_equal(f.view.posts[2].kind, POST_WRITE);
	assert_int_equal(f.view.posts[2].bytes, BYTES_UNKNOWN);
	assert_int_equal(f.view.roles.send_bytes, BYTES_UNKNOWN);
	assert_null(value_find(&f, "bytes"));

	post("post_recv", w, 1, 1);
	assert_int_equal(f.view.posts->kind, POST_RECV);
	assert_string_equal(f.view.posts->op, "RECV");
	w[0].opcode = 99;
	w[0].qp_type = 0xff;
	post("post_send", w, 1, 1);
	assert_int_equal(f.view.posts->kind, POST_OTHER);
	assert_string_equal(f.view.posts->op, "unknown");
	assert_null(f.view.posts->transport);
}

/* What does not fit into the call's record comes in front of it; what is not kept at all is counted. */
TEST(long_lists)
{
	struct pov_work w[24];

	for (uint32_t i = 0; i < 24; i++)
		w[i] = work(100 + i, 2, 10 + i, 17, RC);
	rec_begin(&f, "post_send", 0, 3, QP, LIST, BAD);
	rec_field(&f, POV_FIELD_WORK, 1, 24, w, 8 * sizeof(*w));
	rec_more(&f, POV_FIELD_WORK, 1, 8, w + 8, 16 * sizeof(*w));
	returned(0);
	assert_int_equal(f.view.nposts, 24);
	for (uint32_t i = 0; i < 24; i++) {
		assert_int_equal(f.view.posts[i].id, 100 + i);
		assert_int_equal(f.view.posts[i].bytes, 10 + i);
	}
	post("post_recv", w, 8, 30);
	assert_int_equal(f.view.nposts, 30);
	assert_int_equal(f.view.posts[7].bytes, 17);
	assert_int_equal(f.view.posts[8].bytes, BYTES_UNKNOWN);
	assert_int_equal(f.view.posts[29].kind, POST_RECV);
	assert_int_equal(f.view.posts[29].queue, 17);
	assert_false(f.view.posts[29].has_id);
	post("post_send", w, 8, 0xffffffff); /* no list is so long: a damaged record */
	assert_true(f.view.nposts <= 8192);
}

TEST(refused)
{
	struct pov_work w[3] = {work(1, 2, 10, 17, RC), work(2, 2, 10, 17, RC),
				work(3, 2, 10, 17, RC)};

	rec_begin(&f, "post_send", 12, 3, QP, LIST, BAD);
	rec_field(&f, POV_FIELD_WORK, 1, 1, w, sizeof(*w));
	rec_decode(&f);
	assert_true(f.view.posts[0].failed);
	assert_int_equal(f.view.roles.error, 12);
	assert_false(f.view.roles.sends);

	rec_begin(&f, "post_send", 12, 3, QP, LIST, BAD);
	rec_field(&f, POV_FIELD_WORK, 1, 3, w, sizeof(w));
	rec_u64(&f, POV_FIELD_SUM, 2, 2, 2);
	rec_decode(&f);
	assert_false(f.view.posts[0].failed || f.view.posts[1].failed);
	assert_true(f.view.posts[2].failed);
	assert_int_equal(f.view.roles.send_bytes, 20);
}

TEST(connected)
{
	struct pov_work w = work(1, 2, 10, 17, RC);
	const struct call_post *p;
	uint8_t ah[32];

	device_open(CONTEXT, "rxe0");
	rec_begin(&f, "ibv_create_qp", 0, 2, PD, 0x2000ull);
	returned(QP);
	ah_attr(ah, NULL, 0, 1);
	qp_modify(17, RC, 1, 0, ah, 1 | 1 << 5, 0);
	assert_string_equal(value_text(&f, "qp_state"), "INIT");
	post("post_recv", &w, 1, 1);
	assert_string_equal(f.view.posts->device, "rxe0:1");
	assert_null(f.view.posts->dest);
	ah_attr(ah, "16", 0xc0de, 1); /* what stands for a LID means nothing on Ethernet */
	qp_modify(17, RC, 2, 18, ah, 1 | 1 << 7 | 1 << 20, 22);
	post("post_send", &w, 1, 1);
	assert_null(f.view.posts->dest); /* that call failed */
	qp_modify(17, RC, 2, 18, ah, 1 | 1 << 7 | 1 << 20, 0);
	post("post_send", &w, 1, 1);
	p = f.view.posts;
	assert_string_equal(p->device, "rxe0:1");
	assert_string_equal(p->dest, "10.0.2.16");
	assert_string_equal(p->local_end, "10.0.2.15 qp 17");
	assert_string_equal(p->remote_end, "10.0.2.16 qp 18");
	assert_string_equal(value_text(&f, "dest"), "10.0.2.16 qp 18");

	rec_call(&f)->tgid++; /* another process's is another one */
	rec_decode(&f);
	assert_null(f.view.posts->dest);
	rec_begin(&f, "ibv_destroy_qp", 0, 1, QP);
	rec_decode(&f);
	post("post_send", &w, 1, 1);
	assert_null(f.view.posts->dest);
}

TEST(infiniband)
{
	struct pov_work w = work(1, 4, 10, 17, RC);
	uint8_t ah[32];

	device_open(CONTEXT, "mlx5_0");
	ah_attr(ah, NULL, 9, 2);
	qp_modify(17, RC, 2, 18, ah, 1 | 1 << 7 | 1 << 20, 0);
	post("post_send", &w, 1, 1);
	assert_string_equal(f.view.posts->device, "mlx5_0:2");
	assert_string_equal(f.view.posts->local_end, "lid 7 qp 17");
	assert_string_equal(f.view.posts->remote_end, "lid 9 qp 18");
	ah_attr(ah, NULL, 0, 2); /* back at the beginning, it leads nowhere */
	qp_modify(17, RC, 0, 0, ah, 1, 0);
	post("post_send", &w, 1, 1);
	assert_null(f.view.posts->dest);
	assert_null(f.view.posts->remote_end);
}

TEST(datagrams)
{
	struct pov_work w = work(1, 2, 10, 17, UD);
	uint64_t context = CONTEXT;
	uint8_t ah[32];

	device_open(CONTEXT, "rxe0");
	ah_attr(ah, "16", 0, 1);
	rec_begin(&f, "ibv_create_ah", 0, 2, PD, 0x2000ull);
	rec_field(&f, POV_FIELD_IN, 0, 1, &context, sizeof(context));
	rec_field(&f, POV_FIELD_IN, 1, 1, ah, sizeof(ah));
	returned(0xa000);
	w.ah = 0xa000;
	w.remote_qp = 99;
	post("post_send", &w, 1, 1);
	assert_string_equal(f.view.posts->remote_end,
			    "10.0.2.16 qp 99"); /* whatever the queue pair is */
	ah_attr(ah, NULL, 0, 1);
	qp_modify(17, UD, 1, 0, ah, 1 | 1 << 5, 0);
	post("post_send", &w, 1, 1);
	assert_string_equal(f.view.posts->transport, "ud");
	assert_string_equal(f.view.posts->dest, "10.0.2.16");
	assert_string_equal(f.view.posts->remote_end, "10.0.2.16 qp 99");
	assert_string_equal(f.view.posts->local_end, "10.0.2.15 qp 17");
	rec_begin(&f, "ibv_destroy_ah", 0, 1, 0xa000ull);
	rec_decode(&f);
	post("post_send", &w, 1, 1);
	assert_null(f.view.posts->dest);
}

TEST(completions)
{
	struct {
		uint64_t id;
		uint32_t status, opcode, vendor_error, bytes, imm, qp;
		uint64_t rest[2];
	} wc[3] = {{.id = 11, .opcode = 0, .bytes = 77, .qp = 17},
		   {.id = 12, .opcode = 128, .bytes = 512, .qp = 17},
		   {.id = 13, .status = 12, .opcode = 128, .bytes = 5, .qp = 18}};
	const struct call_post *p;

	assert_int_equal(sizeof(wc[0]), 48);
	rec_begin(&f, "poll_cq", 3, 3, 0xcull, 16ull, 0x9000ull);
	rec_field(&f, POV_FIELD_OUT, 2, 3, wc, sizeof(wc));
	rec_decode(&f);
	p = f.view.posts;
	assert_int_equal(f.view.nposts, 3);
	assert_true(f.view.roles.poll_found);
	assert_int_equal(p[0].kind, POST_COMPLETION);
	assert_string_equal(p[0].op, "SEND");
	assert_int_equal(p[0].bytes, BYTES_UNKNOWN);
	assert_int_equal(p[0].id, 11);
	assert_string_equal(p[1].op, "RECV");
	assert_int_equal(p[1].bytes, 512);
	assert_string_equal(p[2].op, "RETRY_EXC_ERR");
	assert_true(p[2].failed && !p[1].failed);
	assert_int_equal(p[2].queue, 18);
	assert_int_equal(p[2].bytes, BYTES_UNKNOWN);
}

static void poll_extended(const char *func, uint32_t ret, uint64_t id, uint32_t status)
{
	uint8_t at[12];

	memcpy(at, &status, 4);
	memcpy(at + 4, &id, 8);
	rec_begin(&f, func, ret, 2, CQ, 0x9000ull);
	rec_field(&f, POV_FIELD_OUT, 0, 1, at, sizeof(at));
	rec_decode(&f);
}

/* Extended queues tell number and status; of which queue pair it is follows if only one can be meant. */
TEST(extended_completions)
{
	const struct call_post *p;
	uint8_t ah[32];

	poll_extended("cq_start_poll", 0, 0x1234567890ull, 0);
	p = f.view.posts;
	assert_int_equal(f.view.nposts, 1);
	assert_int_equal(p->kind, POST_COMPLETION);
	assert_int_equal(p->carrier, CARRIER_NIC);
	assert_int_equal(p->id, 0x1234567890ull);
	assert_true(p->has_id && !p->failed);
	assert_null(p->op);
	assert_int_equal(p->bytes, BYTES_UNKNOWN);
	assert_int_equal(p->queue, 0);
	assert_true(f.view.roles.poll_found);
	assert_int_equal(value_hex(&f, "wr_id"), 0x1234567890ull);
	assert_string_equal(value_text(&f, "status"), "SUCCESS");
	assert_null(value_find(&f, "op"));
	poll_extended("cq_next_poll", 0, 2, 5);
	assert_true(f.view.posts->failed);
	assert_string_equal(f.view.posts->op, "WR_FLUSH_ERR");
	assert_string_equal(value_text(&f, "status"), "WR_FLUSH_ERR");
	poll_extended("cq_start_poll", 22, 3, 0); /* what lies there is an old one */
	assert_int_equal(f.view.nposts, 0);
	assert_false(f.view.roles.poll_found);
	assert_int_equal(f.view.roles.error, 22);

	ah_attr(ah, NULL, 9, 2);
	qp_modify(17, RC, 1, 0, ah, 1 | 1 << 5, 0);
	poll_extended("cq_start_poll", 0, 4, 0);
	assert_int_equal(f.view.posts->queue,
			 0); /* others may have been there before the recording */
	rec_begin(&f, "ibv_destroy_cq", 0, 1, CQ);
	rec_decode(&f);
	device_open(CONTEXT, "mlx5_0");
	qp_modify(17, RC, 1, 0, ah, 1 | 1 << 5, 0);
	qp_modify(17, RC, 2, 18, ah, 1 | 1 << 7 | 1 << 20, 0);
	poll_extended("cq_start_poll", 0, 5, 0);
	assert_int_equal(f.view.posts->queue, 17);
	qp_modify(19, RC, 1, 0, ah, 1 | 1 << 5, 0);
	poll_extended("cq_next_poll", 0, 6, 0);
	assert_int_equal(f.view.posts->queue, 0);
}

/* Requests that are built by calls are posted by the last one. */
TEST(built)
{
	struct {
		uint32_t handle, num, state, type;
		uint8_t between[104];
		uint64_t id;
		uint32_t flags;
	} qp = {.num = 17, .type = RC, .id = 5};
	struct {
		uint64_t addr;
		uint32_t length, key;
	} pieces[2] = {{.length = 100}, {.length = 23}};

	rec_begin(&f, "wr_start", 0, 1, QP);
	rec_decode(&f);
	rec_begin(&f, "wr_send", 0xffffffff, 1, QP); /* returns nothing */
	rec_field(&f, POV_FIELD_IN, 0, 1, &qp, 132);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
	rec_begin(&f, "wr_set_sge", 0, 4, QP, 1ull, 0x5000ull, 0xdead00001000ull);
	rec_decode(&f);
	qp.id = 6;
	rec_begin(&f, "wr_rdma_write", 0, 3, QP, 1ull, 0x5000ull);
	rec_field(&f, POV_FIELD_IN, 0, 1, &qp, 132);
	rec_decode(&f);
	rec_begin(&f, "wr_set_sge_list", 0, 3, QP, 2ull, 0x6000ull);
	rec_field(&f, POV_FIELD_IN, 2, 2, pieces, sizeof(pieces));
	rec_decode(&f);
	rec_begin(&f, "wr_complete", 0, 1, QP);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 2);
	assert_string_equal(f.view.posts[0].op, "SEND");
	assert_int_equal(f.view.posts[0].bytes, 4096);
	assert_int_equal(f.view.posts[0].queue, 17);
	assert_int_equal(f.view.posts[0].id, 5);
	assert_string_equal(f.view.posts[0].transport, "rc");
	assert_int_equal(f.view.posts[1].kind, POST_WRITE);
	assert_int_equal(f.view.posts[1].bytes, 123);
	assert_int_equal(f.view.posts[1].id, 6);
	assert_int_equal(f.view.roles.send_bytes, 4096 + 123);
	rec_begin(&f, "wr_complete", 0, 1, QP); /* once only */
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);

	rec_begin(&f, "wr_rdma_read", 0, 3, QP, 1ull, 0x5000ull);
	rec_decode(&f);
	rec_begin(&f, "ibv_destroy_cq", 0, 1, CQ); /* does not belong to it */
	rec_decode(&f);
	rec_begin(&f, "wr_complete", 0, 1, QP);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 1);

	rec_begin(&f, "wr_rdma_read", 0, 3, QP, 1ull, 0x5000ull);
	rec_decode(&f);
	rec_begin(&f, "wr_abort", 0, 1, QP);
	rec_decode(&f);
	rec_begin(&f, "wr_complete", 0, 1, QP);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
}

/* Records cut at every length: nothing is read behind them. */
TEST(damaged)
{
	static const char *const funcs[] = {"post_send",     "ibv_modify_qp", "ibv_open_device",
					    "ibv_create_ah", "poll_cq",	      "cq_next_poll"};
	uint8_t bytes[136] = {0};

	for (size_t i = 0; i < sizeof(funcs) / sizeof(*funcs); i++) {
		rec_begin(&f, funcs[i], 1, 3, QP, LIST, BAD);
		rec_field(&f, POV_FIELD_WORK, 1, 9, bytes, 4 * sizeof(struct pov_work));
		rec_field(&f, POV_FIELD_IN, 0, 1, bytes, sizeof(bytes));
		rec_field(&f, POV_FIELD_OUT, 2, 1, bytes, sizeof(bytes));
		for (uint16_t size = sizeof(struct pov_call); size < rec_call(&f)->hdr.size;
		     size++) {
			uint8_t *exact = xmalloc(size);
			struct pov_call *c = (struct pov_call *)exact;

			memcpy(exact, f.rec, size);
			c->hdr.size = size;
			f.layer->decode(f.d, &f.funcs[rec_call(&f)->func], c, &f.view);
			assert_true(f.view.nposts <= 9);
			free(exact);
		}
	}
}

EACH_TEST(setup, fixture_teardown);
