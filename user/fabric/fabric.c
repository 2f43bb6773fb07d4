/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A fabric's things by their names: LIDs, GUIDs, hosts. Straight searches; who asks often keeps what was found (route.c, load.c). */
#include "fabric/fabric.h"

#include <stdlib.h>
#include <string.h>

uint32_t fabric_port_by_lid(const struct fabric *f, uint32_t subnet, uint16_t lid)
{
	uint32_t i;

	for (i = 0; i < f->nport; i++) {
		const struct fabric_port *p = &f->port[i];

		if (p->lid && p->subnet == subnet && lid >= p->lid && lid - p->lid < 1 << p->lmc &&
		    f->node[p->node].kind == FABRIC_ADAPTER)
			return i;
	}
	return FABRIC_NONE;
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

uint32_t fabric_node_by_host(const struct fabric *f, const char *host, uint32_t nth)
{
	uint32_t i;

	for (i = 0; i < f->nnode; i++) {
		if (f->node[i].host && !strcmp(f->node[i].host, host) && !nth--)
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
	free(f->subnet);
	*f = (struct fabric){0};
}
