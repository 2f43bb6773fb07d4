/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Fabrics read from text, routes through them, and the load of flows on their links:
 * cases/fabric.txt.
 */
#include "unit/test.h"
#include "fabric/fabric.h"
#include "fabric/load.h"
#include "fabric/traffic.h"
#include "unit/cases.h"

struct world {
	struct fabric fabric;
	struct fabric_hosts hosts;
	struct fabric_load load;
	char *file; /* the lines so far */
	size_t bytes;
	FILE *writing;
};

/* Adds a line to the file and expands its "\n", "\r" and "\t". */
static void file_add(struct world *w, const char *text)
{
	static const char escapes[] = "nrt", meant[] = "\n\r\t";

	for (; *text; text++) {
		if (*text == '\\')
			fputc(meant[strchr(escapes, *++text) - escapes], w->writing);
		else
			fputc(*text, w->writing);
	}
	fputc('\n', w->writing);
}

static void end_print(const struct fabric *f, uint32_t port, FILE *out)
{
	if (port == FABRIC_NONE)
		fputs("none", out);
	else
		fprintf(out, "%s[%u]", fabric_port_node(f, port)->name, f->port[port].number);
}

static void fabric_print(const struct fabric *f, FILE *out)
{
	fprintf(out, "%u nodes, %u ports, %u links, %u subnets, %d levels\n", f->nnode, f->nport,
		f->nlink, f->nsubnet, f->levels);
	for (uint32_t i = 0; i < f->nnode; i++)
		fprintf(out, "%s lid %u level %d ports %u\n", f->node[i].name, f->node[i].lid,
			f->node[i].level, f->node[i].nport);
	for (uint32_t i = 0; i < f->nport; i++)
		assert_int_equal(f->port[f->port[i].far].far, i);
	for (uint32_t i = 0; i < f->nlink; i++) {
		end_print(f, f->link[i].port[0], out);
		fputs(" - ", out);
		end_print(f, f->link[i].port[1], out);
		fprintf(out, " %s %g\n", f->link[i].speed, f->link[i].gbit_per_s);
	}
}

static void context_print(const struct fabric_load *l, uint32_t context, FILE *out)
{
	const struct fabric *f = l->fabric;

	fprintf(out, "%s:", l->context[context]);
	for (uint32_t i = 0; i < 2 * f->nlink; i++) {
		const struct fabric_half *h = fabric_load_half(l, context, i / 2, i % 2);

		if (!h->flows)
			continue;
		fputc(' ', out);
		end_print(f, f->link[i / 2].port[i % 2], out);
		fprintf(out, " %llu in %u", (unsigned long long)h->bytes, h->flows);
	}
	fputc('\n', out);
}

static void load_print(struct fabric_load *l, FILE *out)
{
	struct fabric_conflicts c;
	struct fabric_level *row;
	struct fabric_hot *hot;
	uint32_t n;

	fabric_load_finish(l);
	for (uint32_t i = 0; i < l->ncontext; i++)
		context_print(l, i, out);
	fprintf(out, "%u flows, local %llu in %u, outside %llu in %u, unrouted %u, unknown %llu\n",
		l->nflow, (unsigned long long)l->local.bytes, l->local.flows,
		(unsigned long long)l->outside.bytes, l->outside.flows, l->unrouted.flows,
		(unsigned long long)l->unknown_messages);
	hot = fabric_hottest(l, 0, false, &n);
	fprintf(out, "hottest of %u: %llu\n", n, n ? (unsigned long long)hot[0].sum.bytes : 0);
	free(hot);
	c = fabric_conflicts_of(l, 0);
	fprintf(out, "conflicts: %u used, %u shared, most %u\n", c.used, c.shared, c.most);
	row = fabric_levels(l, 0, &n);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "level %d to %d: %u of %u used, %llu bytes, %llu to %llu\n",
			row[i].from, row[i].to, row[i].used, row[i].links,
			(unsigned long long)row[i].bytes, (unsigned long long)row[i].min_bytes,
			(unsigned long long)row[i].max_bytes);
	free(row);
}

