/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The CSV of `povtrace report --traffic --csv` (kmod-docs/TRAFFIC.md): columns are found by their names, others are not looked at. */
#include "fabric/traffic.h"

#include "lib/human.h"
#include "lib/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	WANTED, /* those before this one must be there */
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
	unsigned long line;
	char *field[FIELDS_MAX];
	int n;
};

/* One record's fields, in place: RFC 4180, but for line breaks within quotes, which povtrace does not write. */
static bool split(struct csv *c, char *s)
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

static const char *head_read(struct csv *c, char *line)
{
	if (!split(c, line))
		return "not a line of CSV";
	for (int i = 0; i < COLUMNS; i++) {
		c->at[i] = -1;
		for (int k = 0; k < c->n; k++)
			c->at[i] = strcmp(c->field[k], column_name[i]) ? c->at[i] : k;
		if (i < WANTED && c->at[i] < 0)
			return "columns are missing: wanted is what `povtrace report --traffic --csv` writes";
	}
	return NULL;
}

static const char *field(const struct csv *c, enum column column)
{
	return c->at[column] >= 0 && c->at[column] < c->n ? c->field[c->at[column]] : "";
}

/* An empty field is 0. */
static bool number(const struct csv *c, enum column column, uint64_t *out)
{
	const char *text = field(c, column);

	*out = 0;
	return !*text || (!human_parse_u64(text, out) && *out <= INT64_MAX);
}

static const char *context_of(const struct csv *c)
{
	static const enum column by[] = {[FABRIC_BY_FUNCTION] = FUNCTION,
					 [FABRIC_BY_GROUP] = GROUP,
					 [FABRIC_BY_PHASE] = PHASE,
					 [FABRIC_BY_REGION] = REGION};
	const char *name = field(c, by[c->by]);

	if (*name)
		return name;
	if (c->by == FABRIC_BY_PHASE || c->by == FABRIC_BY_REGION)
		return "none";
	return *field(c, CONTEXT) ? field(c, CONTEXT) : "not known";
}

static void left_out(struct csv *c, uint64_t bytes)
{
	c->l->outside.bytes += bytes;
	c->l->outside.flows++;
}

static const char *flows_add(struct csv *c, uint32_t port, uint64_t sent, uint64_t read)
{
	const struct fabric *f = c->l->fabric;
	const char *lid_text = field(c, DESTINATION) + 4;
	struct fabric_flow flow = {.from = port, .bytes = sent};
	uint64_t lid;

	if (human_parse_u64(lid_text, &lid) || !lid || lid >= FABRIC_LIDS)
		return "a destination that is no LID";
	flow.lid = (uint16_t)lid;
	flow.to = fabric_port_by_lid(f, f->port[port].subnet, flow.lid);
	if (flow.to == FABRIC_NONE) {
		left_out(c, sent + read);
		return NULL;
	}
	flow.context = fabric_load_context(c->l, context_of(c));
	if (!number(c, SENT_MESSAGES, &flow.messages))
		return "a number that cannot be read";
	fabric_load_flow(c->l, &flow);
	if (!number(c, READ_MESSAGES, &flow.messages))
		return "a number that cannot be read";
	flow.from = flow.to;
	flow.to = port;
	flow.lid = f->port[port].lid;
	flow.bytes = read;
	fabric_load_flow(c->l, &flow);
	return NULL;
}

static const char *row_read(struct csv *c, char *line)
{
	const struct fabric_place *place;
	uint64_t rank, job, sent, read, unknown[2];
	uint32_t port;

	if (!split(c, line))
		return "not a line of CSV";
	if (!number(c, SENT_BYTES, &sent) || !number(c, READ_BYTES, &read) ||
	    !number(c, JOB, &job) || !number(c, SENT_UNKNOWN, &unknown[0]) ||
	    !number(c, READ_UNKNOWN, &unknown[1]))
		return "a number that cannot be read";
	if (!strcmp(field(c, CARRIER), "nic"))
		c->l->unknown_messages += unknown[0] + unknown[1];
	if (!sent && !read)
		return NULL;
	if (strcmp(field(c, CARRIER), "nic") || strncmp(field(c, DESTINATION), "lid ", 4) ||
	    human_parse_u64(field(c, RANK), &rank)) {
		left_out(c, sent + read);
		return NULL;
	}
	place = rank <= INT32_MAX && job <= INT32_MAX ?
			fabric_hosts_find(c->hosts, (uint32_t)job, (uint32_t)rank) :
			NULL;
	if (!place)
		return "traffic of a rank that the table of hosts does not have";
	port = fabric_place_port(c->l->fabric, place, field(c, DEVICE), FABRIC_NONE);
	if (port == FABRIC_NONE)
		return "which port of its host this rank uses cannot be told: name its LID in the table of hosts";
	return flows_add(c, port, sent, read);
}

int fabric_traffic_read_csv(struct fabric_load *l, const struct fabric_hosts *h, enum fabric_by by,
			    FILE *in, const char *name)
{
	struct csv c = {.l = l, .hosts = h, .by = by};
	const char *wrong = NULL;
	char *line = NULL;
	size_t room = 0;

	while (!wrong && getline(&line, &room, in) >= 0)
		wrong = c.line++ ? row_read(&c, line) : head_read(&c, line);
	free(line);
	if (!wrong && ferror(in)) {
		log_error("fabric: cannot read %s: %s", name, strerror(errno));
		return -EIO;
	}
	if (!wrong && !c.line)
		wrong = "the file is empty";
	if (wrong) {
		log_error("fabric: %s: line %lu: %s", name, c.line, wrong);
		return -EBADMSG;
	}
	return 0;
}
