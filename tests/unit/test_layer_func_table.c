/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Choosing functions: groups, globs, and refused choices. */
#include "unit/test.h"
#include "lib/option.h"
#include "layers/func_table.h"
#include "unit/layer_fixture.h"

#define ROWS_MAX 2048

static bool selected[ROWS_MAX], named[ROWS_MAX];

/* Takes the arguments of --mpi, --layers, -f and --no-functions. */
static int choose(const char *groups, const char *layer_names, const char *function,
		  const char *no_function)
{
	struct option_list f = {&function, 1}, no = {&no_function, 1};

	assert_true(func_table_count() <= ROWS_MAX);
	memset(selected, 0, sizeof(selected));
	return func_table_select(&(struct func_choice){.groups = groups,
						       .layers = layer_names,
						       .functions = function ? &f : NULL,
						       .no_functions = no_function ? &no : NULL},
				 selected, named);
}

static size_t cnt_of(const struct layer *layer)
{
	size_t n = 0;

	for (size_t i = 0; i < func_table_count(); i++)
		n += selected[i] && func_table_layer(i) == layer;
	return n;
}

/* Checks each function of a list: "MPI_A MPI_B". */
static void assert_each(const char *names, bool wanted, size_t row)
{
	char *list = xstrdup(names), *save = NULL;

	for (char *n = strtok_r(list, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
		int i = func_table_find(n);

		if (i < 0 || selected[i] != wanted)
			fail_msg("row %zu: %s is %s", row, n, wanted ? "left out" : "chosen");
	}
	free(list);
}

TEST(choices)
{
	static const struct {
		const char *groups, *layers, *function, *no_function, *chosen, *others;
	} rows[] = {
		{NULL, NULL, NULL, NULL,
		 "MPI_Send MPI_Init MPI_Iallreduce_c MPI_Type_vector MPI_Win_fence "
		 "MPI_File_write_at_all",
		 "MPI_Wtime MPI_Comm_rank MPI_Get_count MPI_Type_size MPI_Info_set "
		 "MPI_T_pvar_read ucp_tag_send_nbx"},
		{"local", NULL, NULL, NULL, "MPI_Comm_rank", "MPI_Comm_f2c MPI_Send"},
		{"all", NULL, NULL, NULL, "MPI_Comm_rank", "MPI_Comm_f2c"},
		{"all", NULL, "Comm_f2c", NULL, "MPI_Comm_f2c", ""},
		{"p2p, req", NULL, NULL, NULL, "MPI_Send MPI_Wait MPI_Get_count", "MPI_Bcast"},
		{"p2p,req,-local", NULL, NULL, NULL, "MPI_Wait", "MPI_Get_count"},
		{"-p2p,-io", NULL, NULL, NULL, "MPI_Bcast", "MPI_Send MPI_File_read"},
		{"all,-coll,coll", NULL, NULL, NULL, "MPI_Bcast", ""}, /* left to right */
		{NULL, NULL, "ialltoall*", NULL, "MPI_Ialltoallw_c", "MPI_Send"},
		{"coll", NULL, "MPI_Send", "*_c", "MPI_Send MPI_Bcast", "MPI_Bcast_c"},
		{NULL, NULL, NULL, "MPI_Send", "MPI_Recv", "MPI_Send"},
		{NULL, "ucp", NULL, NULL, "MPI_Send ucp_tag_send_nbx ucp_worker_progress",
		 "ucp_request_free"},
		{"p2p", " mpi, ucp", NULL, "ucp_worker_progress", "ucp_tag_send_nbx",
		 "MPI_Bcast ucp_worker_progress"},
		{NULL, NULL, "ucp_tag_*", NULL, "ucp_tag_recv_nb", "MPI_Send"},
		{NULL, "all", NULL, NULL, "MPI_Send ucp_tag_send_nbx post_send",
		 "MPI_Comm_rank ucp_request_free"},
		{"conv", NULL, NULL, NULL, "MPI_Comm_f2c", "MPI_Wtime MPI_Comm_rank MPI_Send"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(choose(rows[i].groups, rows[i].layers, rows[i].function,
					rows[i].no_function),
				 0);
		assert_each(rows[i].chosen, true, i);
		assert_each(rows[i].others, false, i);
	}
}

/* Brief calls are only counted unless their function was named. */
TEST(named)
{
	static const struct {
		const char *groups, *function;
		bool wanted;
	} rows[] = {
		{NULL, NULL, false},	      {"default", NULL, false},
		{"-coll", NULL, false},	      {"default,type", NULL, true},
		{"all", NULL, true},	      {"default", "Type_commit", true},
		{"type,default", NULL, true},
	};
	int commit = func_table_find("MPI_Type_commit");

	assert_true(commit >= 0 && func_table_is_brief((size_t)commit));
	assert_false(func_table_is_brief((size_t)func_table_find("MPI_Pack")));
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(choose(rows[i].groups, NULL, rows[i].function, NULL), 0);
		assert_true(selected[commit]);
		assert_int_equal(named[commit], rows[i].wanted);
	}
}

TEST(refused)
{
	static const char *const rows[][4] = {
		{"p2p,colls"},
		{"-"},
		{""},
		{"all,-all"},
		{"conv,-all"},
		{"conv,-local"},
		{"tag"},
		{NULL, NULL, "MPI_Sned"},
		{NULL, "ucp,ucx"},
		{"p2p", NULL, NULL, "*"},
		{NULL, NULL, NULL, "nothing*"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(choose(rows[i][0], rows[i][1], rows[i][2], rows[i][3]), -EINVAL);
		assert_int_equal(cnt_of(&layer_mpi) + cnt_of(&layer_ucp), 0);
	}
}

/* A merged poll names the handle that it waits for. */
TEST(spin_arg)
{
	static const char *const rows[][2] = {
		{"MPI_Test", "req_address"},	   {"MPI_Testall", "reqs_address"},
		{"MPI_Request_get_status", "req"}, {"MPI_Iprobe", "comm"},
		{"MPI_Win_test", "win"},
	};
	static struct fixture f;

	fixture_init_layer(&f, &layer_mpi);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int id = func_table_find(rows[i][0]);

		assert_string_equal(layer_mpi.spin_arg_name(&f.funcs[id]), rows[i][1]);
	}
	fixture_release(&f);
}

TEST(bad_rows)
{
	static const char *const rows[] = {
		"{}", "{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\"}",
		"{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"<\"}",
		"{\"name\":1,\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"\"}"};
	struct func_info f = {0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *row = json_loads(rows[i], 0, NULL);

		assert_true(layer_func_parse(&layer_mpi, row, &f) < 0);
		json_decref(row);
	}
}
