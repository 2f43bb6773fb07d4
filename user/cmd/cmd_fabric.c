/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace fabric prints the load that traffic puts on the links of an InfiniBand fabric. This file
 * has the options and opens the files; fabric/ does the work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/option.h"
#include "fabric/load.h"
#include "fabric/fabric.h"
#include "fabric/traffic.h"

struct fabric_options {
	struct option_list tables, matrices, routes;
	const char *hosts, *traffic, *context;
	int by;
	bool json, csv;
	uint64_t top;
};

static FILE *file_open(const char *path)
{
	FILE *in = fopen(path, "r");

	if (!in)
		log_error("fabric: cannot open %s: %s", path, strerror(errno));
	return in;
}

/* ---- the fabric ---- */

static int topology_read(char **path, int n, struct fabric *out)
{
	struct fabric_build b = {0};
	int err = 0;

	for (int i = 0; i < n && !err; i++) {
		FILE *in = file_open(path[i]);

		err = in ? fabric_read_topology(&b, in, path[i]) : -ENOENT;
		if (in)
			fclose(in);
	}
	if (err)
		fabric_build_release(&b);
	return err ? err : fabric_build_finish(&b, out);
}

static int tables_read(struct fabric *f, const struct option_list *paths)
{
	int err = 0;

	for (size_t i = 0; i < paths->cnt && !err; i++) {
		FILE *in = file_open(paths->item[i]);

		err = in ? fabric_read_tables(f, in, paths->item[i]) : -ENOENT;
		if (in)
			fclose(in);
	}
	return err;
}

/* ---- routes ---- */

static uint32_t end_by_host(const struct fabric *f, const char *host, uint32_t subnet)
{
	struct fabric_place place;
	uint32_t port;

	fabric_place_init(&place, f, host);
	port = fabric_place_port(f, &place, NULL, subnet);
	fabric_place_release(&place);
	return port;
}

/*
 * Returns the port of a LID, or the first linked port of a host. subnet may be FABRIC_NONE (any).
 */
static uint32_t end_find(const struct fabric *f, const char *text, uint32_t subnet)
{
	uint32_t port = FABRIC_NONE;
	uint64_t lid;

	if (human_parse_u64(text, &lid) || lid >= FABRIC_LIDS)
		port = end_by_host(f, text, subnet);
	else if (subnet != FABRIC_NONE)
		port = fabric_port_by_lid(f, subnet, (uint16_t)lid);
	else
		for (uint32_t i = 0; i < f->nsubnet && port == FABRIC_NONE; i++)
			port = fabric_port_by_lid(f, i, (uint16_t)lid);
	if (port == FABRIC_NONE)
		log_error(
			"fabric: --route: \"%s\" is neither a LID nor a host with a linked port%s",
			text, subnet == FABRIC_NONE ? "" : " in the subnet where the route begins");
	return port;
}

static void route_print(const struct fabric *f, uint32_t from, uint16_t lid,
			const struct fabric_route *r)
{
	printf("%s port %u to LID %u\n", fabric_port_node(f, from)->name, f->port[from].number,
	       lid);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct fabric_port *out = &f->port[r->out[i]], *in = &f->port[out->far];

		printf("  [%u] -> %s 0x%016llx [%u] \"%s\"\n", out->number,
		       f->node[in->node].kind == FABRIC_SWITCH ? "switch" : "adapter",
		       (unsigned long long)f->node[in->node].guid, in->number,
		       f->node[in->node].name);
	}
}

/* Prints the path from one end to the other; text is "FROM,TO". 0 or -errno (printed). */
static int route_show(const struct fabric *f, const char *text)
{
	char *from_text = xstrdup(text), *comma = strchr(from_text, ',');
	uint32_t from = FABRIC_NONE, to = FABRIC_NONE;
	struct fabric_route r;
	uint64_t lid;
	int err = 0;

	if (comma) {
		*comma = 0;
		from = end_find(f, from_text, FABRIC_NONE);
		to = from == FABRIC_NONE ? from : end_find(f, comma + 1, f->port[from].subnet);
	} else {
		log_error("fabric: --route needs FROM,TO: two LIDs or hosts");
	}
	if (to == FABRIC_NONE) {
		err = -EINVAL;
	} else {
		if (human_parse_u64(comma + 1, &lid))
			lid = f->port[to].lid;
		fabric_route_find(f, from, (uint16_t)lid, &r);
		route_print(f, from, (uint16_t)lid, &r);
		if (r.end != ROUTE_ARRIVED) {
			log_error("fabric: no path: at \"%s\": %s", f->node[r.at].name,
				  fabric_route_text(r.end));
			err = -ENOENT;
		}
	}
	free(from_text);
	return err;
}

