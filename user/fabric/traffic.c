/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads the CSV of `povtrace report --traffic --csv` (kmod-docs/TRAFFIC.md), and matrices of bytes
 * from rank to rank, with one line per sender.
 */
#include "fabric/traffic.h"

#include "lib/human.h"
#include "fabric/read.h"

#include <string.h>

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
		return "two hosts that no subnet has both linked ports of";
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
			return "no number of bytes";
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

	return m->row && m->row == m->columns ? NULL :
						"the end: not as many lines as numbers in each";
}

int fabric_traffic_read_matrix(struct fabric_load *l, const struct fabric_hosts *h,
			       const char *context, FILE *in, const char *name)
{
	const struct fabric_lines lines = {.line = matrix_line, .end = matrix_end};
	struct matrix m = {.l = l, .hosts = h, .context = fabric_load_context(l, context)};

	return fabric_lines_read(&lines, &m, in, name);
}
