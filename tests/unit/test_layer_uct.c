/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The UCT layer: records put together as the kernel half writes them become the right posts, damaged ones none, and the table has
 * what the installed library exports.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/uct_ops.h"
#include "layer/func_table.h"
#include "layer_fixture.h"

#define NO_RESOURCE 0xfe /* UCS_ERR_NO_RESOURCE, -2, as one byte */
#define IN_PROGRESS 1

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	fixture_init_layer(&f, &layer_uct);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
	return 0;
}

static void returned(uint64_t ret)
{
	rec_call(&f)->ret = ret;
	rec_decode(&f);
}

static const struct call_post *post(void)
{
	assert_int_equal(f.view.nposts, 1);
	return f.view.posts;
}

static void test_short(void **state)
{
	(void)state;
	assert_int_equal(layer_uct.nearness, 2);
	rec_begin(&f, "uct_tcp_ep_am_short", 0, 5, 0xe0ull, 0xffffff02ull, 0xabull, 0xb0ull,
		  0xdead0000000000aaull);
	returned(0xdeadbe00); /* only the lowest byte is the status */
	assert_int_equal(post()->kind, POST_SEND);
	assert_int_equal(post()->carrier, CARRIER_SOCKET);
	assert_int_equal(post()->step, STEP_EAGER);
	assert_string_equal(post()->op, "am_short");
	assert_string_equal(post()->transport, "tcp");
	assert_null(post()->device);
	assert_null(post()->dest);
	assert_int_equal(post()->bytes, 8 + 0xaa);
	assert_int_equal(post()->queue, 0xe0);
	assert_false(post()->failed);
	assert_string_equal(value_text(&f, "message"), "EAGER_ONLY");
	assert_string_equal(value_text(&f, "status"), "UCS_OK");
	assert_int_equal(value_int(&f, "payload_bytes"), 0xaa);
	assert_int_equal(value_int(&f, "bytes"), 8 + 0xaa);
	assert_int_equal(f.view.roles.send_bytes, 8 + 0xaa);

	returned(NO_RESOURCE);
	assert_true(post()->failed);
	assert_string_equal(value_text(&f, "status"), "UCS_ERR_NO_RESOURCE");
	assert_int_equal(f.view.roles.error, -2);
	rec_call(&f)->hdr.flags |= POV_CALL_OPEN;
	returned(0);
	assert_int_equal(f.view.nposts, 0);
}

static void test_bcopy(void **state)
{
	(void)state;
	rec_begin(&f, "uct_rc_mlx5_ep_am_bcopy", 0, 5, 0xe0ull, 12ull, 1ull, 2ull, 0ull);
	returned(8256);
	assert_int_equal(post()->bytes, 8256);
	assert_int_equal(post()->step, STEP_DATA);
	assert_int_equal(post()->carrier, CARRIER_NIC);
	assert_null(value_find(&f, "status"));
	returned((uint64_t)-2);
	assert_true(post()->failed);
	assert_int_equal(post()->bytes, BYTES_UNKNOWN);
	assert_string_equal(value_text(&f, "status"), "UCS_ERR_NO_RESOURCE");

	rec_begin(&f, "uct_rc_verbs_ep_put_bcopy", 0, 5, 0xe0ull, 1ull, 2ull, 3ull, 4ull);
	returned(100);
	assert_int_equal(post()->kind, POST_WRITE);
	assert_int_equal(post()->bytes, 100);
	rec_begin(&f, "uct_rc_verbs_ep_get_bcopy", 0, 6, 0xe0ull, 1ull, 2ull, 1ull << 33, 3ull,
		  4ull);
	returned(IN_PROGRESS);
	assert_int_equal(post()->kind, POST_READ);
	assert_int_equal(post()->bytes, 1ll << 33);
}

