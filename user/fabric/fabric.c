/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Looks up ports by LID and nodes by GUID. Only look-ups by LID are frequent. Finds paths by
 * following forwarding tables from switch to switch.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

/* ---- building a fabric ---- */

/*
 * Link ends, sorted by node and port, become ports and links. If two lines describe one port, they
 * must agree. A level is the distance to the nearest adapter.
 */

uint32_t fabric_build_subnet(struct fabric_build *b, const char *name)
{
	struct fabric *f = &b->f;

	*table_append(f->subnet, f->nsubnet) = xstrdup(name);
	return f->nsubnet - 1;
}

static char *first_word(const char *name)
{
	size_t len = strcspn(name, " \t");
	char *word = xmalloc(len + 1);

	memcpy(word, name, len);
	word[len] = 0;
	return word;
}

/* Index of a node. The map stores index + 1, as a pointer. */
static uint32_t node_index(const struct fabric_build *b, uint64_t guid)
{
	uintptr_t at = (uintptr_t)map_get(&b->by_guid, guid);

	return at ? (uint32_t)(at - 1) : FABRIC_NONE;
}

int fabric_build_node(struct fabric_build *b, enum fabric_kind kind, uint64_t guid,
		      const char *name, size_t len, uint32_t subnet, struct fabric_node **out)
{
	struct fabric *f = &b->f;
	uint32_t at = node_index(b, guid);
	struct fabric_node *n;

	if (at != FABRIC_NONE) {
		*out = &f->node[at];
		return kind == FABRIC_ADAPTER && (*out)->kind == kind ? 0 : -EEXIST;
	}
	n = table_append(f->node, f->nnode);
	*n = (struct fabric_node){
		.guid = guid, .kind = kind, .subnet = subnet, .level = FABRIC_LEVEL_NONE};
	n->name = xasprintf("%.*s", (int)len, name);
	n->host = kind == FABRIC_ADAPTER ? first_word(n->name) : NULL;
	map_set(&b->by_guid, guid, (void *)(uintptr_t)f->nnode);
	*out = n;
	return 0;
}

void fabric_build_end(struct fabric_build *b, const struct fabric_end *end)
{
	*table_append(b->end, b->nend) = *end;
}

void fabric_build_release(struct fabric_build *b)
{
	map_release(&b->by_guid);
	free(b->end);
	fabric_release(&b->f);
	*b = (struct fabric_build){0};
}

/* ---- ports and links ---- */

static const char *node_name(const struct fabric_build *b, uint64_t guid)
{
	uint32_t at = node_index(b, guid);

	return at == FABRIC_NONE ? "?" : b->f.node[at].name;
}

/* Appends, for each end, the other end of its link. */
static int ends_mirror(struct fabric_build *b)
{
	size_t n = b->nend;

	for (size_t i = 0; i < n; i++) {
		const struct fabric_end e = b->end[i];
		struct fabric_end far = {.guid = e.far_guid,
					 .number = e.far_number,
					 .far_guid = e.guid,
					 .far_number = e.number,
					 .subnet = e.subnet,
					 .mirrored = true};

		if (node_index(b, e.far_guid) == FABRIC_NONE) {
			log_error("fabric: port %u of \"%s\" is linked to 0x%016llx, which the "
				  "files do not describe: is one cut short?",
				  e.number, node_name(b, e.guid), (unsigned long long)e.far_guid);
			return -EBADMSG;
		}
		memcpy(far.speed, e.speed, sizeof(far.speed));
		fabric_build_end(b, &far);
	}
	return 0;
}

TABLE_ORDER(by_port, struct fabric_end, table_compare(a->guid, b->guid),
	    table_compare(a->number, b->number), table_compare(a->mirrored, b->mirrored))

/* Sorts the ends and merges those of the same port. */
static int ends_unify(struct fabric_build *b)
{
	size_t n = 0;

	table_sort(b->end, b->nend, by_port);
	for (size_t i = 0; i < b->nend; i++) {
		const struct fabric_end *e = &b->end[i], *before = n ? &b->end[n - 1] : NULL;

		if (!before || before->guid != e->guid || before->number != e->number) {
			b->end[n++] = *e;
			continue;
		}
		if (e->far_guid != before->far_guid || e->far_number != before->far_number ||
		    !e->mirrored) {
			log_error("fabric: the files contradict each other about port %u of \"%s\" "
				  "(0x%016llx): were they written at different times?",
				  e->number, node_name(b, e->guid), (unsigned long long)e->guid);
			return -EBADMSG;
		}
	}
	b->nend = n;
	return 0;
}

/*
 * Data rate by ibnetdiscover's name for the speed. After coding: 8b/10b up to QDR, 64b/66b for
 * later ones.
 */
