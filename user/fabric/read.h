/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reading what tells of a fabric: ibnetdiscover's output, one file for each subnet, and linear forwarding tables as dump_fts, ibroute
 * and opensm (opensm-lfts.dump) print them. Errors are printed with file and line.
 */
#ifndef POV_FABRIC_READ_H
#define POV_FABRIC_READ_H

#include "fabric/build.h"

#include <stdio.h>

/* A subnet more, named name. 0; -EBADMSG: not ibnetdiscover's output, or damaged; -EIO. */
int fabric_read_topology(struct fabric_build *b, FILE *in, const char *name);
/* The tables of any number of switches of f; of one that is told again the last one counts. The same errors. */
int fabric_read_tables(struct fabric *f, FILE *in, const char *name);

#endif
