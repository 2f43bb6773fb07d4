/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The look-up in the kernel's types, on types that libbpf wrote; and on damaged files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "unit/test.h"
#include "attach/kernel_types.h"

struct made {
	char path[64];
	int func, tracepoint;
};

/* One type of each kind, so that a search has to step over all. */
static void kinds_add(struct btf *btf)
{
	int i = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), s, proto;

	btf__add_float(btf, "double", 8);
	btf__add_array(btf, i, i, 7);
	s = btf__add_struct(btf, "pair", 8);
	btf__add_field(btf, "one", i, 0, 0);
	btf__add_field(btf, "two", i, 32, 0);
	btf__add_union(btf, "either", 4);
	btf__add_field(btf, "one", i, 0, 0);
	btf__add_enum(btf, "colour", 4);
	btf__add_enum_value(btf, "red", 1);
	btf__add_enum_value(btf, "blue", 2);
	btf__add_enum64(btf, "wide", 8, false);
	btf__add_enum64_value(btf, "much", 1ull << 40);
	btf__add_fwd(btf, "unknown", BTF_FWD_STRUCT);
	btf__add_volatile(btf, i);
	btf__add_const(btf, i);
	btf__add_restrict(btf, i);
	proto = btf__add_func_proto(btf, i);
	btf__add_func_param(btf, "a", i);
	btf__add_func(btf, "other", BTF_FUNC_STATIC, proto);
	i = btf__add_var(btf, "v", BTF_VAR_STATIC, i);
	btf__add_datasec(btf, ".data", 4);
	btf__add_datasec_var_info(btf, i, 0, 4);
	btf__add_decl_tag(btf, "tag", s, -1);
	btf__add_type_tag(btf, "tag", s);
}

static void made_write(const struct made *m, const void *data, size_t bytes)
{
	FILE *f = fopen(m->path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static int make(void **state)
{
	struct btf *btf = btf__new_empty();
	struct made *m = calloc(1, sizeof(*m));
	const void *data;
	uint32_t bytes;
	int proto, fd;

	snprintf(m->path, sizeof(m->path), "/tmp/pov_types_XXXXXX");
	fd = mkstemp(m->path);
	assert_true(fd >= 0);
	close(fd);
	kinds_add(btf);
	proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "ctx", 1);
	btf__add_func_param(btf, "b", 1);
	btf__add_func_param(btf, "c", 1);
	m->tracepoint = btf__add_typedef(btf, "btf_trace_x", btf__add_ptr(btf, proto));
	btf__add_typedef(btf, "mapped", 1);
	m->func = btf__add_func(btf, "mapped", BTF_FUNC_GLOBAL, proto);
	data = btf__raw_data(btf, &bytes);
	made_write(m, data, bytes);
	btf__free(btf);
	*state = m;
	return 0;
}

static int unmake(void **state)
{
	struct made *m = *state;

	unlink(m->path);
	free(m);
	return 0;
}

TEST(find)
{
	const struct made *m = *state;
	struct kernel_types t;

	assert_int_equal(kernel_types_open(m->path, &t), 0);
	assert_int_equal(kernel_types_find(&t, "int", BTF_KIND_INT), 1);
	assert_int_equal(kernel_types_find(&t, "mapped", BTF_KIND_FUNC), m->func);
	assert_int_equal(kernel_types_find(&t, "btf_trace_x", BTF_KIND_TYPEDEF), m->tracepoint);
	assert_true(kernel_types_find(&t, "mapped", BTF_KIND_VAR) < 0);
	assert_true(kernel_types_find(&t, "mappe", BTF_KIND_FUNC) < 0);
	assert_true(kernel_types_find(&t, "apped", BTF_KIND_FUNC) < 0);
	assert_true(kernel_types_find(&t, "", BTF_KIND_PTR) < 0);
	kernel_types_close(&t);
}

TEST(params)
{
	const struct made *m = *state;
	struct kernel_types t;

	assert_int_equal(kernel_types_open(m->path, &t), 0);
	assert_int_equal(kernel_types_params(&t, "btf_trace_x"), 3);
	assert_true(kernel_types_params(&t, "btf_trace_y") < 0);
	assert_true(kernel_types_params(&t, "mapped") < 0); /* a typedef of an int */
	kernel_types_close(&t);
}

TEST(damaged)
{
	const struct made *m = *state;
	uint8_t data[8192];
	struct kernel_types t;
	FILE *f = fopen(m->path, "r");
	size_t bytes = fread(data, 1, sizeof(data), f), whole = 0;

	fclose(f);
	assert_true(bytes > 0 && bytes < sizeof(data));
	assert_true(kernel_types_open("/nonexistent", &t) < 0);
	for (size_t n = 0; n < bytes; n++) { /* cut */
		made_write(m, data, n);
		whole += !kernel_types_open(m->path, &t);
	}
	assert_int_equal(whole, 0);
	for (size_t i = 0; i < bytes;
	     i++) { /* each byte damaged: found or not, but never read outside */
		data[i] ^= 0xff;
		made_write(m, data, bytes);
		data[i] ^= 0xff;
		if (kernel_types_open(m->path, &t))
			continue;
		kernel_types_find(&t, "mapped", BTF_KIND_FUNC);
		kernel_types_params(&t, "btf_trace_x");
		kernel_types_close(&t);
	}
}

EACH_TEST(make, unmake);
