/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Bytes from rank to rank, a line for each sender. */
#include "fabric/traffic.h"

#include "lib/human.h"
#include "lib/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct matrix {
	struct fabric_load *l;
	const struct fabric_hosts *hosts;
	uint32_t context, row, columns;
};

/* NULL, or what is wrong. */
static const char *cell_add(struct matrix *m, uint32_t column, uint64_t bytes)
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

static const char *row_read(struct matrix *m, char *line)
{
	const char *blank = " \t\r\n,;", *wrong = NULL;
	uint32_t column = 0;
	uint64_t bytes;
	char *save;

	for (char *word = strtok_r(line, blank, &save); word && !wrong;
	     word = strtok_r(NULL, blank, &save)) {
		if (human_parse_u64(word, &bytes) || bytes > INT64_MAX)
			return "no number of bytes";
		wrong = cell_add(m, column++, bytes);
	}
	if (wrong || !column)
		return wrong;
	if (m->row && column != m->columns)
		return "not as many numbers as in the lines before";
	m->columns = column;
	m->row++;
	return NULL;
}

int fabric_traffic_read_matrix(struct fabric_load *l, const struct fabric_hosts *h,
			       const char *context, FILE *in, const char *name)
{
	struct matrix m = {.l = l, .hosts = h, .context = fabric_load_context(l, context)};
	const char *wrong = NULL;
	unsigned long at = 0;
	char *line = NULL;
	size_t room = 0;

	while (!wrong && getline(&line, &room, in) >= 0) {
		at++;
		line[strcspn(line, "#")] = 0;
		wrong = row_read(&m, line);
	}
	free(line);
	if (!wrong && ferror(in)) {
		log_error("fabric: cannot read %s: %s", name, strerror(errno));
		return -EIO;
	}
	if (!wrong && (!m.row || m.row != m.columns))
		wrong = "the end: not as many lines as numbers in each";
	if (wrong) {
		log_error("fabric: %s: line %lu: %s", name, at, wrong);
		return -EBADMSG;
	}
	return 0;
}
