/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which rank runs on which host: a text file with a line "RANK HOST [LID]" for each; with several jobs "JOB:RANK HOST [LID]", jobs
 * counted from 0. HOST is the first word of an adapter's description, as ibnetdiscover has it; LID picks one of its ports. What
 * follows "#" is a comment.
 */
#ifndef POV_FABRIC_HOSTS_H
#define POV_FABRIC_HOSTS_H

#include "lib/map.h"
#include "fabric/fabric.h"

#include <stdio.h>

struct fabric_hosts {
	const struct fabric *fabric;
	struct map place; /* hosts_key -> struct fabric_place, owned */
};

struct fabric_place {
	uint32_t *node, nnode; /* the host's adapters; owned */
	uint32_t port;	       /* that of the LID, or FABRIC_NONE: none was named */
};

/* A host's adapters, with no port; without any, nnode is 0. */
void fabric_place_init(struct fabric_place *p, const struct fabric *f, const char *host);
void fabric_place_release(struct fabric_place *p);

/* 0, -EBADMSG or -EIO, printed with file and line. Release it in any case. */
int fabric_hosts_read(struct fabric_hosts *h, const struct fabric *f, FILE *in, const char *name);
/* NULL: the table does not have it. */
const struct fabric_place *fabric_hosts_find(const struct fabric_hosts *h, uint32_t job,
					     uint32_t rank);
/*
 * The linked port of a place: that of its LID; else of the adapter that device ("mlx5_0:1", or NULL: any) names. subnet: FABRIC_NONE: any.
 * FABRIC_NONE: there is none, or it cannot be told which.
 */
uint32_t fabric_place_port(const struct fabric *f, const struct fabric_place *place,
			   const char *device, uint32_t subnet);
void fabric_hosts_release(struct fabric_hosts *h);

#endif
