/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What is taken of an environment: what sets MPI and threads, within bounds, and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "attach/proc_settings.h"
#include "base/log.h"

static void settings_are(const char *env, size_t bytes, const char *wanted, unsigned int wanted_out)
{
	unsigned int left_out = 77;
	json_t *o = proc_settings_of(env, bytes, &left_out);
	char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);

	assert_string_equal(text, wanted);
	assert_int_equal(left_out, wanted_out);
	free(text);
	json_decref(o);
}

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
	static const char not_utf8[] = "UCX_A=\xff\0UCX_B=\xc3\xa4";

	settings_are(
		env, sizeof(env) - 1,
		"{\"FI_PROVIDER\":\"tcp=x\",\"MKL_NUM_THREADS\":\"4\",\"OMPI_MCA_btl\":\"self,tcp\","
		"\"OMP_NUM_THREADS\":\"2,3\",\"UCX_TLS\":\"\"}",
		0);
	settings_are(not_utf8, sizeof(not_utf8), "{\"UCX_B\":\"\xc3\xa4\"}", 1);
	settings_are("", 0, "{}", 0);
}

/* n variables of bytes each. */
static void fill(unsigned int n, size_t bytes, unsigned int kept, unsigned int left_out_wanted)
{
	char *env = xcalloc(n, bytes + 16), *p = env;
	unsigned int left_out;
	json_t *o;

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
	const unsigned int most = SETTINGS_BYTES_MAX / (SETTING_VALUE_BYTES_MAX + 8);

	fill(SETTINGS_MAX, 1, SETTINGS_MAX, 0);
	fill(SETTINGS_MAX + 3, 1, SETTINGS_MAX, 3);
	fill(1, SETTING_VALUE_BYTES_MAX, 1, 0);
	fill(2, SETTING_VALUE_BYTES_MAX + 1, 0, 2);
	fill(20, SETTING_VALUE_BYTES_MAX, most, 20 - most);
}
