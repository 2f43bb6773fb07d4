/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The UCP layer: records put together as the kernel half writes them are decoded to the right numbers, damaged ones to
 * none, and the table has what the installed library's headers declare.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "layer/func_table.h"
#include "layer_fixture.h"

/* The beginning of ucp_request_param_t. */
struct param {
	uint32_t op_attr_mask, flags;
	uint64_t request, callback, datatype;
};
#define HAS_DATATYPE 0x08
#define CONTIG(bytes) ((uint64_t)(bytes) << 3)
#define IOV 2

static struct fixture f;

static int setup(void **state)
{
	*state = &f;
	fixture_init_layer(&f, &layer_ucp);
	return 0;
}

static void returned(uint64_t ret)
{
	rec_call(&f)->ret = ret;
}

TEST_WITH(send, setup, fixture_teardown)
{
	struct param p = {.op_attr_mask = HAS_DATATYPE, .datatype = CONTIG(8)};

	rec_begin(&f, "ucp_tag_send_nbx", 0, 5, 0xe0ull, 0xb0ull, 100ull, 0xabcdull, 0x7000ull);
	rec_field(&f, POV_FIELD_IN, 4, 1, &p, sizeof(p));
	returned(0);
	rec_decode(&f);
	assert_int_equal(value_hex(&f, "ep"), 0xe0);
	assert_int_equal(value_int(&f, "count"), 100);
	assert_int_equal(value_hex(&f, "tag"), 0xabcd);
	assert_string_equal(value_text(&f, "datatype"), "contig(8)");
	assert_string_equal(value_text(&f, "status"), "UCS_OK");
	assert_true(f.view.roles.sends && !f.view.roles.receives);
	assert_int_equal(f.view.roles.send_bytes, 800);
	assert_int_equal(f.view.roles.error, 0);

	p.op_attr_mask = 0; /* without the bit the member means nothing: bytes */
	rec_begin(&f, "ucp_tag_send_nbx", 0, 5, 0xe0ull, 0xb0ull, 100ull, 0xabcdull, 0x7000ull);
	rec_field(&f, POV_FIELD_IN, 4, 1, &p, sizeof(p));
	returned(0x7fff12345680);
	rec_decode(&f);
	assert_null(value_find(&f, "datatype"));
	assert_int_equal(value_hex(&f, "request"), 0x7fff12345680);
	assert_int_equal(f.view.roles.send_bytes, 100);
}

TEST_WITH(sizes, setup, fixture_teardown)
{
	struct param p = {.op_attr_mask = HAS_DATATYPE, .datatype = IOV};

	rec_begin(&f, "ucp_tag_recv_nb", 0, 7, 1ull, 2ull, 3ull, CONTIG(1024), 4ull, ~0ull, 5ull);
	returned(0x1000);
	rec_decode(&f);
	assert_true(f.view.roles.receives && !f.view.roles.sends);
	assert_int_equal(f.view.roles.recv_bytes, 3072);

	rec_begin(&f, "ucp_put_nbi", 0, 5, 1ull, 2ull, 4096ull, 3ull, 4ull);
	rec_decode(&f);
	assert_int_equal(f.view.roles.send_bytes, 4096);

	rec_begin(&f, "ucp_am_send_nbx", 0, 7, 1ull, 9ull, 2ull, 16ull, 3ull, 2ull, 0x7000ull);
	rec_decode(&f); /* what param said was not recorded */
	assert_int_equal(f.view.roles.send_bytes, BYTES_UNKNOWN);
	p.datatype = CONTIG(4);
	rec_field(&f, POV_FIELD_IN, 6, 1, &p, sizeof(p));
	rec_decode(&f);
	assert_int_equal(f.view.roles.send_bytes, 16 + 8);
	assert_int_equal(value_int(&f, "id"), 9);

	p.datatype = IOV;
	rec_begin(&f, "ucp_stream_send_nbx", 0, 4, 1ull, 2ull, 3ull, 0x7000ull);
	rec_field(&f, POV_FIELD_IN, 3, 1, &p, sizeof(p));
	rec_decode(&f);
	assert_string_equal(value_text(&f, "datatype"), "iov");
	assert_int_equal(f.view.roles.send_bytes, BYTES_UNKNOWN);

	p.datatype = CONTIG(UINT64_MAX >> 3);
	rec_begin(&f, "ucp_stream_send_nbx", 0, 4, 1ull, 2ull, 1ull << 40, 0x7000ull);
	rec_field(&f, POV_FIELD_IN, 3, 1, &p, sizeof(p));
	rec_decode(&f);
	assert_int_equal(f.view.roles.send_bytes, BYTES_UNKNOWN);
}

