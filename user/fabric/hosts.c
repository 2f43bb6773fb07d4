/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The table of hosts, and the choice of the host's port that a rank uses. */
#include "fabric/traffic.h"

#include "lib/human.h"
#include "lib/log.h"
#include "fabric/read.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hosts_key(uint32_t job, uint32_t rank)
{
	return (uint64_t)job << 32 | rank;
}

static bool u32_parse(const char *text, uint32_t max, uint32_t *out)
{
	uint64_t v;

	if (human_parse_u64(text, &v) || v > max)
		return false;
	*out = (uint32_t)v;
	return true;
}

/* "3" or "1:3". */
static bool rank_parse(char *text, uint64_t *key)
{
	char *colon = strchr(text, ':');
	uint32_t job = 0, rank;

	if (colon)
		*colon = 0;
	if (colon && !u32_parse(text, INT32_MAX, &job))
		return false;
	if (!u32_parse(colon ? colon + 1 : text, INT32_MAX, &rank))
		return false;
	*key = hosts_key(job, rank);
	return true;
}

void fabric_place_init(struct fabric_place *p, const struct fabric *f, const char *host)
{
	*p = (struct fabric_place){.port = FABRIC_NONE};
	for (uint32_t i = 0; i < f->nnode; i++) {
		if (!f->node[i].host || strcmp(f->node[i].host, host))
			continue;
		p->node = xrealloc(p->node, (p->nnode + 1) * sizeof(*p->node));
		p->node[p->nnode++] = i;
	}
}

void fabric_place_release(struct fabric_place *p)
{
	free(p->node);
	*p = (struct fabric_place){0};
}

/* The port of a host with this LID, in any subnet. */
static uint32_t host_port_by_lid(const struct fabric *f, const struct fabric_place *p, uint32_t lid)
{
	for (uint32_t k = 0; k < p->nnode; k++) {
		const struct fabric_node *n = &f->node[p->node[k]];

		for (uint32_t i = n->port; i < n->port + n->nport; i++) {
			if (f->port[i].lid == lid)
				return i;
		}
	}
	return FABRIC_NONE;
}

/* Reads the third word. Returns NULL, or what is wrong. */
static const char *lid_read(const struct fabric *f, const char *text, struct fabric_place *p)
{
	uint32_t number;

	if (!text)
		return NULL;
	if (!u32_parse(text, FABRIC_LIDS - 1, &number) || !number)
		return "the third word is no LID";
	p->port = host_port_by_lid(f, p, number);
	return p->port == FABRIC_NONE ? "the host has no port with this LID" : NULL;
}

/* Returns NULL, or what is wrong. */
static const char *hosts_line(void *ctx, char *line)
{
	struct fabric_hosts *h = ctx;
	const char *blank = " \t\r\n,", *wrong;
	char *save, *rank, *host;
	struct fabric_place place, *kept;
	uint64_t key;

	line[strcspn(line, "#")] = 0;
	rank = strtok_r(line, blank, &save);
	if (!rank)
		return NULL;
	host = strtok_r(NULL, blank, &save);
	if (!host || !rank_parse(rank, &key))
		return "no \"RANK HOST [LID]\"";
	fabric_place_init(&place, h->fabric, host);
	wrong = !place.nnode ? "no adapter of this host is in the topology" :
			       lid_read(h->fabric, strtok_r(NULL, blank, &save), &place);
	if (!wrong && map_get(&h->place, key))
		wrong = "this rank has a line already";
	if (wrong) {
		fabric_place_release(&place);
		return wrong;
	}
	kept = xmalloc(sizeof(*kept));
	*kept = place;
	map_set(&h->place, key, kept);
	return NULL;
}

int fabric_hosts_read(struct fabric_hosts *h, const struct fabric *f, FILE *in, const char *name)
{
	const struct fabric_lines lines = {.line = hosts_line};

	*h = (struct fabric_hosts){.fabric = f};
	return fabric_lines_read(&lines, h, in, name);
}

const struct fabric_place *fabric_hosts_find(const struct fabric_hosts *h, uint32_t job,
					     uint32_t rank)
{
	return map_get(&h->place, hosts_key(job, rank));
}

/* True if one of the words of name equals device, which has len characters. */
static bool name_has_word(const char *name, const char *device, size_t len)
{
	for (const char *at = name; (at = strstr(at, device)); at++) {
		if ((at == name || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	}
	return false;
}

struct wanted {
	const struct fabric_place *place;
	const char *device;	 /* without port number, or NULL */
	uint32_t number, subnet; /* FABRIC_NONE: any */
};

static bool port_fits(const struct fabric_port *p, const struct wanted *w)
{
	return p->lid && p->link != FABRIC_NONE &&
	       (w->subnet == FABRIC_NONE || p->subnet == w->subnet) &&
	       (w->number == FABRIC_NONE || p->number == w->number);
}

/* The first matching port. *adapters: number of adapters with a matching port. */
static uint32_t port_choose(const struct fabric *f, const struct wanted *w, uint32_t *adapters)
{
	uint32_t found = FABRIC_NONE;

	*adapters = 0;
	for (uint32_t k = 0; k < w->place->nnode; k++) {
		const struct fabric_node *n = &f->node[w->place->node[k]];
		uint32_t i = n->port, end = n->port + n->nport;

		if (w->device && !name_has_word(n->name, w->device, strlen(w->device)))
			continue;
		while (i < end && !port_fits(&f->port[i], w))
			i++;
		if (i == end)
			continue;
		++*adapters;
		if (found == FABRIC_NONE || i < found)
			found = i;
	}
	return found;
}

uint32_t fabric_place_port(const struct fabric *f, const struct fabric_place *place,
			   const char *device, uint32_t subnet)
{
	struct wanted w = {.place = place, .number = FABRIC_NONE, .subnet = subnet};
	uint32_t port, adapters;
	char *name, *colon;

	if (place->port != FABRIC_NONE &&
	    (subnet == FABRIC_NONE || f->port[place->port].subnet == subnet))
		return place->port;
	if (!device || !*device)
		return port_choose(f, &w, &adapters);
	name = xstrdup(device);
	colon = strchr(name, ':');
	if (colon) {
		*colon = 0;
		if (!u32_parse(colon + 1, 254, &w.number))
			w.number = FABRIC_NONE;
	}
	w.device = *name ? name : NULL;
	port = port_choose(f, &w, &adapters);
	if (port == FABRIC_NONE) {
		/*
		 * Descriptions often name no device ("n17 HCA-1"). If the host has only one
		 * adapter, use that.
		 */
		w.device = NULL;
		port = port_choose(f, &w, &adapters);
		if (adapters > 1)
			port = FABRIC_NONE;
	}
	free(name);
	return port;
}

void fabric_hosts_release(struct fabric_hosts *h)
{
	struct fabric_place *p;

	for (size_t at = 0; (p = map_next(&h->place, &at, NULL));)
		fabric_place_release(p);
	map_free(&h->place, free);
}