static double gbit_per_s(const char *speed)
{
	static const struct {
		const char *name;
		double lane;
	} rates[] = {{"SDR", 2},  {"DDR", 4},  {"QDR", 8},   {"FDR10", 10}, {"FDR", 13.64},
		     {"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
	char *word;
	long lanes = strtol(speed, &word, 10);

	if (lanes < 1 || lanes > 12 || *word != 'x')
		return 0;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		if (!strcmp(word + 1, rates[i].name))
			return (double)lanes * rates[i].lane;
	}
	return 0;
}

static void ports_make(struct fabric_build *b)
{
	struct fabric *f = &b->f;

	f->port = xcalloc(b->nend + 1, sizeof(*f->port));
	f->nport = (uint32_t)b->nend;
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct fabric_end *e = &b->end[i];
		uint32_t at = node_index(b, e->guid);
		struct fabric_node *n = &f->node[at];

		f->port[i] = (struct fabric_port){.node = at,
						  .number = e->number,
						  .lid = e->lid,
						  .lmc = e->lmc,
						  .subnet = e->subnet,
						  .link = FABRIC_NONE,
						  .far = FABRIC_NONE};
		if (!n->nport++)
			n->port = i;
	}
}

/* 2^lmc LIDs from the base LID on. If several ports claim a LID, the first one gets it. */
static void lids_make(struct fabric *f)
{
	size_t n = (size_t)f->nsubnet * FABRIC_LIDS;

	f->by_lid = xmalloc((n + 1) * sizeof(*f->by_lid));
	memset(f->by_lid, 0xff, n * sizeof(*f->by_lid));
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct fabric_port *p = &f->port[i];

		if (!p->lid || f->node[p->node].kind != FABRIC_ADAPTER)
			continue;
		for (uint32_t lid = p->lid; lid < p->lid + (1u << p->lmc) && lid < FABRIC_LIDS;
		     lid++) {
			uint32_t *at = &f->by_lid[(size_t)p->subnet * FABRIC_LIDS + lid];

			*at = *at == FABRIC_NONE ? i : *at;
		}
	}
}

static uint32_t port_find(const struct fabric_build *b, uint64_t guid, uint16_t number)
{
	const struct fabric_end key = {.guid = guid, .number = number};
	size_t low = 0, high = b->nend;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct fabric_end *e = &b->end[mid];

		if (e->guid == key.guid && e->number == key.number)
			return (uint32_t)mid;
		if (e->guid < key.guid || (e->guid == key.guid && e->number < key.number))
			low = mid + 1;
		else
			high = mid;
	}
	return FABRIC_NONE;
}

/*
 * Each link starts at its end with the lower port index. links_turn() reverses it later if the
 * levels require that.
 */
static void links_make(struct fabric_build *b)
{
	struct fabric *f = &b->f;

	f->link = xcalloc((size_t)f->nport / 2 + 1, sizeof(*f->link));
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct fabric_end *e = &b->end[i];
		uint32_t far = port_find(b, e->far_guid, e->far_number);
		struct fabric_link *l;

		f->port[i].far = far;
		if (far <= i) {
			f->port[i].link = far == i ? FABRIC_NONE : f->port[far].link;
			continue;
		}
		l = &f->link[f->nlink];
		*l = (struct fabric_link){.port = {i, far}, .gbit_per_s = gbit_per_s(e->speed)};
		memcpy(l->speed, e->speed, sizeof(l->speed));
		f->port[i].link = f->nlink++;
	}
}

static void levels_make(struct fabric *f)
{
	uint32_t *queue = xcalloc((size_t)f->nnode + 1, sizeof(*queue)), n = 0;

	for (uint32_t i = 0; i < f->nnode; i++) {
		if (f->node[i].kind == FABRIC_ADAPTER) {
			f->node[i].level = 0;
			queue[n++] = i;
		}
	}
	f->levels = n ? 1 : 0;
	for (uint32_t at = 0; at < n; at++) {
		const struct fabric_node *node = &f->node[queue[at]];

		for (uint32_t p = node->port; p < node->port + node->nport; p++) {
			uint32_t far = f->port[f->port[p].far].node;

			if (f->node[far].level != FABRIC_LEVEL_NONE)
				continue;
			f->node[far].level = node->level + 1;
			f->levels = node->level + 2;
			queue[n++] = far;
		}
	}
	free(queue);
}

static int port_rank(const struct fabric *f, uint32_t port)
{
	int level = fabric_port_node(f, port)->level;

	return level == FABRIC_LEVEL_NONE ? f->levels : level;
}

