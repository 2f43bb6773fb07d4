/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* How the parts of the traffic are called, and its figures. */
#ifndef POV_REPORT_TRAFFIC_LABEL_H
#define POV_REPORT_TRAFFIC_LABEL_H

#include "report/section.h"

/* Of a function, by its id. */
const struct func_info *traffic_func(const struct report *r, uint32_t id);
/* What is known of the text with a number; NULL: nothing. */
const char *traffic_text(const struct report *r, uint32_t id);

/* Foreign text may be in them; caller frees. */
char *traffic_context(const struct report *r, const struct traffic_key *k);
char *traffic_destination(const struct report *r, const struct traffic_key *k);
char *traffic_transport(const struct report *r, const struct traffic_key *k);

extern const struct figure flow_figures[];     /* JSON: all of a struct traffic_flow */
extern const struct figure received_figures[]; /* of a struct traffic_received */

/* Losses that make sums of posts too low. After one, a post may also be in a wrong row of a context. */
#define LOSS_OF_POSTS LOSS_OF_BYTES

/* Largest first; the caller frees them. */
struct traffic_group *traffic_groups(const struct report *r, uint32_t by, uint32_t *n);
/* Without those of which all failed. */
struct traffic_group *traffic_groups_moving(const struct report *r, uint32_t by, uint32_t *n);

#endif
