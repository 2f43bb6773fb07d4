/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reads files by lines: topologies and forwarding tables. */
#include "fabric/fabric.h"

#include "lib/log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int fabric_lines_read(const struct fabric_lines *l, void *ctx, FILE *in, const char *name)
{
	const char *wrong = NULL;
	unsigned long at = 0;
	char *line = NULL;
	size_t room = 0;

	while (!wrong && getline(&line, &room, in) >= 0) {
		at++;
		wrong = l->line(ctx, line);
	}
	free(line);
	if (!wrong && ferror(in)) {
		log_error("fabric: cannot read %s: %s", name, strerror(errno));
		return -EIO;
	}
	if (!wrong && l->end)
		wrong = l->end(ctx);
	if (!wrong)
		return 0;
	log_error("fabric: %s: line %lu: %s%s%s", name, at, wrong, l->wanted ? "; wanted: " : "",
		  l->wanted ?: "");
	return -EBADMSG;
}

/* ---- topologies ---- */

/*
 * Parses ibnetdiscover's output: for each node a line "Switch" or "Ca", then one line per linked
 * port:
 *
 *	Switch	4 "S-0000000000200002"		# "leaf2" base port 0 lid 4 lmc 0
 *	[1]	"H-0000000000100008"[1](100009) 		# "host4" lid 10 4xSDR
 *	Ca	1 "H-000000000010000a"		# "host5"
 *	[1](10000b) 	"S-0000000000200002"[2]		# lid 11 lmc 0 "leaf2" lid 4 4xSDR
 *
 * Other lines (vendid=…) contain nothing of interest.
 */
struct topology {
	struct fabric_build *b;
	uint32_t subnet, nodes;
	uint64_t guid; /* the node to which the following port lines belong */
	enum fabric_kind kind;
};

/*
 * Parses "S-0000000000200002". Returns the rest after the closing quote; NULL if it is no such id.
 */
static const char *id_parse(const char *s, uint64_t *guid)
{
	char *end;

	s = strchr(s, '"');
	if (!s || !s[1] || s[2] != '-' || !isxdigit((unsigned char)s[3]))
		return NULL;
	errno = 0;
	*guid = strtoull(s + 3, &end, 16);
	return *end == '"' && !errno ? end + 1 : NULL;
}

/* Parses the number after a blank and this word. False if there is none, or if it exceeds max. */
static bool number_after_word(const char *s, const char *word, unsigned long max,
			      unsigned long *out)
{
	const char *at = strstr(s, word);
	char *end;

	if (!at || !isdigit((unsigned char)at[strlen(word)]))
		return false;
	*out = strtoul(at + strlen(word), &end, 10);
	return *out <= max;
}

static const char *node_line(struct topology *t, const char *line, enum fabric_kind kind)
{
	const char *name, *last, *rest = id_parse(line, &t->guid);
	struct fabric_node *node;
	unsigned long lid;

	name = rest ? strchr(rest, '"') : NULL;
	last = name ? strrchr(name + 1, '"') : NULL;
	if (!last)
		return "a node without a GUID or a name";
	t->kind = kind;
	t->nodes++;
	if (fabric_build_node(t->b, kind, t->guid, name + 1, (size_t)(last - name - 1), t->subnet,
			      &node))
		return "a node that an earlier file has described: is a file given twice?";
	if (kind == FABRIC_SWITCH && number_after_word(last, " lid ", FABRIC_LIDS - 1, &lid))
		node->lid = (uint16_t)lid;
	return NULL;
}

/* Parses "[12]": a port's number, 1 to 254. */
static const char *port_parse(const char *s, uint16_t *out)
{
	char *end;
	unsigned long v;

	if (*s != '[' || !isdigit((unsigned char)s[1]))
		return NULL;
	v = strtoul(s + 1, &end, 10);
	if (*end != ']' || v < 1 || v > 254)
		return NULL;
	*out = (uint16_t)v;
	return end + 1;
}

static void speed_copy(struct fabric_end *e, const char *line)
{
	size_t len = strlen(line), from;

	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	for (from = len; from && !isspace((unsigned char)line[from - 1]);)
		from--;
	if (isdigit((unsigned char)line[from]) && len - from < sizeof(e->speed) &&
	    memchr(line + from, 'x', len - from))
		memcpy(e->speed, line + from, len - from);
}