static void test_zcopy(void **state)
{
	(void)state;
	rec_begin(&f, "uct_dc_mlx5_ep_am_zcopy", 0, 6, 0xe0ull, 3ull, 0x50ull, 16ull, 0x70ull,
		  2ull);
	returned(IN_PROGRESS);
	assert_int_equal(post()->bytes, BYTES_UNKNOWN); /* the list could not be read */
	rec_u64(&f, POV_FIELD_SUM, 4, 2, 5000);
	returned(IN_PROGRESS);
	assert_int_equal(post()->bytes, 16 + 5000);
	assert_int_equal(value_int(&f, "payload_bytes"), 5000);
	assert_int_equal(post()->step, STEP_EAGER);

	rec_begin(&f, "uct_scopy_ep_get_zcopy", 0, 6, 0xe0ull, 0x70ull, 1ull, 1ull, 2ull, 3ull);
	rec_u64(&f, POV_FIELD_SUM, 1, 1, 50000);
	returned(IN_PROGRESS);
	assert_int_equal(post()->kind, POST_READ);
	assert_int_equal(post()->carrier, CARRIER_CMA);
	assert_string_equal(post()->transport, "scopy");
	assert_int_equal(post()->bytes, 50000);

	/* no pieces: no bytes, and nothing to read */
	rec_begin(&f, "uct_tcp_ep_put_zcopy", 0, 6, 0xe0ull, 0ull, 0ull, 0ull, 0ull, 0ull);
	returned(IN_PROGRESS);
	assert_int_equal(post()->bytes, 0);
}

static void test_tag_and_atomic(void **state)
{
	(void)state;
	rec_begin(&f, "uct_rc_mlx5_ep_tag_eager_short", 0, 4, 0xe0ull, 7ull, 0x70ull, 64ull);
	returned(0);
	assert_int_equal(post()->step, STEP_EAGER);
	assert_int_equal(post()->bytes, 64);
	/* announces: the data are got by the other side; returns an operation, or an error */
	rec_begin(&f, "uct_rc_mlx5_ep_tag_rndv_zcopy", 0, 6, 0xe0ull, 7ull, 0x50ull, 24ull, 0x70ull,
		  1ull);
	returned(0x7f0012345678);
	assert_int_equal(post()->step, STEP_RTS);
	assert_int_equal(post()->bytes, 24);
	assert_false(post()->failed);
	returned((uint64_t)-2);
	assert_true(post()->failed);

	rec_begin(&f, "uct_rc_mlx5_ep_atomic32_fetch", 0, 6, 0xe0ull, 0ull, 5ull, 0x70ull, 1ull,
		  2ull);
	returned(IN_PROGRESS);
	assert_int_equal(post()->kind, POST_ATOMIC);
	assert_int_equal(post()->bytes, 4);
	assert_true(f.view.roles.sends && f.view.roles.receives);
	rec_begin(&f, "uct_rc_verbs_ep_atomic_cswap64", 0, 6, 0xe0ull, 0ull, 5ull, 1ull, 2ull,
		  3ull);
	returned(IN_PROGRESS);
	assert_int_equal(post()->bytes, 8);
}

/* The ids are UCP's; of others nothing is said. */
static void test_steps(void **state)
{
	static const enum post_step steps[] = {
		[2] = STEP_EAGER, [3] = STEP_EAGER, [4] = STEP_EAGER, [8] = STEP_FIN,
		[9] = STEP_RTS,	  [10] = STEP_FIN,  [11] = STEP_RTR,  [12] = STEP_DATA,
		[16] = STEP_FIN,  [23] = STEP_EAGER};

	(void)state;
	for (size_t id = 0; id < sizeof(steps) / sizeof(steps[0]); id++) {
		if (!steps[id] && id != 0 && id != 1 && id != 5 && id != 13)
			continue;
		rec_begin(&f, "uct_ud_mlx5_ep_am_short", 0, 5, 1ull, (uint64_t)id, 0ull, 0ull,
			  0ull);
		returned(0);
		assert_int_equal(post()->step, steps[id]);
	}
	rec_begin(&f, "uct_ud_mlx5_ep_am_short", 0, 5, 1ull, 200ull, 0ull, 0ull, 0ull);
	returned(0);
	assert_int_equal(post()->step, STEP_NONE);
	assert_null(value_find(&f, "message"));
}

