/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "layer_fixture.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/log.h"
#include "layers/func_table.h"

void fixture_init_layer(struct fixture *f, const struct layer *layer)
{
	json_t *table = func_table_to_json(layer), *row;
	struct func_info *info;
	size_t i, id;

	memset(f, 0, sizeof(*f));
	f->layer = layer;
	f->now = 1000000;
	f->funcs = xcalloc(func_table_count(), sizeof(*f->funcs));
	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		id = json_integer_value(json_object_get(row, "id"));
		info = &f->funcs[id];
		info->id = id;
		info->name = func_table_get(id)->name;
		info->group = func_table_get(id)->group;
		info->layer = layer;
		assert_int_equal(layer_func_parse(layer, row, info), 0);
		f->cnt = id + 1;
	}
	json_decref(table);
	f->d = layer_decoder_new(layer);
}

const char *const fixture_openmpi[2] = {
	"{\"type\":\"library\",\"id\":3,\"flavour\":\"openmpi\","
	"\"layout\":{\"handle_bytes\":8,\"status_bytes\":24},\"named\":["
	"[\"MPI_COMM_WORLD\",\"0x1000\",0],[\"MPI_COMM_SELF\",\"0x1100\",0],"
	"[\"MPI_COMM_NULL\",\"0x1200\",0],[\"MPI_REQUEST_NULL\",\"0x1300\",0],"
	"[\"ompi_request_empty\",\"0x1380\",0],[\"MPI_DATATYPE_NULL\",\"0x1400\",0],"
	"[\"MPI_INT\",\"0x2000\",4],[\"MPI_DOUBLE\",\"0x2100\",8],[\"MPI_BYTE\",8704,1],"
	"[\"MPI_SUM\",\"0x3000\",0]]}",
	"{\"type\":\"process\",\"ts_ns\":500,\"pid\":100,\"rank\":1,\"size\":4,"
	"\"exe\":\"/bin/app\",\"libs\":[{\"id\":3,\"bias\":\"0x7f0000000000\"}],"
	"\"copied\":[[\"MPI_DOUBLE\",\"0x404040\"]]}",
};

const char *const fixture_mpich[2] = {
	"{\"type\":\"library\",\"id\":3,\"flavour\":\"mpich\","
	"\"layout\":{\"handle_bytes\":4,\"status_bytes\":20},\"named\":["
	"[\"MPI_COMM_WORLD\",\"0x44000000\",0],[\"MPI_COMM_SELF\",\"0x44000001\",0],"
	"[\"MPI_INT\",\"0x4c000405\",4],[\"MPI_DOUBLE\",\"0x4c00080b\",8],"
	"[\"MPI_FLOAT_INT\",\"0x8c000000\",8],[\"MPI_SUM\",\"0x58000003\",0]]}",
	"{\"type\":\"process\",\"ts_ns\":500,\"pid\":100,\"rank\":1,\"size\":4,"
	"\"libs\":[{\"id\":3,\"bias\":\"0x7f0000000000\"}]}",
};

void fixture_release(struct fixture *f)
{
	layer_decoder_free(f->layer, f->d);
	for (size_t i = 0; i < f->cnt; i++)
		if (f->funcs[i].layer)
			layer_func_release(&f->funcs[i]);
	free(f->funcs);
}
