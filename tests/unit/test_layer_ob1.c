/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The layer of Open MPI's ob1: which of several choices counts, what headers say, and that nothing is believed of a message that
 * does not begin as it should. Every function of the table is in the installed library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "layer/func_table.h"
#include "layer_fixture.h"

#define REQUEST 0x5500c0deull
#define OTHERS 0x7700beefull /* the other side's */

static struct fixture f;

static int setup(void **state)
{
	json_t *library = json_pack("{s:s,s:i,s:i}", "type", "library", "id", FIXTURE_LIB,
				    "match_header_bytes", 14);

	*state = &f;
	fixture_init_layer(&f, &layer_ob1);
	f.layer->decoder_meta(f.d, library);
	json_decref(library);
	return 0;
}

/* As the kernel half writes it; words are those of the header from its second on. */
static void arrive(const char *func, uint8_t type, uint64_t bytes, uint32_t parts, uint64_t w1,
		   uint64_t w2, uint64_t w3, uint64_t w6)
{
	struct pov_field_message m = {.bytes = bytes, .head = {type}};
	uint64_t words[] = {w1, w2, w3};

	memcpy(m.head + 8, words, sizeof(words));
	memcpy(m.head + 48, &w6, sizeof(w6));
	rec_begin(&f, func, 0, 3, 1ull, 2ull, 3ull);
	rec_field(&f, POV_FIELD_MESSAGE, 0, parts, &m, sizeof(m));
	rec_decode(&f);
}

static void post_is(uint32_t i, enum post_kind kind, enum post_step step, int64_t bytes,
		    uint64_t message)
{
	const struct call_post *p = &f.view.posts[i];

	assert_true(i < f.view.nposts);
	assert_int_equal(p->kind, kind);
	assert_int_equal(p->step, step);
	assert_int_equal(p->bytes, bytes);
	assert_int_equal(p->message, message);
	assert_int_equal(p->carrier, CARRIER_UNKNOWN);
}

TEST_WITH(sender, setup, fixture_teardown)
{
	rec_begin(&f, "mca_pml_ob1_send_request_start_copy", 0, 3, REQUEST, 2ull, 4040ull);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 1);
	post_is(0, POST_SEND, STEP_EAGER, 4040, REQUEST);
	assert_false(f.view.posts[0].failed);
	assert_string_equal(f.view.posts[0].op, "MATCH");
	assert_int_equal(f.view.roles.send_bytes, 4040);

	rec_begin(&f, "mca_pml_ob1_send_request_start_rndv", (uint32_t)-2, 4, REQUEST, 2ull, 77ull,
		  8ull);
	rec_decode(&f);
	post_is(0, POST_SEND, STEP_RTS, 77, REQUEST);
	assert_true(f.view.posts[0].failed);

	rec_begin(&f, "mca_pml_ob1_send_request_copy_in_out", 0, 3, REQUEST, 77ull, 900ull);
	rec_decode(&f);
	post_is(0, POST_SEND, STEP_DATA, 900, REQUEST);
	rec_begin(&f, "mca_pml_ob1_send_request_copy_in_out", 0, 3, REQUEST, 77ull, 0ull);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);

	rec_begin(&f, "mca_pml_ob1_send_request_start_rndv", 0, 4, REQUEST, 2ull, 77ull, 8ull);
	rec_call(&f)->hdr.flags |= POV_CALL_UNWOUND;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
}

TEST_WITH(receiver, setup, fixture_teardown)
{
	rec_begin(&f, "mca_pml_ob1_recv_request_ack_send_btl", 0, 7, 1ull, 2ull, OTHERS, REQUEST,
		  5ull, 6ull, 1ull);
	rec_decode(&f);
	post_is(0, POST_SEND, STEP_RTR, 0, REQUEST);
	rec_begin(&f, "mca_pml_ob1_recv_request_get_frag", 0, 1, 1ull);
	rec_decode(&f);
	post_is(0, POST_READ, STEP_DATA, BYTES_UNKNOWN, 0);
	rec_begin(&f, "mca_pml_ob1_send_fin", 0, 6, 1ull, 2ull, OTHERS, 5000ull, 0ull, 0ull);
	rec_decode(&f);
	post_is(0, POST_SEND, STEP_FIN, 0, 0);
}

/* A call of so long that ends with the last one. */
static void choose(const char *func, uint64_t ret, uint64_t dur_ns, uint64_t count, uint64_t mode)
{
	rec_begin(&f, func, ret, 7, 1ull, count, 3ull, 1ull, 5ull, mode, 6ull);
	rec_u64(&f, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_call(&f)->dur_ns = dur_ns;
	rec_decode(&f);
}

/* The innermost choice counts; where there is none, a message was sent without a request, if that can be. */
TEST_WITH(choices, setup, fixture_teardown)
{
	choose("mca_pml_ob1_send", 0, 1, 64, 4);
	post_is(0, POST_SEND, STEP_EAGER, 256, 0);
	choose("mca_pml_ob1_send", 0, 1, 65, 4); /* too long: what sent it was not seen */
	assert_int_equal(f.view.nposts, 0);
	choose("mca_pml_ob1_send", 0, 1, 64, 0); /* synchronous */
	assert_int_equal(f.view.nposts, 0);
	choose("mca_pml_ob1_isend", (uint64_t)-1, 1, 64, 4);
	assert_int_equal(f.view.nposts, 0);

	rec_begin(&f, "mca_pml_ob1_send_request_start_rndv", 0, 4, REQUEST, 2ull, 0ull, 8ull);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 1);
	rec_begin(&f, "mca_pml_ob1_send_request_start_rdma", 0, 3, REQUEST, 2ull, 9999ull);
	rec_call(&f)->dur_ns = 500000;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
	choose("mca_pml_ob1_send", 0, 900000, 64, 4);
	assert_int_equal(f.view.nposts, 0);

	rec_begin(&f, "mca_pml_ob1_send_request_start_rdma", 0, 3, REQUEST, 2ull, 9999ull);
	rec_decode(&f);
	post_is(0, POST_SEND, STEP_RTS, 0, REQUEST);
	rec_begin(&f, "mca_pml_ob1_isend", 0, 8, 1ull, 1ull, 3ull, 1ull, 5ull, 4ull, 6ull, 7ull);
	rec_call(&f)->hdr.tid++; /* another thread's */
	rec_call(&f)->dur_ns = 900000;
	rec_decode(&f);
	post_is(0, POST_SEND, STEP_EAGER, BYTES_UNKNOWN, 0);
}