static void links_turn(struct fabric *f)
{
	for (uint32_t i = 0; i < f->nlink; i++) {
		uint32_t a = f->link[i].port[0], b = f->link[i].port[1];
		int x = port_rank(f, a), y = port_rank(f, b);

		if (y < x || (x == y && f->port[b].node < f->port[a].node)) {
			f->link[i].port[0] = b;
			f->link[i].port[1] = a;
		}
	}
}

int fabric_build_finish(struct fabric_build *b, struct fabric *out)
{
	int err = ends_mirror(b);

	if (!err)
		err = ends_unify(b);
	if (!err) {
		ports_make(b);
		lids_make(&b->f);
		links_make(b);
		levels_make(&b->f);
		links_turn(&b->f);
		*out = b->f;
		b->f = (struct fabric){0};
	}
	fabric_build_release(b);
	return err;
}

uint32_t fabric_port_by_lid(const struct fabric *f, uint32_t subnet, uint16_t lid)
{
	return lid < FABRIC_LIDS ? f->by_lid[(size_t)subnet * FABRIC_LIDS + lid] : FABRIC_NONE;
}

uint32_t fabric_node_by_guid(const struct fabric *f, uint64_t guid)
{
	for (uint32_t i = 0; i < f->nnode; i++) {
		if (f->node[i].guid == guid)
			return i;
	}
	return FABRIC_NONE;
}

void fabric_release(struct fabric *f)
{
	for (uint32_t i = 0; i < f->nnode; i++) {
		free(f->node[i].name);
		free(f->node[i].host);
		free(f->node[i].lft);
	}
	for (uint32_t i = 0; i < f->nsubnet; i++)
		free(f->subnet[i]);
	free(f->node);
	free(f->port);
	free(f->link);
	free(f->by_lid);
	free(f->subnet);
	*f = (struct fabric){0};
}

/* ---- paths ---- */

static bool lid_is_of(const struct fabric_port *p, uint16_t lid)
{
	return p->lid && lid >= p->lid && lid - p->lid < 1 << p->lmc;
}

/* The port with this number. A node's ports are sorted by number. */
static uint32_t port_numbered(const struct fabric *f, const struct fabric_node *n, uint8_t number)
{
	uint32_t low = n->port, high = n->port + n->nport;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (f->port[mid].number == number)
			return mid;
		if (f->port[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return FABRIC_NONE;
}

/* The port through which a switch forwards this LID. */
static enum fabric_route_end switch_out(const struct fabric *f, const struct fabric_node *n,
					uint16_t lid, uint32_t *out)
{
	uint8_t number;

	if (!n->lft)
		return ROUTE_NO_TABLE;
	number = lid < n->nlft ? n->lft[lid] : 0xff;
	if (number == 0xff)
		return ROUTE_NO_ENTRY;
	if (number == 0)
		return n->lid == lid ? ROUTE_ARRIVED : ROUTE_ASTRAY;
	*out = port_numbered(f, n, number);
	return *out == FABRIC_NONE ? ROUTE_NO_LINK : ROUTE_ARRIVED;
}

void fabric_route_find(const struct fabric *f, uint32_t from, uint16_t lid,
		       struct fabric_route *out)
{
	uint32_t port = from;

	out->n = 0;
	out->at = f->port[from].node;
	if (lid_is_of(&f->port[from], lid)) {
		out->end = ROUTE_ARRIVED;
		return;
	}
	for (;;) {
		uint32_t in = f->port[port].far;
		const struct fabric_node *n;

		out->end = ROUTE_NO_LINK;
		if (f->port[port].link == FABRIC_NONE)
			return;
		out->end = ROUTE_LOOP;
		if (out->n == FABRIC_HOPS_MAX)
			return;
		out->out[out->n++] = port;
		out->at = f->port[in].node;
		n = &f->node[out->at];
		if (n->kind == FABRIC_ADAPTER) {
			out->end = lid_is_of(&f->port[in], lid) ? ROUTE_ARRIVED : ROUTE_ASTRAY;
			return;
		}
		port = FABRIC_NONE;
		out->end = switch_out(f, n, lid, &port);
		if (port == FABRIC_NONE)
			return;
	}
}

const char *fabric_route_text(enum fabric_route_end end)
{
	static const char *const text[] = {
		[ROUTE_ARRIVED] = "arrived",
		[ROUTE_NO_LINK] = "the output port has no link",
		[ROUTE_NO_TABLE] = "this switch's forwarding table was not read",
		[ROUTE_NO_ENTRY] = "its forwarding table has no entry for this LID",
		[ROUTE_LOOP] = "a loop: more than 64 links",
		[ROUTE_ASTRAY] = "this node does not have the LID",
	};

	return text[end];
}
