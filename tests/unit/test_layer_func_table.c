/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Choosing functions: groups, globs, and what is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "base/option.h"
#include "layer/func_table.h"
#include "unit/layer_fixture.h"

#define ROWS_MAX 2048

static bool selected[ROWS_MAX];
static const char *layers_wanted;

static bool has(const char *name)
{
	int i = func_table_find(name);

	assert_true(i >= 0);
	return selected[i];
}

static size_t cnt(void)
{
	size_t n = 0;

	for (size_t i = 0; i < func_table_count(); i++)
		n += selected[i];
	return n;
}

static int choose(const char *groups, const char *function, const char *no_function)
{
	struct option_list f = {&function, 1}, no = {&no_function, 1};

	assert_true(func_table_count() <= ROWS_MAX);
	memset(selected, 0, sizeof(selected));
	return func_table_select(&(struct func_choice){.groups = groups,
						       .layers = layers_wanted,
						       .functions = function ? &f : NULL,
						       .no_functions = no_function ? &no : NULL},
				 selected);
}

TEST(default)
{
	size_t dflt, local;

	assert_int_equal(choose(NULL, NULL, NULL), 0);
	dflt = cnt();
	assert_true(has("MPI_Send") && has("MPI_Init") && has("MPI_Iallreduce_c") &&
		    has("MPI_Type_vector") && has("MPI_Win_fence") && has("MPI_File_write_at_all"));
	assert_false(has("MPI_Wtime") || has("MPI_Comm_rank") || has("MPI_Get_count") ||
		     has("MPI_Type_size") || has("MPI_Info_set") || has("MPI_T_pvar_read"));
	assert_int_equal(choose("default", NULL, NULL), 0);
	assert_int_equal(cnt(), dflt);
	assert_int_equal(choose("local", NULL, NULL), 0);
	local = cnt();
	assert_false(has("MPI_Comm_f2c"));
	assert_int_equal(choose("all", NULL, NULL), 0);
	assert_int_equal(cnt(), dflt + local);
	assert_false(has("MPI_Comm_f2c"));
	assert_int_equal(choose("all,conv", NULL, NULL), 0);
	assert_int_equal(cnt(), layer_mpi.row_cnt);
	assert_int_equal(choose("conv", NULL, NULL), 0);
	assert_int_equal(cnt(), layer_mpi.row_cnt - dflt - local);
	assert_int_equal(choose("all", "Comm_f2c", NULL), 0);
	assert_true(has("MPI_Comm_f2c"));
}

TEST(groups)
{
	assert_int_equal(choose("p2p, req", NULL, NULL), 0);
	assert_true(has("MPI_Send") && has("MPI_Wait") && has("MPI_Get_count"));
	assert_false(has("MPI_Bcast"));
	assert_int_equal(choose("p2p,req,-local", NULL, NULL), 0);
	assert_true(has("MPI_Wait"));
	assert_false(has("MPI_Get_count"));
	assert_int_equal(choose("-p2p,-io", NULL, NULL), 0);
	assert_true(has("MPI_Bcast"));
	assert_false(has("MPI_Send") || has("MPI_File_read"));
	assert_int_equal(choose("all,-coll,coll", NULL, NULL), 0); /* left to right */
	assert_true(has("MPI_Bcast"));
}

TEST(globs)
{
	assert_int_equal(choose(NULL, "MPI_Wtime", NULL), 0);
	assert_int_equal(cnt(), 1);
	assert_int_equal(choose(NULL, "ialltoall*", NULL), 0);
	assert_int_equal(cnt(), 6);
	assert_true(has("MPI_Ialltoallw_c"));
	assert_int_equal(choose("coll", "MPI_Send", "*_c"), 0);
	assert_true(has("MPI_Send") && has("MPI_Bcast"));
	assert_false(has("MPI_Bcast_c"));
	assert_int_equal(choose(NULL, NULL, "MPI_Send"), 0);
	assert_true(has("MPI_Recv"));
	assert_false(has("MPI_Send"));
}

static size_t cnt_of(const struct layer *layer)
{
	size_t n = 0;

	for (size_t i = 0; i < func_table_count(); i++)
		n += selected[i] && func_table_layer(i) == layer;
	return n;
}