/* A status is one byte, whatever lies above it in the register; a request that is an error is an address near the end. */
TEST_WITH(results, setup, fixture_teardown)
{
	rec_begin(&f, "ucp_request_check_status", 0, 1, 0x1000ull);
	returned(0xdead0001);
	rec_decode(&f);
	assert_string_equal(value_text(&f, "status"), "UCS_INPROGRESS");
	assert_int_equal(f.view.roles.error, 0);
	returned(0xdead00f0);
	rec_decode(&f);
	assert_string_equal(value_text(&f, "status"), "UCS_ERR_CANCELED");
	assert_int_equal(f.view.roles.error, -16);

	rec_begin(&f, "ucp_ep_close_nb", 0, 2, 0x1000ull, 0ull);
	returned((uint64_t)-25);
	rec_decode(&f);
	assert_string_equal(value_text(&f, "status"), "UCS_ERR_CONNECTION_RESET");
	assert_int_equal(f.view.roles.error, -25);
	assert_null(value_find(&f, "request"));
	returned((uint64_t)-99);
	rec_decode(&f);
	assert_string_equal(value_text(&f, "status"), "status -99");
	returned((uint64_t)-101);
	rec_decode(&f);
	assert_int_equal(value_hex(&f, "request"), (uint64_t)-101);

	rec_begin(&f, "ucp_worker_progress", 0, 1, 0x1000ull);
	returned(3);
	rec_decode(&f);
	assert_int_equal(value_int(&f, "result"), 3);
	assert_true(f.view.roles.poll_found);
	rec_call(&f)->hdr.flags |= POV_CALL_OPEN;
	rec_decode(&f);
	assert_null(value_find(&f, "result"));
}

/* What the last call posted: one post, or fails. */
static const struct call_post *post(void)
{
	assert_int_equal(f.view.nposts, 1);
	return f.view.posts;
}

TEST_WITH(posts, setup, fixture_teardown)
{
	struct param p = {.op_attr_mask = HAS_DATATYPE, .datatype = CONTIG(8)};

	assert_int_equal(layer_ucp.nearness, 1);
	rec_begin(&f, "ucp_tag_send_nbx", 0, 5, 0xe0ull, 0xb0ull, 100ull, 0xabcdull, 0x7000ull);
	rec_field(&f, POV_FIELD_IN, 4, 1, &p, sizeof(p));
	rec_decode(&f);
	assert_int_equal(post()->kind, POST_SEND);
	assert_int_equal(post()->carrier, CARRIER_UNKNOWN);
	assert_int_equal(post()->step, STEP_NONE);
	assert_string_equal(post()->op, "tag_send_nbx");
	assert_int_equal(post()->bytes, 800);
	assert_int_equal(post()->queue, 0xe0);
	assert_false(post()->failed || post()->has_id);
	returned((uint64_t)-25);
	rec_decode(&f);
	assert_true(post()->failed);
	rec_call(&f)->hdr.flags |= POV_CALL_UNWOUND;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);

	rec_begin(&f, "ucp_tag_recv_nb", 0, 7, 1ull, 2ull, 3ull, CONTIG(1024), 4ull, ~0ull, 5ull);
	returned(0x1000);
	rec_decode(&f);
	assert_int_equal(post()->kind, POST_RECV);
	assert_int_equal(post()->bytes, 3072);
	assert_int_equal(post()->queue, 0);
	rec_begin(&f, "ucp_put_nbi", 0, 5, 1ull, 2ull, 4096ull, 3ull, 4ull);
	rec_decode(&f);
	assert_int_equal(post()->kind, POST_WRITE);
	rec_begin(&f, "ucp_get_nbi", 0, 5, 1ull, 2ull, 4097ull, 3ull, 4ull);
	rec_decode(&f);
	assert_int_equal(post()->kind, POST_READ);
	assert_int_equal(post()->bytes, 4097);
	rec_begin(&f, "ucp_atomic_post", 0, 6, 1ull, 0ull, 17ull, 8ull, 3ull, 4ull);
	rec_decode(&f);
	assert_int_equal(post()->kind, POST_ATOMIC);
	assert_int_equal(post()->bytes, 8);
	rec_begin(&f, "ucp_atomic_fadd32", 0, 5, 1ull, 17ull, 3ull, 4ull, 5ull);
	rec_decode(&f);
	assert_int_equal(post()->bytes, 4);
	rec_begin(&f, "ucp_worker_progress", 0, 1, 0x1000ull);
	returned(1);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
}

