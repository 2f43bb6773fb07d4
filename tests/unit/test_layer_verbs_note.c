/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Static probes of verbs providers: one record is one post, with what the probe tells and no more; one that could not be read, or is cut
 * short, is none.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "abi/config.h"
#include "base/log.h"
#include "layer/layer.h"
#include "layer_fixture.h"

#define MLX5 "rdma_core_mlx5_post_send"
#define RXE "rdma_core_rxe_post_send"

static struct fixture f;

static int setup(void **state)
{
	*state = &f;
	fixture_init_layer(&f, &layer_verbs);
	return 0;
}

/* What was passed at the probe, with the two texts as they lie in memory: something else may follow. */
static void passed(const char *probe, const char *device, uint64_t qp, const char *opcode,
		   uint64_t last)
{
	char text[POV_BLOCK_BYTES];

	rec_begin(&f, probe, 0, 4, 0x1000ull, qp, 0x2000ull, last);
	memset(text, 'x', sizeof(text));
	memcpy(text, device, strlen(device) + 1);
	rec_field(&f, POV_FIELD_IN, 0, 1, text, sizeof(text));
	memset(text, 'x', sizeof(text));
	memcpy(text, opcode, strlen(opcode) + 1);
	rec_field(&f, POV_FIELD_IN, 2, 1, text, sizeof(text));
	rec_decode(&f);
}

TEST(bytes)
{
	const struct call_post *p;

	passed(RXE, "rxe0", 17, "rdma-write-with-imm", 4096);
	assert_int_equal(f.view.nposts, 1);
	p = f.view.posts;
	assert_int_equal(p->kind, POST_WRITE);
	assert_int_equal(p->carrier, CARRIER_NIC);
	assert_string_equal(p->op, "RDMA_WRITE_WITH_IMM");
	assert_string_equal(p->device, "rxe0");
	assert_int_equal(p->queue, 17);
	assert_int_equal(p->bytes, 4096);
	assert_false(p->has_id || p->failed);
	assert_null(p->dest);
	assert_null(p->transport);
	assert_true(f.view.roles.sends);
	assert_int_equal(f.view.roles.send_bytes, 4096);
	assert_int_equal(value_int(&f, "bytes"), 4096);
	assert_string_equal(value_text(&f, "op"), "RDMA_WRITE_WITH_IMM");
	assert_null(value_find(&f, "opcode"));
	passed(RXE, "rxe0", 17, "rdma-read", 1);
	assert_int_equal(f.view.posts->kind, POST_READ);
	passed(RXE, "rxe0", 17, "send", 1ull << 40); /* no request is so long */
	assert_int_equal(f.view.posts->bytes, BYTES_UNKNOWN);
}

/* The provider says the number of pieces where it says bytes. */
TEST(pieces)
{
	passed(MLX5, "mlx5_0", 4711, "send", 2);
	assert_int_equal(f.view.posts->kind, POST_SEND);
	assert_int_equal(f.view.posts->bytes, BYTES_UNKNOWN);
	assert_int_equal(f.view.roles.send_bytes, BYTES_UNKNOWN);
	assert_null(value_find(&f, "bytes"));
	passed(MLX5, "mlx5_0", 4711, "send", 0);
	assert_int_equal(f.view.posts->bytes, 0);
}

TEST(unknown)
{
	passed(RXE, "", 17, "sen", 8);
	assert_int_equal(f.view.posts->kind, POST_OTHER);
	assert_string_equal(f.view.posts->op, "unknown");
	assert_null(f.view.posts->device);
	passed(RXE, "rxe0", 17, "send-", 8);
	assert_string_equal(f.view.posts->op, "unknown");
	rec_begin(&f, RXE, 0, 4, 0ull, 17ull, 0ull, 8ull);
	rec_decode(&f);
	assert_string_equal(f.view.posts->op, "unknown");
	rec_call(&f)->hdr.flags |= POV_CALL_FAULT;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
}

TEST(cut)
{
	passed(RXE, "rxe0", 17, "send", 8);
	for (uint16_t size = sizeof(struct pov_call); size < rec_call(&f)->hdr.size; size++) {
		uint8_t *exact = xmalloc(size);
		struct pov_call *c = (struct pov_call *)exact;

		memcpy(exact, f.rec, size);
		c->hdr.size = size;
		f.layer->decode(f.d, &f.funcs[c->func], c, &f.view);
		assert_true(f.view.nposts <= 1);
		free(exact);
	}
}

EACH_TEST(setup, fixture_teardown);
