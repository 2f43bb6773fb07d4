/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads files that describe a fabric: ibnetdiscover's output, one file per subnet, and linear
 * forwarding tables as printed by dump_fts, ibroute and opensm (opensm-lfts.dump). Errors are
 * printed with file and line.
 */
#ifndef POV_FABRIC_READ_H
#define POV_FABRIC_READ_H

#include "fabric/build.h"

#include <stdio.h>

/* Adds a subnet called name. 0; -EBADMSG: not ibnetdiscover's output, or damaged; -EIO. */
int fabric_read_topology(struct fabric_build *b, FILE *in, const char *name);
/*
 * Reads the tables of any number of switches of f. If a switch occurs again, the last table counts.
 * The same errors.
 */
int fabric_read_tables(struct fabric *f, FILE *in, const char *name);

#endif
