/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Look-up in the kernel's types, on types that libbpf wrote, and on damaged files. */
#include <bpf/btf.h>

#include "unit/test.h"
#include "target/features.h"
#include "unit/trace_help.h"

static int func, tracepoint;

/* Adds one type of each kind, so that a search has to skip all of them. */
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

static int make(void **state)
{
	struct btf *btf = btf__new_empty();
	const void *data;
	uint32_t bytes;
	int proto;

	kinds_add(btf);
	proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "ctx", 1);
	btf__add_func_param(btf, "b", 1);
	btf__add_func_param(btf, "c", 1);
	tracepoint = btf__add_typedef(btf, "btf_trace_x", btf__add_ptr(btf, proto));
	btf__add_typedef(btf, "mapped", 1);
	func = btf__add_func(btf, "mapped", BTF_FUNC_GLOBAL, proto);
	data = btf__raw_data(btf, &bytes);
	file_store(temp_path("types"), data, bytes);
	btf__free(btf);
	return 0;
}

TEST(look_up)
{
	struct kernel_types t;

	assert_int_equal(kernel_types_open(temp_path("types"), &t), 0);
	assert_int_equal(kernel_types_find(&t, "int", BTF_KIND_INT), 1);
	assert_int_equal(kernel_types_find(&t, "mapped", BTF_KIND_FUNC), func);
	assert_int_equal(kernel_types_find(&t, "btf_trace_x", BTF_KIND_TYPEDEF), tracepoint);
	assert_true(kernel_types_find(&t, "mapped", BTF_KIND_VAR) < 0);
	assert_true(kernel_types_find(&t, "mappe", BTF_KIND_FUNC) < 0);
	assert_true(kernel_types_find(&t, "apped", BTF_KIND_FUNC) < 0);
	assert_true(kernel_types_find(&t, "", BTF_KIND_PTR) < 0);
	assert_int_equal(kernel_types_params(&t, "btf_trace_x"), 3);
	assert_true(kernel_types_params(&t, "btf_trace_y") < 0);
	assert_true(kernel_types_params(&t, "mapped") < 0); /* a typedef of an int */
	kernel_types_close(&t);
}

TEST(damaged)
{
	struct kernel_types t;
	uint8_t *data;
	size_t bytes;

	file_load(temp_path("types"), &data, &bytes);
	assert_true(kernel_types_open("/nonexistent", &t) < 0);
	for (size_t n = 0; n < bytes; n++) { /* cut */
		file_store(temp_path("damaged"), data, n);
		assert_true(kernel_types_open(temp_path("damaged"), &t) < 0);
	}
	/* each byte damaged: any result, but no read out of bounds */
	for (size_t i = 0; i < bytes; i++) {
		data[i] ^= 0xff;
		file_store(temp_path("damaged"), data, bytes);
		data[i] ^= 0xff;
		if (kernel_types_open(temp_path("damaged"), &t))
			continue;
		kernel_types_find(&t, "mapped", BTF_KIND_FUNC);
		kernel_types_params(&t, "btf_trace_x");
		kernel_types_close(&t);
	}
	free(data);
}

ALL_TESTS(make, NULL);
