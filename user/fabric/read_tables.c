/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Linear forwarding tables. dump_fts, ibroute and opensm head each switch's by "Unicast lids … guid 0x…", then a line for each LID:
 *
 *	0x0005 004 : (Channel Adapter portguid 0x0000000000100003: 'host1')
 */
#include "fabric/read.h"

#include "lib/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_PORT 0xff

struct tables {
	struct fabric *f;
	const char *name;
	unsigned long line;
	struct fabric_node *node; /* whose table it is; NULL: of none, or of multicast */
	uint32_t cnt;
};

static int damaged(const struct tables *t, const char *what)
{
	log_error(
		"fabric: %s: line %lu: %s; wanted: output of dump_fts, ibroute, or opensm-lfts.dump",
		t->name, t->line, what);
	return -EBADMSG;
}

static int head_line(struct tables *t, const char *line)
{
	const char *guid = strstr(line, "guid 0x");
	uint32_t at;

	if (!guid)
		return damaged(t, "a table of a switch without a GUID");
	at = fabric_node_by_guid(t->f, strtoull(guid + 5, NULL, 16));
	if (at == FABRIC_NONE || t->f->node[at].kind != FABRIC_SWITCH)
		return damaged(
			t,
			"a switch that the topology does not have: is it of another fabric, or older?");
	t->node = &t->f->node[at];
	if (!t->node->lft)
		t->node->lft = xmalloc(FABRIC_LIDS);
	memset(t->node->lft, NO_PORT, FABRIC_LIDS);
	t->node->nlft = FABRIC_LIDS;
	t->cnt++;
	return 0;
}

static int table_line(struct tables *t, const char *line)
{
	char *end;
	unsigned long port, lid = strtoul(line, &end, 16);

	while (*end == ' ' || *end == '\t')
		end++;
	if (!isdigit((unsigned char)*end))
		return 0; /* the switch has none for this LID, and says so by words */
	port = strtoul(end, NULL, 10);
	if (lid < 1 || lid >= FABRIC_LIDS || port > NO_PORT)
		return damaged(t, "a LID or a port that cannot be");
	t->node->lft[lid] = (uint8_t)port;
	return 0;
}

static int tables_line(struct tables *t, const char *line)
{
	while (*line == ' ' || *line == '\t')
		line++;
	if (!strncmp(line, "Unicast lids", 12))
		return head_line(t, line);
	if (!strncmp(line, "Multicast mlids", 15))
		t->node = NULL;
	return t->node && !strncmp(line, "0x", 2) ? table_line(t, line) : 0;
}

int fabric_read_tables(struct fabric *f, FILE *in, const char *name)
{
	struct tables t = {.f = f, .name = name};
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, in) >= 0) {
		t.line++;
		err = tables_line(&t, line);
	}
	if (!err && ferror(in)) {
		err = -EIO;
		log_error("fabric: cannot read %s: %s", name, strerror(errno));
	}
	if (!err && !t.cnt)
		err = damaged(&t, "the end, and no table");
	free(line);
	return err;
}
