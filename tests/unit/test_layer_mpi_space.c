/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What a process's handles mean: libraries, images, the standard's ABI, and rows that do not parse. */
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "layer_fixture.h"

#define OMPI(off) (OMPI_BIAS + (off))
#define JUNK 0xffff123400000000ull
#define CNT(a) (sizeof(a) / sizeof((a)[0]))

static void meta_add(const char *text)
{
	json_t *m = json_loads(text, 0, NULL);

	assert_non_null(m);
	layer_mpi.decoder_meta(fx.d, m);
	json_decref(m);
}

static void irecv(void)
{
	rec_begin(&fx, "MPI_Irecv", 0, 7, 1ull, 10ull, OMPI(0x2000), 2ull, 5ull, OMPI(0x1000),
		  0x5000ull);
	rec_u64(&fx, POV_FIELD_OUT, 6, 1, 0xa000);
	rec_decode(&fx);
}

/* A library nobody described: numbers as they are, and no meaning made up for them. */
TEST(unknown_library)
{
	fixture_init(&fx, NULL, NULL);
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, 10ull, 0x4c000405ull, JUNK | (uint32_t)-1, 5ull,
		  0x44000000ull, 0x1234ull);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "source"), -1);
	assert_int_equal(value_hex(&fx, "dtype"), 0x4c000405);
	assert_null(value_find(&fx, "bytes"));
	assert_false(fx.view.roles.has_peer);
	assert_true(fx.view.roles.recv_bytes == BYTES_UNKNOWN);
	fixture_release(&fx);
}

/* Another program in the same process: what was learned of the first one's handles is void. */
TEST_WITH(exec, fixture_setup_openmpi, fixture_teardown)
{
	json_t *process = json_loads("{\"type\":\"process\",\"ts_ns\":\"2000000\",\"pid\":100,"
				     "\"rank\":0,\"size\":2,\"exe\":\"/bin/other\","
				     "\"libs\":[{\"id\":3,\"bias\":0}]}",
				     0, NULL);

	layer_mpi.decoder_meta(fx.d, process);
	json_decref(process);
	irecv();
	assert_string_equal(value_text(&fx, "comm"), "MPI_COMM_WORLD");
	fx.now = 3000000;
	irecv();
	assert_int_equal(value_find(&fx, "comm")->kind, VALUE_HEX);
	rec_begin(&fx, "MPI_Barrier", 0, 1, 0x1000ull);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "comm"), "MPI_COMM_WORLD");
}

TEST_WITH(spin_arg, fixture_setup_openmpi, fixture_teardown)
{
	static const struct {
		const char *func, *name;
	} rows[] = {
		{"MPI_Test", "req_address"},	   {"MPI_Testall", "reqs_address"},
		{"MPI_Request_get_status", "req"}, {"MPI_Iprobe", "comm"},
		{"MPI_Win_test", "win"},
	};

	for (size_t i = 0; i < CNT(rows); i++)
		for (size_t k = 0; k < fx.cnt; k++)
			if (!strcmp(fx.funcs[k].name, rows[i].func))
				assert_string_equal(layer_mpi.spin_arg_name(&fx.funcs[k]),
						    rows[i].name);
}

TEST(bad_rows)
{
	static const char *const rows[] = {
		"{}",
		"{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\"}",
		"{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"<\"}",
		"{\"name\":1,\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"\"}",
	};
	struct func_info f = {0};

	log_set_level(LOG_QUIET);
	for (size_t i = 0; i < CNT(rows); i++) {
		json_t *row = json_loads(rows[i], 0, NULL);

		assert_true(layer_mpi.func_parse(row, &f) < 0);
		json_decref(row);
	}
	log_set_level(LOG_WARN);
}

/* One more library was mapped: the same image, and what was learned stays. */
TEST_WITH(same_image, fixture_setup_openmpi, fixture_teardown)
{
	rec_begin(&fx, "MPI_Type_contiguous", 0, 3, 5ull, OMPI(0x2000), 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 2, 1, 0x555000);
	rec_decode(&fx);
	meta_add("{\"type\":\"process\",\"ts_ns\":1002000,\"pid\":100,\"rank\":0,\"size\":2,"
		 "\"exe\":\"/bin/app\",\"libs\":[{\"id\":3,\"bias\":\"0x7f0000000000\"},"
		 "{\"id\":4,\"bias\":0}]}");
	fx.now = 2000000;
	rec_begin(&fx, "MPI_Bcast", 0, 5, 1ull, 3ull, 0x555000ull, 0ull, OMPI(0x1000));
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dtype"), "contiguous(5) of MPI_INT");
	assert_int_equal(fx.view.roles.send_bytes, 60); /* the rank is 0 now */
}

TEST(mpi_abi)
{
	int32_t st[8] = {3, 42, 0, 9, 9, 9, 9, 9};

	fixture_init(&fx,
		     "{\"type\":\"library\",\"id\":3,\"flavour\":\"mpi-abi\",\"named\":["
		     "[\"MPI_COMM_WORLD\",257,0],[\"MPI_INT\",\"0x209\",4]]}",
		     "{\"type\":\"process\",\"ts_ns\":1,\"pid\":100,\"rank\":0,\"size\":2,"
		     "\"libs\":[{\"id\":3,\"bias\":\"0x7f0000000000\"}]}");
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, 10ull, 0x209ull, JUNK | (uint32_t)-1,
		  JUNK | (uint32_t)-2, 0x101ull, 0x10ull);
	rec_field(&fx, POV_FIELD_OUT, 6, 1, st, sizeof(st));
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "source"), "MPI_ANY_SOURCE");
	assert_string_equal(value_text(&fx, "tag"), "MPI_ANY_TAG");
	assert_string_equal(value_text(&fx, "comm"), "MPI_COMM_WORLD");
	assert_int_equal(value_int(&fx, "bytes"), 40);
	assert_int_equal(value_int(&fx, "status_source"), 3);
	assert_null(value_find(&fx, "status_bytes")); /* its place is not laid down */
	assert_int_equal(fx.view.roles.peer, 3);
	assert_int_equal(fx.view.roles.recv_bytes, 40);
	rec_begin(&fx, "MPI_Send", 15, 6, 1ull, 10ull, 0x258ull, JUNK | (uint32_t)-3, 1ull,
		  0x101ull);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dest"), "MPI_PROC_NULL");
	assert_string_equal(value_text(&fx, "error_class"), "MPI_ERR_TRUNCATE");
	rec_begin(&fx, "MPI_Bcast", 0, 5, 1ull, 10ull, 0x25aull, 0ull, 0x101ull);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "bytes"), 80);
	rec_begin(&fx, "MPI_Init_thread", 0, 4, 0ull, 0ull, 2048ull, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 3, 1, 5000);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "required"), "MPI_THREAD_SERIALIZED");
	assert_int_equal(value_int(&fx, "provided"), 5000);
	fixture_release(&fx);
}