static void endpoint_made(const char *by, uint32_t tgid, uint64_t ep, uint64_t ret)
{
	rec_begin(&f, by, 0, 2, 1ull, 2ull);
	rec_call(&f)->tgid = tgid;
	rec_u64(&f, POV_FIELD_OUT, 1, 1, ep);
	returned(ret);
	assert_int_equal(f.view.nposts, 0);
}

static const struct call_post *put_by(uint32_t tgid, uint64_t ep)
{
	rec_begin(&f, "uct_sm_ep_put_short", 0, 5, ep, 1ull, 64ull, 2ull, 3ull);
	rec_call(&f)->tgid = tgid;
	returned(0);
	return post();
}

/* What shares its functions with others is told by its endpoint, in each process. */
static void test_endpoints(void **state)
{
	(void)state;
	assert_string_equal(put_by(7, 0xe0)->transport, "sm");
	assert_int_equal(put_by(7, 0xe0)->carrier, CARRIER_UNKNOWN);
	endpoint_made("uct_mm_ep_t_new", 7, 0xe0, 0);
	assert_string_equal(put_by(7, 0xe0)->transport, "mm");
	assert_int_equal(put_by(7, 0xe0)->carrier, CARRIER_SHM);
	assert_int_equal(put_by(8, 0xe0)->carrier, CARRIER_UNKNOWN);
	assert_int_equal(put_by(7, 0xf0)->carrier, CARRIER_UNKNOWN);
	endpoint_made("uct_self_ep_t_new", 7, 0xe0, 0xfc); /* an error */
	assert_string_equal(put_by(7, 0xe0)->transport, "mm");
	endpoint_made("uct_self_ep_t_new", 7, 0xe0, 0); /* its memory is used again */
	assert_string_equal(put_by(7, 0xe0)->transport, "self");
	assert_int_equal(put_by(7, 0xe0)->carrier, CARRIER_UNKNOWN);
}

/* Records cut at every length: nothing is read behind them. */
static void test_damaged(void **state)
{
	uint16_t full;

	(void)state;
	rec_begin(&f, "uct_tcp_ep_put_zcopy", 0, 6, 0xe0ull, 0x70ull, 1ull, 1ull, 2ull, 3ull);
	rec_u64(&f, POV_FIELD_SUM, 1, 1, 50000);
	full = rec_call(&f)->hdr.size;
	for (uint16_t size = sizeof(struct pov_call); size < full; size++) {
		struct pov_call *exact = xmalloc(size);

		memcpy(exact, f.rec, size);
		exact->hdr.size = size;
		f.layer->decode(f.d, &f.funcs[rec_call(&f)->func], exact, &f.view);
		assert_true(!f.view.nposts || f.view.posts->bytes == BYTES_UNKNOWN);
		free(exact);
	}
}

/* ---- the table against the installed library ---- */

#define LIBRARIES "/usr/lib/x86_64-linux-gnu/"
#define LIBUCT LIBRARIES "libuct.so.0"
#define MODULE LIBRARIES "ucx/libuct_ib.so.0"
#define MLX5_MODULE LIBRARIES "ucx/libuct_ib_mlx5.so.0" /* part of the other one before UCX 1.17 */

/* What rc_mlx5 shares is called uct_rc_mlx5_base_ep_… since UCX 1.17. */
static const char *row_name(const char *symbol)
{
	static const char base[] = "uct_rc_mlx5_base_ep_";
	static char name[128];

	if (strncmp(symbol, base, sizeof(base) - 1))
		return symbol;
	snprintf(name, sizeof(name), "uct_rc_mlx5_ep_%s", symbol + sizeof(base) - 1);
	return name;
}

