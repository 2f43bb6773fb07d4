/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The part of the traffic analysis that is possible only at the end. */
#ifndef POV_ANALYSIS_TRAFFIC_SETTLE_H
#define POV_ANALYSIS_TRAFFIC_SETTLE_H

#include "analysis/traffic.h"

/* Finds peers, chooses the layers that count, and adds up what was received. */
void traffic_settle(struct traffic *a, const struct model *m);

#endif
