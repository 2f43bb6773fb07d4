/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Fuzzes the readers of povtrace fabric and the output made from what they read. One input has all
 * files, each ended by a line "%%": topology, tables, hosts, CSV, matrix.
 */
#include "lib/log.h"
#include "fabric/fabric.h"
#include "fabric/load.h"
#include "fabric/traffic.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct rest {
	const uint8_t *at;
	size_t len;
};

/* Opens the next file of the input. */
static FILE *part(struct rest *r)
{
	static const char end[] = "%%\n";
	const uint8_t *to = r->len ? memmem(r->at, r->len, end, sizeof(end) - 1) : NULL;
	size_t len = to ? (size_t)(to - r->at) : r->len;
	FILE *in = len ? fmemopen((void *)r->at, len, "r") : fopen("/dev/null", "r");

	len += to ? sizeof(end) - 1 : 0;
	r->at += len;
	r->len -= len;
	return in;
}

static void load(const struct fabric *f, struct rest *r)
{
	const struct fabric_shown how = {.only = FABRIC_NONE};
	struct fabric_hosts hosts;
	struct fabric_load l;
	FILE *in = part(r), *out;
	int err = fabric_hosts_read(&hosts, f, in, "hosts");

	fclose(in);
	fabric_load_begin(&l, f);
	in = part(r);
	if (!err)
		err = fabric_traffic_read_csv(&l, &hosts, FABRIC_BY_FUNCTION, in, "csv");
	fclose(in);
	in = part(r);
	if (!err)
		fabric_traffic_read_matrix(&l, &hosts, "matrix", in, "matrix");
	fclose(in);
	fabric_load_finish(&l);
	out = fopen("/dev/null", "w");
	fabric_print_text(&l, &how, out);
	fabric_print_json(&l, &how, out);
	fabric_print_csv(&l, &how, out);
	fclose(out);
	fabric_load_release(&l);
	fabric_hosts_release(&hosts);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rest r = {bytes, len};
	struct fabric_build b = {0};
	struct fabric f;
	FILE *in = part(&r);
	int err;

	log_set_level(LOG_QUIET);
	err = fabric_read_topology(&b, in, "topology");
	fclose(in);
	if (err)
		fabric_build_release(&b);
	else
		err = fabric_build_finish(&b, &f);
	if (err)
		return 0;
	in = part(&r);
	err = fabric_read_tables(&f, in, "tables");
	fclose(in);
	if (!err)
		load(&f, &r);
	fabric_release(&f);
	return 0;
}