/* ---- traffic ---- */

/* Reads "NAME=FILE", or FILE, whose path is then the context's name. */
static int matrix_read(struct fabric_load *l, const struct fabric_hosts *h, const char *text)
{
	const char *equal = strchr(text, '='), *path = equal ? equal + 1 : text;
	FILE *in = file_open(path);
	char *name;
	int err;

	if (!in)
		return -ENOENT;
	name = equal ? xasprintf("%.*s", (int)(equal - text), text) : xstrdup(path);
	err = fabric_traffic_read_matrix(l, h, name, in, path);
	free(name);
	fclose(in);
	return err;
}

static int traffic_read(struct fabric_load *l, const struct fabric_hosts *h,
			const struct fabric_options *o)
{
	int err = 0;

	if (o->traffic) {
		FILE *in = file_open(o->traffic);

		err = in ? fabric_traffic_read_csv(l, h, (enum fabric_by)o->by, in, o->traffic) :
			   -ENOENT;
		if (in)
			fclose(in);
	}
	for (size_t i = 0; i < o->matrices.cnt && !err; i++)
		err = matrix_read(l, h, o->matrices.item[i]);
	return err;
}

static int hosts_read(struct fabric_hosts *h, const struct fabric *f, const char *path)
{
	FILE *in = file_open(path);
	int err = in ? fabric_hosts_read(h, f, in, path) : -ENOENT;

	if (in)
		fclose(in);
	return err;
}

static int shown_find(const struct fabric_load *l, const struct fabric_options *o,
		      struct fabric_shown *out)
{
	*out = (struct fabric_shown){.top = (uint32_t)o->top, .only = FABRIC_NONE};
	if (!o->context)
		return 0;
	for (uint32_t i = 0; i < l->ncontext; i++) {
		if (!strcmp(l->context[i], o->context)) {
			out->only = i;
			return 0;
		}
	}
	log_error("fabric: no traffic has the context \"%s\"; these exist:", o->context);
	for (uint32_t i = 0; i < l->ncontext; i++)
		log_error("  %s", l->context[i]);
	return -EINVAL;
}

static int load_print(const struct fabric_load *l, const struct fabric_options *o)
{
	struct fabric_shown how;
	int err = shown_find(l, o, &how);

	if (err)
		return err;
	if (l->unrouted.flows)
		log_warn("fabric: %u flows have no path in the forwarding tables; no link counts "
			 "them",
			 l->unrouted.flows);
	if (!l->nflow) {
		log_error(
			l->unrouted.flows ?
				"fabric: no flow has a path: are the forwarding tables (--tables) "
				"of this fabric there?" :
				"fabric: no traffic from one adapter of this fabric to another");
		return -ENODATA;
	}
	err = o->json ? fabric_print_json(l, &how, stdout) :
	      o->csv  ? fabric_print_csv(l, &how, stdout) :
			fabric_print_text(l, &how, stdout);
	if (err)
		log_error("fabric: cannot write: %s", log_unwritten(-err));
	return err;
}

static int load_show(const struct fabric *f, const struct fabric_options *o)
{
	struct fabric_hosts hosts = {0};
	struct fabric_load l;
	int err;

	fabric_load_begin(&l, f);
	err = hosts_read(&hosts, f, o->hosts);
	if (!err)
		err = traffic_read(&l, &hosts, o);
	if (!err) {
		fabric_load_finish(&l);
		err = load_print(&l, o);
	}
	fabric_load_release(&l);
	fabric_hosts_release(&hosts);
	return err;
}

/* Returns what is wrong with the options, or NULL. */
static const char *usage_wrong(const struct fabric_options *o, int argc)
{
	bool traffic = o->traffic || o->matrices.cnt;

	if (!argc)
		return "give ibnetdiscover's output, one file for each subnet";
	if (!o->tables.cnt)
		return "give the switches' forwarding tables: --tables FILE (dump_fts > FILE)";
	if (!traffic && !o->routes.cnt)
		return "give traffic (--traffic or --matrix), or the two ends of a path (--route)";
	if (traffic && !o->hosts)
		return "say which rank ran where: --hosts FILE";
	return o->json && o->csv ? "--json and --csv cannot be combined" : NULL;
}