static const char *port_line(struct topology *t, const char *line)
{
	struct fabric_end e = {.guid = t->guid, .subnet = t->subnet};
	const char *rest = port_parse(line, &e.number);
	unsigned long lid, lmc = 0;

	rest = rest ? id_parse(rest, &e.far_guid) : NULL;
	rest = rest ? port_parse(rest, &e.far_number) : NULL;
	if (!rest)
		return "a port that cannot be read";
	if (!t->nodes)
		return "a port of no node";
	if (t->kind == FABRIC_ADAPTER) {
		if (!number_after_word(rest, " lid ", FABRIC_LIDS - 1, &lid) ||
		    !number_after_word(rest, " lmc ", 7, &lmc))
			return "an adapter's port without a LID";
		e.lid = (uint16_t)lid;
		e.lmc = (uint8_t)lmc;
	}
	speed_copy(&e, rest);
	fabric_build_end(t->b, &e);
	return NULL;
}

static const char *topology_line(void *ctx, char *line)
{
	struct topology *t = ctx;

	if (!strncmp(line, "Switch", 6) && isspace((unsigned char)line[6]))
		return node_line(t, line, FABRIC_SWITCH);
	if ((!strncmp(line, "Ca", 2) || !strncmp(line, "Rt", 2)) && isspace((unsigned char)line[2]))
		return node_line(t, line, FABRIC_ADAPTER);
	return *line == '[' ? port_line(t, line) : NULL;
}

static const char *topology_end(void *ctx)
{
	const struct topology *t = ctx;

	return t->nodes ? NULL : "the file has no node";
}

int fabric_read_topology(struct fabric_build *b, FILE *in, const char *name)
{
	const struct fabric_lines lines = {topology_line, topology_end, "ibnetdiscover's output"};
	struct topology t = {.b = b, .subnet = fabric_build_subnet(b, name)};

	return fabric_lines_read(&lines, &t, in, name);
}

/* ---- forwarding tables ---- */

/*
 * Reads linear forwarding tables. In the output of dump_fts, ibroute and opensm, each switch's
 * table starts with "Unicast lids … guid 0x…", followed by a line for each LID:
 *
 *	0x0005 004 : (Channel Adapter portguid 0x0000000000100003: 'host1')
 */
#define NO_PORT 0xff

struct tables {
	struct fabric *f;
	struct fabric_node *node; /* owner of the table; NULL: none, or a multicast table */
	uint32_t cnt;
};

static const char *table_head(struct tables *t, const char *line)
{
	const char *guid = strstr(line, "guid 0x");
	uint32_t at;

	if (!guid)
		return "a table of a switch without a GUID";
	at = fabric_node_by_guid(t->f, strtoull(guid + 5, NULL, 16));
	if (at == FABRIC_NONE || t->f->node[at].kind != FABRIC_SWITCH)
		return "this switch is not in the topology: is the file from another fabric, "
		       "or older?";
	t->node = &t->f->node[at];
	if (!t->node->lft)
		t->node->lft = xmalloc(FABRIC_LIDS);
	memset(t->node->lft, NO_PORT, FABRIC_LIDS);
	t->node->nlft = FABRIC_LIDS;
	t->cnt++;
	return NULL;
}

static const char *table_line(struct tables *t, const char *line)
{
	char *end;
	unsigned long port, lid = strtoul(line, &end, 16);

	while (*end == ' ' || *end == '\t')
		end++;
	if (!isdigit((unsigned char)*end))
		return NULL; /* the switch writes a text here if it has no entry for this LID */
	port = strtoul(end, NULL, 10);
	if (lid < 1 || lid >= FABRIC_LIDS || port > NO_PORT)
		return "a LID or a port number out of range";
	t->node->lft[lid] = (uint8_t)port;
	return NULL;
}

static const char *tables_line(void *ctx, char *line)
{
	struct tables *t = ctx;

	while (*line == ' ' || *line == '\t')
		line++;
	if (!strncmp(line, "Unicast lids", 12))
		return table_head(t, line);
	if (!strncmp(line, "Multicast mlids", 15))
		t->node = NULL;
	return t->node && !strncmp(line, "0x", 2) ? table_line(t, line) : NULL;
}

static const char *tables_end(void *ctx)
{
	const struct tables *t = ctx;

	return t->cnt ? NULL : "the file has no table";
}

int fabric_read_tables(struct fabric *f, FILE *in, const char *name)
{
	const struct fabric_lines lines = {tables_line, tables_end,
					   "output of dump_fts, ibroute, or opensm-lfts.dump"};
	struct tables t = {.f = f};

	return fabric_lines_read(&lines, &t, in, name);
}