/* What it exports of these operations is in the table; how many. */
static size_t exports_check(const char *path)
{
	static const char *const operations[] = {"uct_*_ep_am_short",	"uct_*_ep_am_short_iov",
						 "uct_*_ep_am_bcopy",	"uct_*_ep_am_zcopy",
						 "uct_*_ep_put_[sbz]*", "uct_*_ep_get_[sbz]*copy",
						 "uct_*_ep_atomic*",	"uct_*_ep_tag_eager_*"};
	const struct elf_symbol *sym;
	struct elf_file *lib;
	size_t cnt, found = 0;

	if (elf_file_open(path, &lib))
		return 0;
	cnt = elf_file_symbols(lib, &sym);
	for (size_t i = 0; i < cnt; i++) {
		for (size_t o = 0; o < sizeof(operations) / sizeof(operations[0]); o++) {
			/* handlers and what does for several is not of the interface */
			if (!sym[i].is_func || fnmatch(operations[o], sym[i].name, 0) ||
			    strstr(sym[i].name, "handler") || !strncmp(sym[i].name, "uct_base_", 9))
				continue;
			if (func_table_find(row_name(sym[i].name)) < 0)
				fail_msg("bpf/uct.def lacks %s", sym[i].name);
			found++;
		}
	}
	elf_file_close(lib);
	return found;
}

static void test_exported(void **state)
{
	(void)state;
	if (!exports_check(LIBUCT) || !exports_check(MODULE)) {
		print_message("SKIP: no " LIBUCT " or " MODULE "\n");
		skip();
	}
	assert_true(exports_check(LIBUCT) > 20);
	assert_true(exports_check(MODULE) + exports_check(MLX5_MODULE) > 40);
}

/*
 * How far behind the first function of a transport's source file, which has a name, this address lies; before it, or where there is no such
 * file, it is very far. What is compiled from a file stays together.
 */
static uint64_t distance(const struct elf_file *lib, const char *transport, uint64_t addr)
{
	const struct elf_symbol *sym;
	char name[64];

	snprintf(name, sizeof(name), "uct_%s_ep_t_delete", transport);
	sym = elf_file_find(lib, name);
	return sym ? addr - sym->addr : UINT64_MAX;
}

/* The module that has a transport, or NULL. */
static struct elf_file *module_open(const char *transport)
{
	static const char *const modules[] = {MODULE, MLX5_MODULE};
	struct elf_file *lib;

	for (size_t i = 0; i < 2; i++) {
		if (elf_file_open(modules[i], &lib))
			continue;
		if (uct_ops_has(lib, transport))
			return lib;
		elf_file_close(lib);
	}
	return NULL;
}

/* Functions without a name are found for the transport that has them, each another one, and no others. */
static void test_unnamed(void **state)
{
	static const char *const transports[] = {"ud_verbs", "ud_mlx5"};
	static const char *const operations[] = {"put_short", "am_short", "am_short_iov",
						 "am_bcopy", "am_zcopy"};
	struct elf_symbol sym;
	struct elf_file *lib;
	uint64_t addr[5];

	(void)state;
	for (int t = 0; t < 2; t++) {
		lib = module_open(transports[t]);
		if (!lib) {
			print_message("SKIP: no " MODULE "\n");
			skip();
		}
		for (int o = 0; o < 5; o++) {
			assert_true(uct_ops_find(lib, transports[t], operations[o], &sym));
			for (int i = 0; i < o; i++)
				assert_int_not_equal(addr[i], sym.addr);
			assert_true(distance(lib, transports[t], sym.addr) <
				    distance(lib, transports[!t], sym.addr));
			addr[o] = sym.addr;
		}
		assert_false(uct_ops_find(lib, transports[t], "get_zcopy", &sym));
		assert_false(uct_ops_find(lib, "ud_none", "am_bcopy", &sym));
		assert_false(uct_ops_find(lib, "rc_verbs", "am_bcopy", &sym)); /* it has a name */
		elf_file_close(lib);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bcopy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_zcopy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tag_and_atomic, setup, teardown),
		cmocka_unit_test_setup_teardown(test_steps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_endpoints, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test(test_exported),
		cmocka_unit_test(test_unnamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
