/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What is taken of an environment: what sets MPI and threads, within bounds, and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "attach/proc_settings.h"
#include "base/json_get.h"

TEST(wanted)
{
	static const char env[] = "PATH=/bin\0"
				  "OMPI_MCA_btl=self,tcp\0"
				  "OMPI_MCA_orte_precondition_transports=67f4-39c8\0"
				  "UCX_TLS=\0"
				  "OMP_NUM_THREADS=2,3\0"
				  "AWS_SECRET_ACCESS_KEY=x\0"
				  "MKL_NUM_THREADS=4\0"
				  "OMP_ODD\0"
				  "FI_PROVIDER=tcp=x\0"
				  "MPIR_CVAR_CUT=1";
	unsigned int left_out;
	json_t *o = proc_settings_of(env, sizeof(env) - 1, &left_out);

	assert_int_equal(json_object_size(o), 5);
	assert_string_equal(json_get_text(o, "OMPI_MCA_btl"), "self,tcp");
	assert_string_equal(json_get_text(o, "OMP_NUM_THREADS"), "2,3");
	assert_string_equal(json_get_text(o, "FI_PROVIDER"), "tcp=x");
	assert_string_equal(json_get_text(o, "MKL_NUM_THREADS"), "4");
	assert_non_null(json_object_get(o, "UCX_TLS"));
	assert_int_equal(left_out, 0);
	json_decref(o);
}

/* n variables of bytes each. */
static void fill(unsigned int n, size_t bytes, unsigned int kept, unsigned int left_out_wanted)
{
	char *env = calloc(n, bytes + 16), *p = env;
	unsigned int left_out;
	json_t *o;

	assert_non_null(env);
	for (unsigned int i = 0; i < n; i++) {
		p += sprintf(p, "UCX_%04u=", i);
		memset(p, 'a', bytes);
		p += bytes + 1;
	}
	o = proc_settings_of(env, (size_t)(p - env), &left_out);
	assert_int_equal(json_object_size(o), kept);
	assert_int_equal(left_out, left_out_wanted);
	json_decref(o);
	free(env);
}

TEST(bounds)
{
	fill(SETTINGS_MAX, 1, SETTINGS_MAX, 0);
	fill(SETTINGS_MAX + 3, 1, SETTINGS_MAX, 3);
	fill(1, SETTING_VALUE_BYTES_MAX, 1, 0);
	fill(2, SETTING_VALUE_BYTES_MAX + 1, 0, 2);
	fill(20, SETTING_VALUE_BYTES_MAX, SETTINGS_BYTES_MAX / (SETTING_VALUE_BYTES_MAX + 8),
	     20 - SETTINGS_BYTES_MAX / (SETTING_VALUE_BYTES_MAX + 8));
}

TEST(not_utf8)
{
	static const char env[] = "UCX_A=\xff\0UCX_B=\xc3\xa4";
	unsigned int left_out;
	json_t *o = proc_settings_of(env, sizeof(env), &left_out);

	assert_int_equal(json_object_size(o), 1);
	assert_string_equal(json_get_text(o, "UCX_B"), "\xc3\xa4");
	assert_int_equal(left_out, 1);
	json_decref(o);
}

TEST(nothing)
{
	unsigned int left_out;
	json_t *o = proc_settings_of("", 0, &left_out);

	assert_int_equal(json_object_size(o), 0);
	assert_int_equal(left_out, 0);
	json_decref(o);
}