TEST_WITH(arrivals, setup, fixture_teardown)
{
	arrive("mca_pml_ob1_recv_frag_callback_match", 65, 14 + 100, 1, 0x1100000007ull, 5, 0, 0);
	post_is(0, POST_ARRIVAL, STEP_EAGER, 100, 0);
	assert_int_equal(value_int(&f, "tag"), 7);
	assert_int_equal(f.view.roles.recv_bytes, 100);
	arrive("mca_pml_ob1_recv_frag_callback_rndv", 66, 32 + 4040, 2, 0, 100000, OTHERS, 0);
	post_is(0, POST_ARRIVAL, STEP_RTS, 4040, 0);
	assert_int_equal(value_int(&f, "message_bytes"), 100000);
	assert_int_equal(value_hex(&f, "send_request"), OTHERS);
	arrive("mca_pml_ob1_recv_frag_callback_ack", 68, 40, 1, REQUEST, OTHERS, 0, 0);
	post_is(0, POST_ARRIVAL, STEP_RTR, 0, REQUEST);
	arrive("mca_pml_ob1_recv_frag_callback_frag", 70, 32 + 11, 1, 8, OTHERS, REQUEST, 0);
	post_is(0, POST_ARRIVAL, STEP_DATA, 11, REQUEST);
	arrive("mca_pml_ob1_recv_frag_callback_fin", 73, 24, 1, 4041, OTHERS, 0, 0);
	post_is(0, POST_ARRIVAL, STEP_FIN, 0, 0);
	assert_int_equal(value_int(&f, "length"), 4041);

	arrive("mca_pml_ob1_recv_frag_callback_put", 72, 56, 1, REQUEST, OTHERS, OTHERS, 5000);
	assert_int_equal(f.view.nposts, 2);
	post_is(0, POST_ARRIVAL, STEP_RTR, 0, REQUEST);
	post_is(1, POST_WRITE, STEP_DATA, 5000, REQUEST);
}

/* Steps are known by the function alone; what a header says is not, if it is not what it must be. */
TEST_WITH(doubtful, setup, fixture_teardown)
{
	arrive("mca_pml_ob1_recv_frag_callback_ack", 65, 40, 1, REQUEST, OTHERS, 0, 0);
	post_is(0, POST_ARRIVAL, STEP_RTR, 0, 0);
	assert_null(value_find(&f, "send_request"));
	arrive("mca_pml_ob1_recv_frag_callback_put", 65, 56, 1, REQUEST, OTHERS, OTHERS, 5000);
	assert_int_equal(f.view.nposts, 1);
	arrive("mca_pml_ob1_recv_frag_callback_match", 65, 14 + 100, 3, 0, 0, 0,
	       0); /* more parts */
	post_is(0, POST_ARRIVAL, STEP_EAGER, BYTES_UNKNOWN, 0);
	arrive("mca_pml_ob1_recv_frag_callback_match", 65, 13, 1, 0, 0, 0, 0);
	post_is(0, POST_ARRIVAL, STEP_EAGER, BYTES_UNKNOWN, 0);
	rec_begin(&f, "mca_pml_ob1_recv_frag_callback_frag", 0, 3, 1ull, 2ull, 3ull);
	rec_decode(&f); /* nothing could be read */
	post_is(0, POST_ARRIVAL, STEP_DATA, BYTES_UNKNOWN, 0);

	arrive("mca_pml_ob1_recv_frag_callback_match", 65, 14 + 100, 1, 7, 5, 0, 0);
	rec_call(&f)->lib++; /* of which nothing is known */
	rec_decode(&f);
	post_is(0, POST_ARRIVAL, STEP_EAGER, BYTES_UNKNOWN, 0);
}

/* Records cut at every length: nothing is read behind them. */
TEST_WITH(damaged, setup, fixture_teardown)
{
	uint16_t full;

	arrive("mca_pml_ob1_recv_frag_callback_ack", 68, 40, 1, REQUEST, OTHERS, 0, 0);
	full = rec_call(&f)->hdr.size;
	for (uint16_t size = sizeof(struct pov_call); size < full; size++) {
		uint8_t *exact = xmalloc(size);

		memcpy(exact, f.rec, size);
		((struct pov_call *)exact)->hdr.size = size;
		f.layer->decode(f.d, &f.funcs[rec_call(&f)->func], (struct pov_call *)exact,
				&f.view);
		assert_null(value_find(&f, "send_request"));
		free(exact);
	}
}

/* ---- the table against the installed library ---- */

#define LIBRARY "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_pml_ob1.so"

TEST(exported)
{
	struct elf_file *lib;

	if (elf_file_open(LIBRARY, &lib)) {
		print_message("SKIP: no " LIBRARY "\n");
		skip();
	}
	for (size_t i = 0; i < layer_ob1.row_cnt; i++)
		if (!elf_file_exports(lib, layer_ob1.rows[i].name))
			fail_msg("%s is not in it", layer_ob1.rows[i].name);
	elf_file_close(lib);
}
