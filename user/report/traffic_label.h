/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Labels for the parts of the traffic, and its figures. */
#ifndef POV_REPORT_TRAFFIC_LABEL_H
#define POV_REPORT_TRAFFIC_LABEL_H

#include "report/section.h"

/* Returns the function with this id. */
const struct func_info *traffic_func(const struct report *r, uint32_t id);
/* Returns the interned text with this id; NULL: unknown. */
const char *traffic_text(const struct report *r, uint32_t id);

/* The returned text may contain text from the trace, not made printable. Caller frees. */
char *traffic_context(const struct report *r, const struct traffic_key *k);
char *traffic_destination(const struct report *r, const struct traffic_key *k);
char *traffic_transport(const struct report *r, const struct traffic_key *k);

extern const struct figure flow_figures[];     /* JSON: all members of a struct traffic_flow */
extern const struct figure received_figures[]; /* JSON: members of a struct traffic_received */

/* Losses that make sums of posts too low. They may also put a post into the wrong context's row. */
#define LOSS_OF_POSTS LOSS_OF_BYTES

/* Returns the groups of the processes shown, see traffic_by(). Caller frees. */
struct traffic_group *traffic_groups(const struct report *r, uint32_t by, uint32_t *n);
/* Like traffic_groups(), but omits groups without a post that moved data or arrived. */
struct traffic_group *traffic_groups_moving(const struct report *r, uint32_t by, uint32_t *n);

#endif
