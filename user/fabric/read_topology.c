/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * ibnetdiscover's output: for each node a line "Switch" or "Ca", then a line for each linked port:
 *
 *	Switch	4 "S-0000000000200002"		# "leaf2" base port 0 lid 4 lmc 0
 *	[1]	"H-0000000000100008"[1](100009) 		# "host4" lid 10 4xSDR
 *	Ca	1 "H-000000000010000a"		# "host5"
 *	[1](10000b) 	"S-0000000000200002"[2]		# lid 11 lmc 0 "leaf2" lid 4 4xSDR
 *
 * Other lines (vendid=…) say nothing that is needed.
 */
#include "fabric/read.h"

#include "lib/log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct topology {
	struct fabric_build *b;
	const char *name;
	uint32_t subnet, nodes;
	unsigned long line;
	uint64_t guid; /* the node that the port lines are of */
	enum fabric_kind kind;
};

static int damaged(const struct topology *t, const char *what)
{
	log_error("fabric: %s: line %lu: %s; wanted: ibnetdiscover's output", t->name, t->line,
		  what);
	return -EBADMSG;
}

/* "S-0000000000200002" and what stands behind the closing quote; NULL if it is not one. */
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

/* The number behind word, which stands behind a blank; false if there is none, or above max. */
static bool number_behind(const char *s, const char *word, unsigned long max, unsigned long *out)
{
	const char *at = strstr(s, word);
	char *end;

	if (!at || !isdigit((unsigned char)at[strlen(word)]))
		return false;
	*out = strtoul(at + strlen(word), &end, 10);
	return *out <= max;
}

static int node_line(struct topology *t, const char *line, enum fabric_kind kind)
{
	const char *name, *last, *rest = id_parse(line, &t->guid);
	struct fabric_node *node;
	unsigned long lid;

	name = rest ? strchr(rest, '"') : NULL;
	last = name ? strrchr(name + 1, '"') : NULL;
	if (!last)
		return damaged(t, "a node without a GUID or a name");
	t->kind = kind;
	t->nodes++;
	if (fabric_build_node(t->b, kind, t->guid, name + 1, (size_t)(last - name - 1), t->subnet,
			      &node))
		return damaged(t, "a node that was told of before: is a file given twice?");
	if (kind == FABRIC_SWITCH && number_behind(last, " lid ", FABRIC_LIDS - 1, &lid))
		node->lid = (uint16_t)lid;
	return 0;
}

/* "[12]": a port's number, 1 to 254. */
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

static int port_line(struct topology *t, const char *line)
{
	struct fabric_end e = {.guid = t->guid, .subnet = t->subnet};
	const char *rest = port_parse(line, &e.number);
	unsigned long lid, lmc = 0;

	rest = rest ? id_parse(rest, &e.far_guid) : NULL;
	rest = rest ? port_parse(rest, &e.far_number) : NULL;
	if (!rest)
		return damaged(t, "a port that cannot be read");
	if (!t->nodes)
		return damaged(t, "a port of no node");
	if (t->kind == FABRIC_ADAPTER) {
		if (!number_behind(rest, " lid ", FABRIC_LIDS - 1, &lid) ||
		    !number_behind(rest, " lmc ", 7, &lmc))
			return damaged(t, "an adapter's port without a LID");
		e.lid = (uint16_t)lid;
		e.lmc = (uint8_t)lmc;
	}
	speed_copy(&e, rest);
	fabric_build_end(t->b, &e);
	return 0;
}

static int topology_line(struct topology *t, const char *line)
{
	if (!strncmp(line, "Switch", 6) && isspace((unsigned char)line[6]))
		return node_line(t, line, FABRIC_SWITCH);
	if ((!strncmp(line, "Ca", 2) || !strncmp(line, "Rt", 2)) && isspace((unsigned char)line[2]))
		return node_line(t, line, FABRIC_ADAPTER);
	return *line == '[' ? port_line(t, line) : 0;
}

int fabric_read_topology(struct fabric_build *b, FILE *in, const char *name)
{
	struct topology t = {.b = b, .name = name};
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	t.subnet = fabric_build_subnet(b, name);
	while (!err && getline(&line, &room, in) >= 0) {
		t.line++;
		err = topology_line(&t, line);
	}
	if (!err && ferror(in)) {
		err = -EIO;
		log_error("fabric: cannot read %s: %s", name, strerror(errno));
	}
	if (!err && !t.nodes)
		err = damaged(&t, "the end, and no node");
	free(line);
	return err;
}
