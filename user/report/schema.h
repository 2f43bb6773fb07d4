/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints the JSON Schemas of what the report, --scaling and diff write as JSON. */
#ifndef POV_REPORT_SCHEMA_H
#define POV_REPORT_SCHEMA_H

#include <stdio.h>

/* A row of members.tsv. */
struct schema_row {
	const char *name, *type, *text;
};

/* The Makefile generates these from members.tsv. A row without a name is the last one. */
extern const struct schema_row schema_rows[];

/*
 * Prints the schema of an object of members.tsv: "report", "scaling" or "diff". Returns 0, or
 * -errno if it could not be written (printed).
 */
int schema_print(const char *object, FILE *out);

#endif