static int fabric_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct fabric_options *o = opts;
	const char *wrong = usage_wrong(o, argc);
	struct fabric f = {0};
	int err;

	if (wrong) {
		log_error("fabric: %s; see `povtrace help fabric`", wrong);
		return 2;
	}
	err = topology_read(argv, argc, &f);
	if (!err)
		err = tables_read(&f, &o->tables);
	for (size_t i = 0; i < o->routes.cnt && !err; i++)
		err = route_show(&f, o->routes.item[i]);
	if (!err && o->hosts)
		err = load_show(&f, o);
	fabric_release(&f);
	return err ? 1 : 0;
}

static const char *const by_names[] = {"function", "group", "phase", "region", NULL};

#define FIELD(name) offsetof(struct fabric_options, name)
static const struct option_def options[] = {
	{"tables", 't', OPTION_LIST, FIELD(tables), "FILE",
	 .help = "The switches' linear forwarding tables: output of dump_fts or ibroute, or "
		 "opensm's opensm-lfts.dump. May be given several times."},
	{"hosts", 'H', OPTION_STRING, FIELD(hosts), "FILE",
	 .help = "Which rank ran where: lines \"RANK HOST [LID]\"; with several jobs \"JOB:RANK "
		 "HOST [LID]\". HOST is the first word of the adapter's description in "
		 "ibnetdiscover's output, LID one of its ports."},
	{"traffic", 'T', OPTION_STRING, FIELD(traffic), "FILE",
	 .help = "Traffic as `povtrace report --traffic --csv` writes it."},
	{"matrix", 'm', OPTION_LIST, FIELD(matrices), "[NAME=]FILE",
	 .help = "Traffic as a matrix: line I, column J has the bytes that rank I sent to rank J. "
		 "NAME is its context. May be given several times."},
	{"by", 'b', OPTION_CHOICE, FIELD(by), "WHAT", .dflt = "function", .choices = by_names,
	 .help = "What a context is: the MPI function of the traffic, its group, the program's "
		 "phase, or the region."},
	{"context", 'c', OPTION_STRING, FIELD(context), "NAME",
	 .help = "Show only this context; \"all\" is the sum of all."},
	{"route", 'r', OPTION_LIST, FIELD(routes), "FROM,TO",
	 .help = "Show the path from one LID or host to another one."},
	{"top", 'n', OPTION_U64, FIELD(top), "N", .dflt = "10", .max = 1000000,
	 .help = "Rows of long tables; 0 for all."},
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write JSON, from which povplot makes a page or a picture; its members are "
		 "described in kmod-docs/FABRIC.md."},
	{"csv", .type = OPTION_FLAG, .offset = FIELD(csv),
	 .help = "Write CSV: a row for each link, direction and context with traffic."},
	{.name = NULL},
};

static const char *const examples[] = {
	"povtrace fabric -t lfts.txt -H hosts.txt -T traffic.csv topology.txt",
	"the load of a recorded run on each link, by MPI function",
	"povtrace fabric -t lfts.txt -H hosts.txt -m alltoall=a.txt -m bcast=b.txt topology.txt",
	"traffic of two collectives from matrices of bytes",
	"povtrace fabric -t lfts.txt -H hosts.txt -T traffic.csv --json topology.txt",
	"the same for povplot: `… | povplot - -o fabric.html` makes a page, .svg, .pdf or .png a "
	"picture",
	"povtrace fabric -t lfts.txt --route node1,node17 topology.txt",
	"the path from one host to another",
	"povtrace fabric -t a.lfts -t b.lfts -H hosts.txt -T traffic.csv --csv a.topo b.topo",
	"two subnets, for a spreadsheet",
	NULL,
};

const struct command cmd_fabric = {
	.name = "fabric",
	.brief = "Print what load traffic puts on the links of an InfiniBand fabric.",
	.usage = "[options] TOPOLOGY ...",
	.details =
		"Reads the fabric as ibnetdiscover prints it (one file for each subnet), the "
		"switches' forwarding tables, and traffic. Follows each flow from its adapter to "
		"the destination LID, and adds up bytes and flows per link and direction. Prints "
		"the hottest links, how evenly the links of a level are used, and links that "
		"several flows of one context share.\n\n"
		"Traffic comes from a recording (`povtrace record --layers posts`, `povtrace "
		"report --traffic --csv`) or from a matrix of bytes from rank to rank. Bytes are "
		"summed over the whole run: two flows that share a link need not have used it at "
		"the same time. A warning counts flows without a path. Needs no privilege and "
		"works on any machine.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct fabric_options),
	.run = fabric_run,
};