/* Other layers are added to MPI's choice, whatever that is. */
TEST(layers)
{
	size_t mpi, ucp;

	assert_int_equal(choose(NULL, NULL, NULL), 0);
	mpi = cnt();
	assert_int_equal(cnt_of(&layer_ucp), 0);
	layers_wanted = "ucp";
	assert_int_equal(choose(NULL, NULL, NULL), 0);
	ucp = cnt_of(&layer_ucp);
	assert_int_equal(cnt_of(&layer_mpi), mpi);
	assert_true(ucp > 50 && ucp < layer_ucp.row_cnt);
	assert_true(has("ucp_tag_send_nbx") && has("ucp_worker_progress"));
	assert_false(has("ucp_request_free"));
	layers_wanted = "all";
	assert_int_equal(choose(NULL, NULL, NULL), 0);
	assert_int_equal(cnt_of(&layer_mpi), mpi);
	assert_int_equal(cnt_of(&layer_ucp), ucp);
	layers_wanted = " mpi, ucp";
	assert_int_equal(choose("p2p", NULL, "ucp_worker_progress"), 0);
	assert_int_equal(cnt_of(&layer_ucp), ucp - 1);
	assert_false(has("MPI_Bcast") || has("ucp_worker_progress"));
	layers_wanted = NULL;
	assert_int_equal(choose(NULL, "ucp_tag_*", NULL), 0);
	assert_int_equal(cnt_of(&layer_mpi), 0);
	assert_true(has("ucp_tag_recv_nb"));
	log_set_level(LOG_QUIET);
	layers_wanted = "ucp,ucx";
	assert_int_equal(choose(NULL, NULL, NULL), -EINVAL);
	layers_wanted = NULL;
	assert_int_equal(choose("tag", NULL, NULL), -EINVAL); /* no group of MPI's */
	log_set_level(LOG_WARN);
}

TEST(refused)
{
	log_set_level(LOG_QUIET);
	assert_int_equal(choose("p2p,colls", NULL, NULL), -EINVAL);
	assert_int_equal(choose("-", NULL, NULL), -EINVAL);
	assert_int_equal(choose("", NULL, NULL), -EINVAL);
	assert_int_equal(choose("all,-all", NULL, NULL), -EINVAL);
	assert_int_equal(choose("conv,-all", NULL, NULL), -EINVAL);
	assert_int_equal(choose("conv,-local", NULL, NULL), -EINVAL);
	assert_int_equal(choose(NULL, "MPI_Sned", NULL), -EINVAL);
	assert_int_equal(choose(NULL, NULL, "nothing*"), -EINVAL);
	assert_int_equal(choose("p2p", NULL, "*"), -EINVAL);
	assert_int_equal(cnt(), 0); /* written on success only */
	log_set_level(LOG_WARN);
}

TEST(json)
{
	json_t *table = func_table_to_json(&layer_mpi), *rows = json_object_get(table, "rows"),
	       *row;
	int i = func_table_find("MPI_Send");

	assert_string_equal(json_string_value(json_object_get(table, "type")), "functions");
	assert_int_equal(json_array_size(rows), layer_mpi.row_cnt);
	row = json_array_get(rows, i);
	assert_int_equal(json_integer_value(json_object_get(row, "id")), i);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "MPI_Send");
	assert_string_equal(json_string_value(json_object_get(row, "group")), "p2p");
	assert_string_equal(json_string_value(json_object_get(row, "attrs")), "WAIT");
	assert_string_equal(json_string_value(json_object_get(row, "sig")),
			    "buf count dtype dest tag comm");
	json_decref(table);
}

/* A merged poll names the handle that it waits for. */
TEST_WITH(spin_arg, fixture_setup_openmpi, fixture_teardown)
{
	static const struct {
		const char *func, *name;
	} rows[] = {
		{"MPI_Test", "req_address"},	   {"MPI_Testall", "reqs_address"},
		{"MPI_Request_get_status", "req"}, {"MPI_Iprobe", "comm"},
		{"MPI_Win_test", "win"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < fx.cnt; k++)
			if (!strcmp(fx.funcs[k].name, rows[i].func))
				assert_string_equal(layer_mpi.spin_arg_name(&fx.funcs[k]),
						    rows[i].name);
}

TEST(bad_rows)
{
	static const char *const rows[] = {
		"{}", "{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\"}",
		"{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"<\"}",
		"{\"name\":1,\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"\"}"};
	struct func_info f = {0};

	log_set_level(LOG_QUIET);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *row = json_loads(rows[i], 0, NULL);

		assert_true(layer_mpi.func_parse(row, &f) < 0);
		json_decref(row);
	}
	log_set_level(LOG_WARN);
}
