/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The UCT layer: records put together as the kernel half writes them become the right posts, damaged ones none, and the table has
 * what the installed library exports.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/uct_ops.h"
#include "layer/func_table.h"
#include "layer/uct_address.h"
#include "layer_fixture.h"

#define NO_RESOURCE 0xfe /* UCS_ERR_NO_RESOURCE, -2, as one byte */
#define IN_PROGRESS 1

static struct fixture f;

static int setup(void **state)
{
	*state = &f;
	fixture_init_layer(&f, &layer_uct);
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

TEST_WITH(short, setup, fixture_teardown)
{
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

TEST_WITH(bcopy, setup, fixture_teardown)
{
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

TEST_WITH(zcopy, setup, fixture_teardown)
{
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

TEST_WITH(tag_and_atomic, setup, fixture_teardown)
{
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
TEST_WITH(steps, setup, fixture_teardown)
{
	static const enum post_step steps[] = {
		[2] = STEP_EAGER, [3] = STEP_EAGER, [4] = STEP_EAGER, [8] = STEP_FIN,
		[9] = STEP_RTS,	  [10] = STEP_FIN,  [11] = STEP_RTR,  [12] = STEP_DATA,
		[16] = STEP_FIN,  [23] = STEP_EAGER};

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

/* ---- endpoints ---- */

#define MD 1ull
#define PARAMS 0x7000ull
#define OPENS_DEVICE 1ull
#define HAS_IFACE 1ull
#define HAS_ADDRESSES 12ull

static void iface_open(uint32_t tgid, uint64_t iface, const char *transport, const char *device,
		       uint64_t ret)
{
	char transport_field[16] = "", device_field[32] = ""; /* cut, and then without an end */

	memcpy(transport_field, transport, strnlen(transport, sizeof(transport_field)));
	memcpy(device_field, device, strnlen(device, sizeof(device_field)));
	rec_begin(&f, "uct_iface_open", 0, 5, MD, 2ull, PARAMS, 3ull, 4ull);
	rec_call(&f)->tgid = tgid;
	rec_u64(&f, POV_FIELD_IN, 2, 1, OPENS_DEVICE);
	rec_u64(&f, POV_FIELD_OUT, 4, 1, iface);
	rec_field(&f, POV_FIELD_MEMBER, 2, 144, transport_field, sizeof(transport_field));
	rec_field(&f, POV_FIELD_MEMBER, 2, 152, device_field, sizeof(device_field));
	returned(ret);
	assert_int_equal(f.view.nposts, 0);
}

/* addresses: NULL if it is connected later */
static void ep_create(uint32_t tgid, uint64_t iface, uint64_t ep, const uint8_t device[24],
		      const uint8_t address[16])
{
	uint64_t params[2] = {HAS_IFACE | (address ? HAS_ADDRESSES : 0), iface};

	rec_begin(&f, "uct_ep_create", 0, 2, PARAMS, 2ull);
	rec_call(&f)->tgid = tgid;
	rec_field(&f, POV_FIELD_IN, 0, 1, params, sizeof(params));
	rec_u64(&f, POV_FIELD_OUT, 1, 1, ep);
	if (address) {
		rec_field(&f, POV_FIELD_MEMBER, 0, 24, device, 24);
		rec_field(&f, POV_FIELD_MEMBER, 0, 32, address, 16);
	}
	returned(0);
	assert_int_equal(f.view.nposts, 0);
}

/* A call that tells addresses of its first argument: NULL for those that it does not tell. */
static void told(const char *function, uint64_t object, const uint8_t device[24],
		 const uint8_t address[16])
{
	uint8_t arg = 1;

	rec_begin(&f, function, 0, device && address ? 3 : 2, object, 2ull, 3ull);
	rec_call(&f)->tgid = 7;
	if (device)
		rec_field(&f, POV_FIELD_OUT, arg++, 1, device, 24);
	if (address)
		rec_field(&f, POV_FIELD_OUT, arg, 1, address, 16);
	returned(0);
}

static const struct call_post *put_by(uint32_t tgid, uint64_t ep)
{
	rec_begin(&f, "uct_sm_ep_put_short", 0, 5, ep, 1ull, 64ull, 2ull, 3ull);
	rec_call(&f)->tgid = tgid;
	returned(0);
	return post();
}

/* What shares its functions with others is told by its endpoint, in each process. */
TEST_WITH(endpoints, setup, fixture_teardown)
{
	assert_string_equal(put_by(7, 0xe0)->transport, "sm");
	assert_int_equal(put_by(7, 0xe0)->carrier, CARRIER_UNKNOWN);
	iface_open(7, 0x10, "posix", "memory", 0);
	ep_create(7, 0x10, 0xe0, NULL, NULL);
	assert_string_equal(put_by(7, 0xe0)->transport, "posix");
	assert_string_equal(put_by(7, 0xe0)->device, "memory");
	assert_int_equal(put_by(7, 0xe0)->carrier, CARRIER_SHM);
	assert_null(put_by(7, 0xe0)->local_end);
	assert_null(put_by(7, 0xe0)->remote_end);
	assert_int_equal(put_by(8, 0xe0)->carrier, CARRIER_UNKNOWN);
	assert_int_equal(put_by(7, 0xf0)->carrier, CARRIER_UNKNOWN);
	iface_open(7, 0x10, "self", "memory", 0xfc); /* an error */
	assert_string_equal(put_by(7, 0xe0)->transport, "posix");
	iface_open(7, 0x20, "self", "memory", 0);
	ep_create(7, 0x20, 0xe0, NULL, NULL); /* its memory is used again */
	assert_string_equal(put_by(7, 0xe0)->transport, "self");
	assert_int_equal(put_by(7, 0xe0)->carrier, CARRIER_UNKNOWN);

	rec_begin(&f, "uct_ep_destroy", 0, 1, 0xe0ull);
	rec_call(&f)->tgid = 7;
	returned(0xfffffffffffffff0); /* it returns nothing */
	assert_string_equal(put_by(7, 0xe0)->transport, "sm");
	ep_create(7, 0x20, 0xe0, NULL, NULL);
	rec_begin(&f, "uct_iface_close", 0, 1, 0x20ull);
	rec_call(&f)->tgid = 7;
	returned(0);
	assert_string_equal(put_by(7, 0xe0)->transport, "sm");
}

/* Both sides make the same text of an address, on which they have it from each other. */
TEST_WITH(ends, setup, fixture_teardown)
{
	static const uint8_t device[24], within[24] = {[7] = 0x80, 3, 1},
					 own[16] = {0x11, 0x22, [7] = 0x80, 1, 2},
					 other[16] = {0x33, [8] = 9};
	const struct call_post *p;

	iface_open(7, 0x10, "sysv", "memory", 0);
	told("uct_iface_get_device_address", 0x10, device, NULL);
	assert_int_equal(f.view.nposts, 0);
	told("uct_iface_get_address", 0x10, NULL, own);
	assert_int_equal(post()->kind, POST_OTHER);
	assert_int_equal(post()->carrier, CARRIER_SHM);
	assert_string_equal(post()->local_end, "sysv 0x8000000000002211");
	ep_create(7, 0x10, 0xe0, device, other);
	p = put_by(7, 0xe0);
	assert_string_equal(p->local_end, "sysv 0x8000000000002211");
	assert_string_equal(p->remote_end, "sysv 0x33");
	assert_null(p->dest);
	/* another interface of the device need not be asked for that, whether it is there already or not */
	iface_open(7, 0x20, "posix", "memory", 0);
	told("uct_iface_get_address", 0x20, NULL, other);
	assert_string_equal(post()->local_end, "posix 0x33");
	told("uct_iface_get_device_address", 0x10, within, NULL);
	told("uct_iface_get_address", 0x20, NULL, other);
	assert_string_equal(post()->local_end, "posix 0x33 in namespace 259");
	/* an interface within the process has no such address: what is there is something else */
	iface_open(7, 0x30, "self", "memory", 0);
	told("uct_iface_get_device_address", 0x30, device, NULL);
	told("uct_iface_get_address", 0x20, NULL, other);
	assert_string_equal(post()->local_end, "posix 0x33 in namespace 259");
	/* of one that is not known nothing is */
	told("uct_iface_get_address", 0x90, NULL, own);
	assert_int_equal(f.view.nposts, 0);
}

/* Endpoints that are connected to endpoints have addresses of their own. */
TEST_WITH(connected, setup, fixture_teardown)
{
	static const uint8_t own_device[24] = {0, 7}, own[16] = {0x51},
			     other_device[24] = {0, 9, 1}, other[16] = {0x52, 1};
	const struct call_post *p;

	iface_open(7, 0x10, "rc_mlx5", "mlx5_0:1", 0);
	ep_create(7, 0x10, 0xe0, NULL, NULL);
	told("uct_iface_get_device_address", 0x10, own_device, NULL);
	told("uct_iface_get_address", 0x10, NULL, other); /* says another thing */
	assert_int_equal(f.view.nposts, 0);
	assert_null(put_by(7, 0xe0)->local_end);
	told("uct_ep_get_address", 0xe0, NULL, own);
	assert_int_equal(f.view.nposts, 0);
	told("uct_ep_connect_to_ep_v2", 0xe0, other_device, other);
	p = put_by(7, 0xe0);
	assert_string_equal(p->device, "mlx5_0:1");
	assert_string_equal(p->local_end, "lid 7 qp 81");
	assert_string_equal(p->remote_end, "lid 265 qp 338");
	assert_string_equal(p->dest, "lid 265");
	assert_int_equal(p->carrier, CARRIER_NIC);
	/* a stand-in that UCP has made itself */
	told("uct_ep_connect_to_ep", 0x90, other_device, other);
	assert_null(put_by(7, 0x90)->remote_end);
}

static void end_is(const char *transport, const uint8_t device[24], const uint8_t address[16],
		   uint32_t host, const char *end, const char *dest)
{
	struct uct_end e;

	uct_end_make(transport, device, address, host, &e);
	assert_string_equal(e.end, end);
	assert_string_equal(e.dest, dest);
}

TEST(addresses)
{
	static const uint8_t here[24] = {0xff, [7] = 0x7f, 0xff},
			     within[24] = {0xff, [7] = 0x80, 3, 1}, number[16] = {1, 2},
			     pid[16] = {0x39, 0x30}, pid_within[16] = {7, 0, 0, 0x80, 5, 1},
			     tcp4[24] = {0, 2, 10, 0, 0, 2}, tcp4_default[24] = {2, 2, 10, 0, 0, 2},
			     tcp6[24] = {0, 10, 0xfe, 0x80, [17] = 1},
			     loopback[24] = {1, 2, 0xff, 0xff, 0xff},
			     loopback_within[24] = {1, 2, [9] = 0x80, 3, 1},
			     loopback6[24] = {1, 10, 0xff, 0xff, 0xff}, old_tcp[24] = {10, 0, 0, 2},
			     port[16] = {0x12, 0x67, 0xff, 0xff}, qp[16] = {0x51, 2, 1, 0xff},
			     flags_qp[16] = {1, 0x51, 2, 1},
			     roce[24] = {0x28, [11] = 0xff, 0xff, 10, 0, 2, 15};

	end_is("posix", here, number, 0, "posix 0x201", "");
	end_is("posix", here, number, 2, "posix 0x201 on host 2", "");
	end_is("posix", within, number, 0, "posix 0x201 in namespace 259", "");
	end_is("posix", here, NULL, 0, "", "");
	end_is("posix", NULL, number, 0, "", "");
	end_is("self", NULL, number, 0, "self 0x201", "");
	end_is("cma", NULL, pid, 0, "pid 12345", "pid 12345");
	end_is("cma", NULL, pid, 1, "pid 12345 on host 1", "pid 12345 on host 1");
	end_is("cma", NULL, pid_within, 0, "pid 7 in namespace 261", "pid 7 in namespace 261");
	end_is("tcp", tcp4, port, 1, "10.0.0.2:4711", "10.0.0.2");
	end_is("tcp", tcp4_default, port, 0, "10.0.0.2:4711", "10.0.0.2");
	end_is("tcp", tcp6, port, 0, "[fe80::1]:4711", "fe80::1");
	end_is("tcp", loopback, port, 0, "127.0.0.1:4711", "127.0.0.1");
	end_is("tcp", loopback6, port, 3, "[::1]:4711 on host 3", "::1 on host 3");
	end_is("tcp", loopback_within, port, 0, "127.0.0.1:4711 in namespace 259", "127.0.0.1");
	end_is("tcp", old_tcp, port, 0, "", "");
	end_is("tcp", NULL, port, 0, "", "");
	end_is("ud_mlx5", roce, qp, 1, "10.0.2.15 qp 66129", "10.0.2.15");
	end_is("rc_verbs", roce, flags_qp, 0, "10.0.2.15 qp 66129", "10.0.2.15");
	end_is("ud_mlx5", NULL, qp, 0, "", "");
	end_is("knem", tcp4, number, 0, "", "");
}

/* A struct's member that its mask does not name means nothing. */
TEST_WITH(masks, setup, fixture_teardown)
{
	static const uint8_t address[16] = {1};
	uint64_t params[2] = {HAS_IFACE, 0x10};

	iface_open(7, 0x10, "posix", "memory", 0);
	rec_begin(&f, "uct_ep_create", 0, 2, PARAMS, 2ull);
	rec_call(&f)->tgid = 7;
	rec_field(&f, POV_FIELD_IN, 0, 1, params, sizeof(params));
	rec_u64(&f, POV_FIELD_OUT, 1, 1, 0xe0);
	rec_field(&f, POV_FIELD_MEMBER, 0, 32, address, sizeof(address));
	returned(0);
	assert_string_equal(put_by(7, 0xe0)->transport, "posix");
	assert_null(put_by(7, 0xe0)->remote_end);
	params[0] = 0;
	rec_begin(&f, "uct_ep_create", 0, 2, PARAMS, 2ull);
	rec_call(&f)->tgid = 7;
	rec_field(&f, POV_FIELD_IN, 0, 1, params, sizeof(params));
	rec_u64(&f, POV_FIELD_OUT, 1, 1, 0xf0);
	returned(0);
	assert_string_equal(put_by(7, 0xf0)->transport, "sm");
	/* an interface that listens has no device */
	rec_begin(&f, "uct_iface_open", 0, 5, MD, 2ull, PARAMS, 3ull, 4ull);
	rec_call(&f)->tgid = 7;
	rec_u64(&f, POV_FIELD_IN, 2, 1, 2);
	rec_u64(&f, POV_FIELD_OUT, 4, 1, 0x30);
	rec_field(&f, POV_FIELD_MEMBER, 2, 144, "posix\0\0\0\0\0\0\0\0\0\0", 16);
	returned(0);
	ep_create(7, 0x30, 0xf0, NULL, NULL);
	assert_string_equal(put_by(7, 0xf0)->transport, "sm");
}

/* Records cut at every length: nothing is read behind them. */
TEST_WITH(damaged, setup, fixture_teardown)
{
	uint16_t full;

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

TEST(exported)
{
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
TEST(unnamed)
{
	static const char *const transports[] = {"ud_verbs", "ud_mlx5"};
	static const char *const operations[] = {"put_short", "am_short", "am_short_iov",
						 "am_bcopy", "am_zcopy"};
	struct elf_symbol sym;
	struct elf_file *lib;
	uint64_t addr[5];

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
