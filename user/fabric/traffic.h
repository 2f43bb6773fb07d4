/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads traffic into a load: from `povtrace report --traffic --csv`, or from a matrix of bytes from
 * rank to rank.
 */
#ifndef POV_FABRIC_TRAFFIC_H
#define POV_FABRIC_TRAFFIC_H

#include "fabric/hosts.h"
#include "fabric/load.h"

#include <stdio.h>

/* The CSV column that distinguishes flows. */
enum fabric_by { FABRIC_BY_FUNCTION, FABRIC_BY_GROUP, FABRIC_BY_PHASE, FABRIC_BY_REGION };

/*
 * Reads rows that an adapter carried to a LID. Data that was read there flows back from it. Rows of
 * other carriers count as outside. 0, -EBADMSG or -EIO (printed with file and line).
 */
int fabric_traffic_read_csv(struct fabric_load *l, const struct fabric_hosts *h, enum fabric_by by,
			    FILE *in, const char *name);
/*
 * The matrix has one line per rank with one number per rank, separated by blanks or commas: the
 * bytes that rank LINE sent to rank COLUMN.
 */
int fabric_traffic_read_matrix(struct fabric_load *l, const struct fabric_hosts *h,
			       const char *context, FILE *in, const char *name);

#endif
