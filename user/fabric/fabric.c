/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Looks up ports by LID and nodes by GUID. Only look-ups by LID are frequent. */
#include "fabric/fabric.h"

#include <stdlib.h>
#include <string.h>

uint32_t fabric_port_by_lid(const struct fabric *f, uint32_t subnet, uint16_t lid)
{
	return lid < FABRIC_LIDS ? f->by_lid[(size_t)subnet * FABRIC_LIDS + lid] : FABRIC_NONE;
}

uint32_t fabric_node_by_guid(const struct fabric *f, uint64_t guid)
{
	uint32_t i;

	for (i = 0; i < f->nnode; i++) {
		if (f->node[i].guid == guid)
			return i;
	}
	return FABRIC_NONE;
}

void fabric_release(struct fabric *f)
{
	uint32_t i;

	for (i = 0; i < f->nnode; i++) {
		free(f->node[i].name);
		free(f->node[i].host);
		free(f->node[i].lft);
	}
	for (i = 0; i < f->nsubnet; i++)
		free(f->subnet[i]);
	free(f->node);
	free(f->port);
	free(f->link);
	free(f->by_lid);
	free(f->subnet);
	*f = (struct fabric){0};
}
