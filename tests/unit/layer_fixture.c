/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "layer_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
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

void fixture_init(struct fixture *f, const char *const library[2])
{
	fixture_init_layer(f, &layer_mpi);
	for (int i = 0; i < 2; i++) {
		json_t *m = json_loads(library[i], 0, NULL);

		layer_decoder_meta(f->layer, f->d, m);
		json_decref(m); /* the decoder keeps what it needs */
	}
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

int fixture_teardown(void **state)
{
	fixture_release(*state);
	return 0;
}

struct fixture fx;

int fixture_setup_openmpi(void **state)
{
	*state = &fx;
	fixture_init(&fx, fixture_openmpi);
	return 0;
}

struct pov_call *rec_call(struct fixture *f)
{
	return (struct pov_call *)f->rec;
}

void rec_begin(struct fixture *f, const char *func, uint32_t ret, uint32_t n, ...)
{
	struct pov_call *c = rec_call(f);
	int id = func_table_find(func);
	va_list ap;

	assert_true(id >= 0);
	memset(f->rec, 0, sizeof(f->rec));
	f->now += 1000;
	c->hdr = (struct pov_hdr){.kind = POV_KIND_CALL, .tid = 101, .ts_ns = f->now};
	c->hdr.size = sizeof(*c) + 8 * n;
	c->dur_ns = 700;
	c->tgid = FIXTURE_PID;
	c->func = id;
	c->nargs = n;
	c->lib = FIXTURE_LIB;
	c->ret = 0xdead00000000ull | ret; /* the upper half is ignored */
	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		c->args[i] = va_arg(ap, uint64_t);
	va_end(ap);
}

void rec_field(struct fixture *f, uint8_t type, uint8_t arg, uint32_t cnt, const void *data,
	       size_t bytes)
{
	struct pov_field head = {.type = type, .arg = arg, .size = bytes, .cnt = cnt};
	struct pov_call *c = rec_call(f);

	assert_true(c->hdr.size + sizeof(head) + bytes + 8 < sizeof(f->rec));
	memcpy(f->rec + c->hdr.size, &head, sizeof(head));
	if (bytes)
		memcpy(f->rec + c->hdr.size + sizeof(head), data, bytes);
	c->hdr.size += sizeof(head) + ((bytes + 7) & ~(size_t)7);
}

void rec_u64(struct fixture *f, uint8_t type, uint8_t arg, uint32_t cnt, uint64_t v)
{
	rec_field(f, type, arg, cnt, &v, sizeof(v));
}

void rec_more(struct fixture *f, uint8_t type, uint8_t arg, uint32_t first, const void *data,
	      size_t bytes)
{
	_Alignas(8) uint8_t buf[sizeof(struct pov_more) + POV_MORE_BYTES] = {0};
	struct pov_more *m = (struct pov_more *)buf;
	const struct pov_call *c = rec_call(f);

	assert_true(bytes <= POV_MORE_BYTES);
	m->hdr = c->hdr;
	m->hdr.kind = POV_KIND_MORE;
	m->hdr.size = sizeof(*m) + ((bytes + 7) & ~(size_t)7);
	m->begin_ns = c->hdr.ts_ns - c->dur_ns;
	m->first = first;
	m->size = bytes;
	m->type = type;
	m->arg = arg;
	memcpy(m->data, data, bytes);
	layer_decoder_more(f->layer, f->d, m);
	rec_call(f)->hdr.flags |= POV_CALL_MORE;
}

void rec_decode(struct fixture *f)
{
	const struct pov_call *c = rec_call(f);

	memset(&f->view, 0xa5, sizeof(f->view)); /* decoding must not read old contents */
	f->view.roles_only = false;
	layer_decode(f->layer, f->d, &f->funcs[c->func], c, &f->view);
}

const struct call_value *value_find(const struct fixture *f, const char *name)
{
	for (uint32_t i = 0; i < f->view.nvalues; i++)
		if (!strcmp(f->view.values[i].name, name))
			return &f->view.values[i];
	return NULL;
}
