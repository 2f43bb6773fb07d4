/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads traffic into a load: from `povtrace report --traffic --csv`, or from a matrix of bytes from
 * rank to rank. A table of hosts lists where the ranks were.
 */
#ifndef POV_FABRIC_TRAFFIC_H
#define POV_FABRIC_TRAFFIC_H

#include "lib/map.h"
#include "fabric/load.h"

#include <stdio.h>

/*
 * Maps ranks to hosts: a text file with one line "RANK HOST [LID]" per rank, or "JOB:RANK HOST
 * [LID]" with several jobs, counted from 0. HOST is the first word of an adapter's description in
 * ibnetdiscover's output. LID selects one of its ports. "#" starts a comment.
 */
struct fabric_hosts {
	const struct fabric *fabric;
	struct map place; /* job, rank -> struct fabric_place, owned */
};

struct fabric_place {
	uint32_t *node, nnode; /* the host's adapters; owned */
	uint32_t port;	       /* port with the LID; FABRIC_NONE: no LID given */
};

/* Finds a host's adapters, without a port. nnode is 0 if there are none. */
void fabric_place_init(struct fabric_place *p, const struct fabric *f, const char *host);
void fabric_place_release(struct fabric_place *p);

/* 0, -EBADMSG or -EIO, printed with file and line. Release h in any case. */
int fabric_hosts_read(struct fabric_hosts *h, const struct fabric *f, FILE *in, const char *name);
/* NULL: not in the table. */
const struct fabric_place *fabric_hosts_find(const struct fabric_hosts *h, uint32_t job,
					     uint32_t rank);
/*
 * The linked port of a place: the port with its LID; else a port of the adapter that device names
 * ("mlx5_0:1"; NULL: any). subnet: FABRIC_NONE: any. Returns FABRIC_NONE if there is none or if it
 * is ambiguous.
 */
uint32_t fabric_place_port(const struct fabric *f, const struct fabric_place *place,
			   const char *device, uint32_t subnet);
void fabric_hosts_release(struct fabric_hosts *h);

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
