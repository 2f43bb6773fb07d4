/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The libfabric layer: records are decoded to the right posts; and what is assumed of libfabric's objects is what its headers
 * declare, and finds functions of every kind in the installed library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if __has_include(<rdma/fi_tagged.h>)
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#define HAVE_HEADERS
#endif

#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/fabric_ops.h"
#include "layer/func_table.h"
#include "layer_fixture.h"

#define EP 0xe000ull
#define CONTEXT 0xc000ull
#define NO_MEMORY (-12)

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	fixture_init_layer(&f, &layer_ofi);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
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

static void test_posts(void **state)
{
	(void)state;
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

	/* lists of buffers, and a call that never returned */
	CALLED("fi_sendv", 0, 6, EP, 1ull, 2ull, 3ull, 4ull, CONTEXT);
	post_is("sendv", POST_SEND, BYTES_UNKNOWN, true, false);
	CALLED("fi_writemsg", 0, 3, EP, 1ull, 0ull);
	post_is("writemsg", POST_WRITE, BYTES_UNKNOWN, false, false);
	rec_call(&f)->hdr.flags |= POV_CALL_OPEN;
	rec_decode(&f);
	assert_int_equal(f.view.nposts, 0);
}

static void test_damaged(void **state)
{
	uint16_t full;

	(void)state;
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

static void test_layout(void **state)
{
	(void)state;
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
#else
	print_message("SKIP: no headers of libfabric\n");
	skip();
#endif
}

#define LIBRARY "/usr/lib/x86_64-linux-gnu/libfabric.so.1"
#define FOUND_MAX 1024

static void test_functions(void **state)
{
	static struct fabric_function found[FOUND_MAX];
	struct elf_file *lib;
	size_t cnt, seen;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_posts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