static int topology_read(struct world *w, FILE *in)
{
	struct fabric_build b = {0};
	int err = fabric_read_topology(&b, in, "topology");

	if (err) {
		fabric_build_release(&b);
		return err;
	}
	fabric_release(&w->fabric);
	w->fabric = (struct fabric){0};
	return fabric_build_finish(&b, &w->fabric);
}

static int file_read(struct world *w, const char *what, FILE *in)
{
	if (!strcmp(what, "topology"))
		return topology_read(w, in);
	if (!strcmp(what, "tables"))
		return fabric_read_tables(&w->fabric, in, "tables");
	if (!strcmp(what, "hosts")) {
		fabric_hosts_release(&w->hosts);
		return fabric_hosts_read(&w->hosts, &w->fabric, in, "hosts");
	}
	fabric_load_release(&w->load);
	fabric_load_begin(&w->load, &w->fabric);
	if (!strcmp(what, "matrix"))
		return fabric_traffic_read_matrix(&w->load, &w->hosts, "m", in, "matrix");
	return fabric_traffic_read_csv(&w->load, &w->hosts, FABRIC_BY_FUNCTION, in, "csv");
}

static void place_print(struct world *w, const char *of, FILE *out)
{
	const struct fabric_place *place;
	unsigned int job, rank;
	char device[16];

	assert_int_equal(sscanf(of, "%u:%u %15s", &job, &rank, device), 3);
	place = fabric_hosts_find(&w->hosts, job, rank);
	if (place) {
		end_print(&w->fabric, fabric_place_port(&w->fabric, place, device, FABRIC_NONE),
			  out);
		assert_int_equal(fabric_place_port(&w->fabric, place, NULL, 1), FABRIC_NONE);
	}
	fprintf(out, "%s\n", place ? "" : "nowhere");
}

static void route_print(const struct fabric *f, unsigned int from, unsigned int to, FILE *out)
{
	struct fabric_route r;

	fabric_route_find(f, fabric_port_by_lid(f, 0, (uint16_t)from), (uint16_t)to, &r);
	fprintf(out, "%u links: %s\n", r.n, fabric_route_text(r.end));
}

static void play_line(struct world *w, char *line, FILE *out)
{
	char *rest = line + strcspn(line, " ");
	unsigned int a, b;
	FILE *in;
	int err;

	if (*line == '|') {
		file_add(w, line + 1);
	} else if (!strcmp(line, "fabric")) {
		fabric_print(&w->fabric, out);
	} else if (!strcmp(line, "load")) {
		load_print(&w->load, out);
	} else if (sscanf(line, "lid %u", &a) == 1) {
		fprintf(out, "lid %u: ", a);
		end_print(&w->fabric, fabric_port_by_lid(&w->fabric, 0, (uint16_t)a), out);
		fputc('\n', out);
	} else if (sscanf(line, "route %u %u", &a, &b) == 2) {
		route_print(&w->fabric, a, b, out);
	} else if (!strncmp(line, "place ", 6)) {
		place_print(w, rest + 1, out);
	} else {
		if (*rest) {
			*rest = '\0';
			file_add(w, rest + 1);
		}
		fclose(w->writing);
		in = fmemopen(w->file, w->bytes, "r");
		err = file_read(w, line, in);
		fclose(in);
		free(w->file);
		w->writing = open_memstream(&w->file, &w->bytes);
		if (err)
			fprintf(out, "%s: %s\n", line, strerrorname_np(-err));
	}
}

static void play(const struct script *lines, FILE *out)
{
	struct world w = {0};

	w.writing = open_memstream(&w.file, &w.bytes);
	for (size_t i = 0; i < lines->cnt; i++)
		play_line(&w, lines->line[i], out);
	fclose(w.writing);
	free(w.file);
	fabric_load_release(&w.load);
	fabric_hosts_release(&w.hosts);
	fabric_release(&w.fabric);
}

TEST(fabric)
{
	cases_run("fabric", play);
}
