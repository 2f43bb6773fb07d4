/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Maps ranks to hosts: a text file with one line "RANK HOST [LID]" per rank, or "JOB:RANK HOST
 * [LID]" with several jobs, counted from 0. HOST is the first word of an adapter's description in
 * ibnetdiscover's output. LID selects one of its ports. "#" starts a comment.
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

#endif
