/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads the CSV of `povtrace report --traffic --csv` (kmod-docs/TRAFFIC.md), and matrices of bytes
 * from rank to rank, with one line per sender.
 */
#include "fabric/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"

/* ---- the table of hosts, and the choice of the host's port that a rank uses ---- */

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
	*key = map_pair(job, rank);
	return true;
}

void fabric_place_init(struct fabric_place *p, const struct fabric *f, const char *host)
{
	*p = (struct fabric_place){.port = FABRIC_NONE};
	for (uint32_t i = 0; i < f->nnode; i++) {
		if (!f->node[i].host || strcmp(f->node[i].host, host))
			continue;
		*table_append(p->node, p->nnode) = i;
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
	return map_get(&h->place, map_pair(job, rank));
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

/* ---- CSV: columns are found by name, and others ignored ---- */

enum column {
	RANK,
	JOB,
	DEVICE,
	DESTINATION,
	CARRIER,
	CONTEXT,
	FUNCTION,
	GROUP,
	PHASE,
	REGION,
	SENT_MESSAGES,
	SENT_BYTES,
	READ_MESSAGES,
	READ_BYTES,
	WANTED, /* columns before this one are mandatory */
	SENT_UNKNOWN = WANTED,
	READ_UNKNOWN,
	COLUMNS
};
static const char *const column_name[COLUMNS] = {"rank",
						 "job",
						 "device",
						 "destination",
						 "carrier",
						 "context",
						 "function",
						 "group",
						 "phase",
						 "region",
						 "sent_messages",
						 "sent_bytes",
						 "read_messages",
						 "read_bytes",
						 "sent_of_unknown_size",
						 "read_of_unknown_size"};

#define FIELDS_MAX 64

struct csv {
	struct fabric_load *l;
	const struct fabric_hosts *hosts;
	enum fabric_by by;
	int at[COLUMNS];
	bool begun; /* the line of names was read */
	char *field[FIELDS_MAX];
	int n;
};

/*
 * Splits one record into fields, in place. RFC 4180 without line breaks inside quotes, which
 * povtrace never writes.
 */
static bool fields_split(struct csv *c, char *s)
{
	char *to;

	s[strcspn(s, "\r\n")] = 0;
	for (c->n = 0; c->n < FIELDS_MAX; s++) {
		bool quoted = *s == '"';

		c->field[c->n++] = to = s += quoted;
		while (*s && (quoted || *s != ',')) {
			if (quoted && *s == '"') {
				quoted = s[1] == '"';
				if (!quoted) {
					s++;
					continue;
				}
				s++;
			}
			*to++ = *s++;
		}
		if (quoted)
			return false;
		if (!*s) {
			*to = 0;
			return true;
		}
		*to = 0;
	}
	return false;
}

static const char *csv_head_read(struct csv *c, char *line)
{
	if (!fields_split(c, line))
		return "not a line of CSV";
	for (int i = 0; i < COLUMNS; i++) {
		c->at[i] = -1;
		for (int k = 0; k < c->n; k++)
			c->at[i] = strcmp(c->field[k], column_name[i]) ? c->at[i] : k;
		if (i < WANTED && c->at[i] < 0)
			return "columns are missing: expected the output of `povtrace report "
			       "--traffic --csv`";
	}
	return NULL;
}

static const char *csv_field(const struct csv *c, enum column column)
{
	return c->at[column] >= 0 && c->at[column] < c->n ? c->field[c->at[column]] : "";
}

/* An empty field counts as 0. */
static bool csv_number(const struct csv *c, enum column column, uint64_t *out)
{
	const char *text = csv_field(c, column);

	*out = 0;
	return !*text || (!human_parse_u64(text, out) && *out <= INT64_MAX);
}

static const char *context_of(const struct csv *c)
{
	static const enum column by[] = {[FABRIC_BY_FUNCTION] = FUNCTION,
					 [FABRIC_BY_GROUP] = GROUP,
					 [FABRIC_BY_PHASE] = PHASE,
					 [FABRIC_BY_REGION] = REGION};
	const char *name = csv_field(c, by[c->by]);

	if (*name)
		return name;
	if (c->by == FABRIC_BY_PHASE || c->by == FABRIC_BY_REGION)
		return "none";
	return *csv_field(c, CONTEXT) ? csv_field(c, CONTEXT) : "not known";
}

static void csv_left_out(struct csv *c, uint64_t bytes)
{
	c->l->outside.bytes += bytes;
	c->l->outside.flows++;
}

static const char *flows_add(struct csv *c, uint32_t port, uint64_t sent, uint64_t read)
{
	const struct fabric *f = c->l->fabric;
	const char *lid_text = csv_field(c, DESTINATION) + 4;
	struct fabric_flow flow = {.from = port, .bytes = sent};
	uint64_t lid;

	if (human_parse_u64(lid_text, &lid) || !lid || lid >= FABRIC_LIDS)
		return "a destination that is no LID";
	flow.lid = (uint16_t)lid;
	flow.to = fabric_port_by_lid(f, f->port[port].subnet, flow.lid);
	if (flow.to == FABRIC_NONE) {
		csv_left_out(c, sent + read);
		return NULL;
	}
	flow.context = fabric_load_context(c->l, context_of(c));
	if (!csv_number(c, SENT_MESSAGES, &flow.messages))
		return "a number that cannot be read";
	fabric_load_flow(c->l, &flow);
	if (!csv_number(c, READ_MESSAGES, &flow.messages))
		return "a number that cannot be read";
	flow.from = flow.to;
	flow.to = port;
	flow.lid = f->port[port].lid;
	flow.bytes = read;
	fabric_load_flow(c->l, &flow);
	return NULL;
}

static const char *csv_row_read(struct csv *c, char *line)
{
	const struct fabric_place *place;
	uint64_t rank, job, sent, read, unknown[2];
	uint32_t port;

	if (!fields_split(c, line))
		return "not a line of CSV";
	if (!csv_number(c, SENT_BYTES, &sent) || !csv_number(c, READ_BYTES, &read) ||
	    !csv_number(c, JOB, &job) || !csv_number(c, SENT_UNKNOWN, &unknown[0]) ||
	    !csv_number(c, READ_UNKNOWN, &unknown[1]))
		return "a number that cannot be read";
	if (!strcmp(csv_field(c, CARRIER), "nic"))
		c->l->unknown_messages += unknown[0] + unknown[1];
	if (!sent && !read)
		return NULL;
	if (strcmp(csv_field(c, CARRIER), "nic") || strncmp(csv_field(c, DESTINATION), "lid ", 4) ||
	    human_parse_u64(csv_field(c, RANK), &rank)) {
		csv_left_out(c, sent + read);
		return NULL;
	}
	place = rank <= INT32_MAX && job <= INT32_MAX ?
			fabric_hosts_find(c->hosts, (uint32_t)job, (uint32_t)rank) :
			NULL;
	if (!place)
		return "traffic of a rank that the table of hosts does not have";
	port = fabric_place_port(c->l->fabric, place, csv_field(c, DEVICE), FABRIC_NONE);
	if (port == FABRIC_NONE)
		return "unknown which port of its host this rank uses: name its LID in the table "
		       "of hosts";
	return flows_add(c, port, sent, read);
}

static const char *csv_line(void *ctx, char *line)
{
	struct csv *c = ctx;

	if (c->begun)
		return csv_row_read(c, line);
	c->begun = true;
	return csv_head_read(c, line);
}

static const char *csv_end(void *ctx)
{
	const struct csv *c = ctx;

	return c->begun ? NULL : "the file is empty";
}

int fabric_traffic_read_csv(struct fabric_load *l, const struct fabric_hosts *h, enum fabric_by by,
			    FILE *in, const char *name)
{
	const struct fabric_lines lines = {.line = csv_line, .end = csv_end};
	struct csv c = {.l = l, .hosts = h, .by = by};

	return fabric_lines_read(&lines, &c, in, name);
}

/* ---- matrices ---- */

struct matrix {
	struct fabric_load *l;
	const struct fabric_hosts *hosts;
	uint32_t context, row, columns;
};

/* Returns NULL, or what is wrong. */
static const char *matrix_cell_add(struct matrix *m, uint32_t column, uint64_t bytes)
{
	const struct fabric *f = m->l->fabric;
	const struct fabric_place *from = fabric_hosts_find(m->hosts, 0, m->row),
				  *to = fabric_hosts_find(m->hosts, 0, column);
	struct fabric_flow flow = {.context = m->context, .bytes = bytes, .messages = 0};

	if (!bytes)
		return NULL;
	if (!from || !to)
		return "traffic of a rank that the table of hosts does not have";
	flow.from = fabric_place_port(f, from, NULL, FABRIC_NONE);
	flow.to = flow.from == FABRIC_NONE ?
			  FABRIC_NONE :
			  fabric_place_port(f, to, NULL, f->port[flow.from].subnet);
	if (flow.to == FABRIC_NONE)
		return "no subnet has linked ports of both hosts";
	flow.lid = f->port[flow.to].lid;
	fabric_load_flow(m->l, &flow);
	return NULL;
}

static const char *matrix_line(void *ctx, char *line)
{
	struct matrix *m = ctx;
	const char *blank = " \t\r\n,;", *wrong = NULL;
	uint32_t column = 0;
	uint64_t bytes;
	char *save;

	line[strcspn(line, "#")] = 0;
	for (char *word = strtok_r(line, blank, &save); word && !wrong;
	     word = strtok_r(NULL, blank, &save)) {
		if (human_parse_u64(word, &bytes) || bytes > INT64_MAX)
			return "not a number of bytes";
		wrong = matrix_cell_add(m, column++, bytes);
	}
	if (wrong || !column)
		return wrong;
	if (m->row && column != m->columns)
		return "not as many numbers as in the lines before";
	m->columns = column;
	m->row++;
	return NULL;
}

static const char *matrix_end(void *ctx)
{
	const struct matrix *m = ctx;

	return m->row && m->row == m->columns ?
		       NULL :
		       "the file must have as many lines as each line has numbers";
}

int fabric_traffic_read_matrix(struct fabric_load *l, const struct fabric_hosts *h,
			       const char *context, FILE *in, const char *name)
{
	const struct fabric_lines lines = {.line = matrix_line, .end = matrix_end};
	struct matrix m = {.l = l, .hosts = h, .context = fabric_load_context(l, context)};

	return fabric_lines_read(&lines, &m, in, name);
}