/* A worker's address as UCX packs it: in its first form, or in the second one. */
static void address_put(uint8_t out[16], bool second, uint64_t id)
{
	memset(out, 0xee, 16);
	out[0] = second ? 0x71 : 0x10;
	out[1] = 0x02;
	memcpy(out + 1 + second, &id, sizeof(id));
}

static void ep_create(uint64_t ep, uint64_t mask, const uint8_t address[16])
{
	rec_begin(&f, "ucp_ep_create", 0, 3, 0x10ull, 0x7000ull, 2ull);
	rec_u64(&f, POV_FIELD_IN, 1, 1, mask);
	rec_u64(&f, POV_FIELD_OUT, 2, 1, ep);
	rec_field(&f, POV_FIELD_MEMBER, 1, 8, address, 16);
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
}

static const struct call_post *send_by(uint64_t ep)
{
	rec_begin(&f, "ucp_put_nbi", 0, 5, ep, 2ull, 4096ull, 3ull, 4ull);
	rec_decode(&f);
	return post();
}

static void worker_told(uint64_t worker, const uint8_t address[16])
{
	rec_begin(&f, "ucp_worker_get_address", 0, 3, worker, 0x7000ull, 0x7008ull);
	rec_field(&f, POV_FIELD_MEMBER, 1, 0, address, 16);
	rec_decode(&f);
}

TEST_WITH(peers, setup, fixture_teardown)
{
	uint8_t address[16];

	address_put(address, false, 0xabcdef0123456789);
	worker_told(0x10, address);
	assert_int_equal(post()->kind, POST_OTHER);
	assert_string_equal(post()->local_end, "worker 0xabcdef0123456789");
	assert_null(send_by(0xe0)->local_end);
	address_put(address, true, 5);
	ep_create(0xe0, 1, address);
	assert_string_equal(send_by(0xe0)->local_end, "worker 0xabcdef0123456789");
	assert_string_equal(send_by(0xe0)->remote_end, "worker 0x5");
	address[1] = 0; /* without what tells workers apart */
	ep_create(0xe1, 1, address);
	assert_null(send_by(0xe1)->remote_end);
	address[0] = 2; /* a form of later versions */
	ep_create(0xe1, 1, address);
	assert_null(send_by(0xe1)->remote_end);
	address_put(address, false, 6);
	ep_create(0xe0, 2, address); /* its memory is used again, and it has no address */
	assert_null(send_by(0xe0)->remote_end);

	/* receives and arrivals are at a worker */
	rec_begin(&f, "ucp_tag_recv_nb", 0, 7, 0x10ull, 2ull, 3ull, CONTIG(1), 4ull, ~0ull, 5ull);
	rec_decode(&f);
	assert_string_equal(post()->local_end, "worker 0xabcdef0123456789");
	rec_begin(&f, "ucp_eager_only_handler", 0, 4, 0x10ull, 0x20ull, 51ull, 1ull);
	rec_decode(&f);
	assert_string_equal(post()->local_end, "worker 0xabcdef0123456789");
}

/* The other way of asking for a worker's address. */
TEST_WITH(query, setup, fixture_teardown)
{
	uint8_t address[16];

	address_put(address, true, 7);
	for (uint64_t mask = 1; mask <= 2; mask++) {
		rec_begin(&f, "ucp_worker_query", 0, 2, 0x10ull, 0x7000ull);
		rec_u64(&f, POV_FIELD_IN, 1, 1, mask);
		rec_field(&f, POV_FIELD_MEMBER, 1, 16, address, 16);
		rec_decode(&f);
		rec_begin(&f, "ucp_eager_only_handler", 0, 4, 0x10ull, 0x20ull, 51ull, 1ull);
		rec_decode(&f);
		if (mask == 1)
			assert_null(post()->local_end);
	}
	assert_string_equal(post()->local_end, "worker 0x7");
}

