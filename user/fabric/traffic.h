/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reading traffic into a load: `povtrace report --traffic --csv`, or a matrix of bytes from rank to rank. */
#ifndef POV_FABRIC_TRAFFIC_H
#define POV_FABRIC_TRAFFIC_H

#include "fabric/hosts.h"
#include "fabric/load.h"

#include <stdio.h>

/* By which column of the CSV flows are told apart. */
enum fabric_by { FABRIC_BY_FUNCTION, FABRIC_BY_GROUP, FABRIC_BY_PHASE, FABRIC_BY_REGION };

/*
 * Rows that an adapter carried to a LID; what was read there flows back from it. Rows of other carriers are counted as outside. 0,
 * -EBADMSG or -EIO (printed, with file and line).
 */
int fabric_traffic_read_csv(struct fabric_load *l, const struct fabric_hosts *h, enum fabric_by by,
			    FILE *in, const char *name);
/* As many lines as ranks, of as many numbers, separated by blanks or commas: what rank LINE sent to rank COLUMN, in bytes. */
int fabric_traffic_read_matrix(struct fabric_load *l, const struct fabric_hosts *h,
			       const char *context, FILE *in, const char *name);

#endif
