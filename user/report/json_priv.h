/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the parts of the JSON report share.
 */
#ifndef POV_REPORT_JSON_PRIV_H
#define POV_REPORT_JSON_PRIV_H

#include "base/json_out.h"
#include "report/report.h"

/* Of a moment: ns since the recording's start. */
uint64_t json_since_start(const struct report *r, uint64_t ts_ns);
/* A member whose value is the trace's own, handed through. */
void json_key_value(struct json_out *j, const char *key, const json_t *v);
/* null if not known. */
void json_known_ns(struct json_out *j, const char *key, bool known, uint64_t ns);

/* "incomplete": what records are missing of an object's figures; bits of analysis/loss.h. */
void json_incomplete(struct json_out *j, uint32_t lost);

void json_coverage(struct json_out *j, const struct report *r);

#endif