TEST_WITH(arrivals, setup, fixture_teardown)
{
	static const struct {
		const char *handler, *op;
		enum post_step step;
	} rows[] = {
		{"ucp_eager_only_handler", "eager_only", STEP_EAGER},
		{"ucp_rndv_rts_handler", "rndv_rts", STEP_RTS},
		{"ucp_rndv_rtr_handler", "rndv_rtr", STEP_RTR},
		{"ucp_rndv_data_handler", "rndv_data", STEP_DATA},
		{"ucp_rndv_ats_handler", "rndv_ats", STEP_FIN},
		{"ucp_rndv_atp_handler", "rndv_atp", STEP_FIN},
		{"ucp_put_handler", "put", STEP_NONE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rec_begin(&f, rows[i].handler, 0, 4, 0x10ull, 0x20ull, 51ull, 1ull);
		returned(1);
		rec_decode(&f);
		assert_int_equal(post()->kind, POST_ARRIVAL);
		assert_int_equal(post()->step, rows[i].step);
		assert_string_equal(post()->op, rows[i].op);
		assert_int_equal(post()->bytes, 51);
		assert_int_equal(f.view.roles.recv_bytes, 51);
	}
}

/* Records cut at every length: nothing is read behind them. */
TEST_WITH(damaged, setup, fixture_teardown)
{
	struct param p = {.op_attr_mask = HAS_DATATYPE, .datatype = CONTIG(8)};
	uint16_t full;

	rec_begin(&f, "ucp_tag_send_nbx", 0, 5, 0xe0ull, 0xb0ull, 100ull, 0xabcdull, 0x7000ull);
	rec_field(&f, POV_FIELD_IN, 4, 1, &p, sizeof(p));
	full = rec_call(&f)->hdr.size;
	for (uint16_t size = 0; size < full; size++) {
		uint8_t *exact = xmalloc(size ? size : 1);
		struct pov_call *c = (struct pov_call *)exact;

		memcpy(exact, f.rec, size);
		if (size < sizeof(*c)) {
			free(exact);
			continue;
		}
		c->hdr.size = size;
		f.layer->decode(f.d, &f.funcs[rec_call(&f)->func], c, &f.view);
		assert_true(f.view.roles.send_bytes == BYTES_UNKNOWN || !f.view.roles.sends);
		free(exact);
	}
}

/* ---- the table against the installed library ---- */

#define LIBRARY "/usr/lib/x86_64-linux-gnu/libucp.so.0"

static size_t declared_missing(const char *header, const struct elf_file *lib, size_t *functions)
{
	FILE *in = fopen(header, "re");
	size_t missing = 0, len, cap = 0;
	char *line = NULL, *at;

	if (!in)
		return 0;
	while (getline(&line, &cap, in) > 0) {
		for (at = line; (at = strstr(at, "ucp_")); at += len) {
			for (len = 0; isalnum((unsigned char)at[len]) || at[len] == '_';)
				len++;
			if (at[len] != '(' ||
			    (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
				continue;
			at[len] = '\0';
			if (elf_file_exports(lib, at)) {
				++*functions;
				if (func_table_find(at) < 0) {
					print_message("%s declares %s, which bpf/ucp.def lacks\n",
						      header, at);
					missing++;
				}
			}
			len++;
		}
	}
	free(line);
	fclose(in);
	return missing;
}

TEST(declared)
{
	size_t functions = 0, missing;
	struct elf_file *lib;

	if (elf_file_open(LIBRARY, &lib)) {
		print_message("SKIP: no " LIBRARY "\n");
		skip();
	}
	missing = declared_missing("/usr/include/ucp/api/ucp.h", lib, &functions) +
		  declared_missing("/usr/include/ucp/api/ucp_compat.h", lib, &functions);
	elf_file_close(lib);
	if (!functions) {
		print_message("SKIP: no headers of UCX\n");
		skip();
	}
	assert_true(functions > 80);
	assert_int_equal(missing, 0);
}
