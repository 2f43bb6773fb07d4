/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes the whole page (html.h): its head, the order of its parts, call sites and coverage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "lib/log.h"
#include "lib/file.h"
#include "lib/person.h"
#include "analysis/find.h"
#include "report/hang_text.h"
#include "report/html.h"
#include "version.h"

/* ---- rows ---- */

/*
 * Assigns ranks to rows. Up to HTML_ROWS_MAX ranks have a row each. With more ranks, neighbours on
 * a node share a row. With many nodes, a node is one row. If there are more nodes than rows,
 * neighbours share a row across nodes.
 */

static uint32_t divided_up(uint32_t n, uint32_t by)
{
	return (n + by - 1) / by;
}

static uint32_t host_of(const struct report *r, uint32_t process)
{
	return model_process_get(r->model, process)->host_idx;
}

/*
 * Lists the shown ranks of a node, or of all nodes (MOMENT_NO_ROW), in order. Returns their number.
 */
static uint32_t ranks_list(const struct report *r, uint32_t host, uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nprocesses; i++)
		if (r->chosen[i] && model_process_get(r->model, i)->is_rank &&
		    (host == MOMENT_NO_ROW || host_of(r, i) == host))
			list[n++] = i;
	return n;
}

/* "ranks 4–7"; "ranks 4…10" if the group skips ranks in between */
static char *group_label(const struct report *r, const uint32_t *rank, uint32_t n)
{
	const struct model_process *first = model_process_get(r->model, rank[0]),
				   *last = model_process_get(r->model, rank[n - 1]);
	bool all = first->job_idx == last->job_idx && last->rank - first->rank == (int32_t)n - 1;

	if (n == 1)
		return html_rank_name(r, rank[0]);
	return xasprintf("ranks %s%s%s", RANK_LABEL(r, first), all ? "–" : "…",
			 RANK_LABEL(r, last));
}

/* Adds rows of `each` neighbours. */
static void groups_add(struct html_rows *rows, const struct report *r, const uint32_t *rank,
		       uint32_t n, uint32_t each)
{
	for (uint32_t first = 0; first < n; first += each) {
		uint32_t cnt = n - first < each ? n - first : each;

		rows->label[rows->n] = group_label(r, rank + first, cnt);
		rows->ranks[rows->n] = cnt;
		rows->host[rows->n] = host_of(r, rank[first]);
		for (uint32_t i = first; i < first + cnt; i++)
			rows->of[rank[i]] = rows->n;
		rows->n++;
	}
}

/* Adds the rows of all nodes. A node without ranks has no row. */
static void nodes_add(struct html_rows *rows, const struct report *r, uint32_t *rank)
{
	uint32_t nhosts = model_get_info(r->model)->nhosts;
	uint32_t rows_each = HTML_ROWS_MAX / nhosts;

	rows->by_node = true;
	for (uint32_t host = 0; host < nhosts; host++) {
		uint32_t n = ranks_list(r, host, rank);

		if (n)
			groups_add(rows, r, rank, n, divided_up(n, rows_each));
	}
}

static void html_rows_make(struct html_rows *rows, const struct report *r)
{
	uint32_t *rank = xmalloc((r->nprocesses + 1) * sizeof(*rank));
	uint32_t n = ranks_list(r, MOMENT_NO_ROW, rank), nhosts = model_get_info(r->model)->nhosts;

	*rows = (struct html_rows){
		.of = xmalloc((r->nprocesses + 1) * sizeof(*rows->of)),
		.label = xcalloc(HTML_ROWS_MAX, sizeof(*rows->label)),
		.ranks = xcalloc(HTML_ROWS_MAX, sizeof(*rows->ranks)),
		.host = xcalloc(HTML_ROWS_MAX, sizeof(*rows->host)),
		.folded = n > HTML_ROWS_MAX,
	};
	for (uint32_t i = 0; i < r->nprocesses; i++)
		rows->of[i] = MOMENT_NO_ROW;
	if (rows->folded && nhosts > 1 && nhosts <= HTML_ROWS_MAX)
		nodes_add(rows, r, rank);
	else if (n)
		groups_add(rows, r, rank, n, divided_up(n, HTML_ROWS_MAX));
	free(rank);
}

/* Returns the number of rows of a node. first: the node's first row. */
uint32_t html_rows_of_node(const struct html_rows *rows, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < rows->n && rows->host[first + n] == rows->host[first])
		n++;
	return n;
}

static void html_rows_release(struct html_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		free(rows->label[i]);
	free(rows->label);
	free(rows->ranks);
	free(rows->host);
	free(rows->of);
}

#define COMMAND_CHARS 300
#define TITLE_CHARS 80
#define ENDS_SHOWN 8

/* The Makefile generates this from page.css. */
extern const char report_style[];

/* Parts with an entry in the navigation, in the order of the page. */
static const struct {
	const char *id, *name;
} parts[] = {
	{"efficiency", "Efficiency"},
	{"account", "Where time went"},
	{"causes", "Why, and what to do"},
	{"map", "Ranks by time"},
	{"places", "Where ranks computed"},
	{"waits", "Who waited for whom"},
	{"messages", "Messages"},
	{"sizes", "Message sizes"},
	{"sites", "Call sites"},
	{"coverage", "Coverage"},
};

/* ---- head ---- */

/* The policy forbids scripts and external files, whatever names a trace contains. */
static const char head_begin[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" "
	"content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n<title>";

/* Hatching for the classes of page.css, so that states differ without colours, too. */
static const char patterns[] =
	"<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs>\n"
#define PATTERN(id, marks)                                                                 \
	"<pattern id=\"" id "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">" \
	"<rect class=\"b-" id "\" width=\"6\" height=\"6\"/>" marks "</pattern>\n"
#define UP(id) "<path class=\"f-" id "\" d=\"M-1 7L7 -1M-1 1L1 -1M5 7L7 5\"/>"
#define DOWN(id) "<path class=\"f-" id "\" d=\"M-1 -1L7 7M-1 5L1 7M5 -1L7 1\"/>"
#define DOTS(id) "<path class=\"f-" id "\" d=\"M1 2h2\" style=\"stroke-width:2\"/>"
#define LINES(id) "<path class=\"f-" id "\" d=\"M0 2.5h6\"/>"
#define BARS(id) "<path class=\"f-" id "\" d=\"M2.5 0v6\"/>"
	PATTERN("q", UP("q")) PATTERN("w", DOWN("w")) PATTERN("v", LINES("v"))
		PATTERN("a", DOTS("a")) PATTERN("f", BARS("f")) PATTERN("o", DOTS("o"))
			PATTERN("p", LINES("p") BARS("p"))
				PATTERN("u", UP("u") DOWN("u")) "</defs></svg>\n";
#undef PATTERN
#undef UP
#undef DOWN
#undef DOTS
#undef LINES
#undef BARS

static void nav_put(struct html *h)
{
	html_put(h, "<nav aria-label=\"Parts of this page\"><ul>\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		html_put(h, "<li><a href=\"#%s\">%s</a></li>\n", parts[i].id, parts[i].name);
	html_put(h, "</ul></nav>\n");
}

static void distortion_put(struct html *h)
{
	char *text;

	if (!distortion_matters(&h->r->distortion))
		return;
	text = distortion_text(&h->r->distortion);
	html_paragraph(h, "bad", "Distorted: %s.", text);
	free(text);
}

static void ends_put(struct html *h)
{
	const struct rank_ends *e = &h->r->ends;
	uint32_t shown = 0, hidden = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		char *text = rank_ends_text(e, i);

		if (text && shown < ENDS_SHOWN) {
			if (!shown++)
				html_put(h, "<h2>Ranks that failed or did not finish, earliest "
					    "first</h2>\n");
			html_paragraph(h, "bad", "%s.", text);
		} else if (text) {
			hidden++;
		}
		free(text);
	}
	if (hidden)
		html_paragraph(h, "note", "%u more: povtrace report --top 0 shows all.", hidden);
}

static void hang_put(struct html *h)
{
	struct hang_text t;
	uint32_t shown;

	if (!hang_text_matters(h->r))
		return;
	hang_text_make(h->r, &t);
	html_put(h, "<h2>Where ranks were when the recording ended</h2>\n");
	for (uint32_t i = 0; i < t.nsentences; i++)
		html_paragraph(h, t.sentence[i].certain ? "bad" : NULL, "%s.", t.sentence[i].text);
	if (t.ngroups)
		html_table(h, table_hang(&t, &shown), "Ranks in the same state", NULL);
	else
		html_paragraph(h, NULL, "%s",
			       h->r->hang.cut ?
				       "Unknown: the file is cut off, and lacks calls that had not "
				       "returned." :
				       "No rank that had called MPI was left.");
	hang_text_release(&t);
}

static void head_put(struct html *h)
{
	char *command = text_command(h->r, COMMAND_CHARS), *facts = text_facts(h->r);
	const char *title = *command ? command : trace_source_name(h->r->source);
	char *name = text_printable(title, TITLE_CHARS);

	html_put(h, "%s", head_begin);
	html_text(h, "%s", name);
	html_put(h, "</title>\n<style>\n%s</style>\n</head>\n<body>\n%s", report_style, patterns);
	html_put(h,
		 "<a class=\"skip\" href=\"#efficiency\">Skip to the report</a>\n<header>\n<h1>");
	html_text(h, "%s", title);
	html_put(h, "</h1>\n");
	html_paragraph(h, "facts", "%s", facts);
	distortion_put(h);
	html_notes(h, text_doubts);
	html_put(h, "<details><summary>About this recording</summary>\n");
	html_notes(h, text_about);
	html_put(h, "</details>\n</header>\n");
	nav_put(h);
	free(name);
	free(command);
	free(facts);
}

/* ---- body ---- */

static void shown_put(struct html *h, uint32_t shown, uint32_t n)
{
	if (shown < n)
		html_paragraph(h, "note", "%u of %u shown; --rank LIST chooses, --top 0 shows all.",
			       shown, n);
}

static void places_put(struct html *h)
{
	struct places_shown what;
	struct columns *c = table_places(h->r, &what);

	html_section_begin(h, "places", "Where ranks computed");
	if (what.n) {
		html_table(h, c, PLACES_TITLE, NULL);
		shown_put(h, what.shown, what.n);
	} else {
		columns_free(c);
		html_paragraph(h, NULL, "%s", places_none_text(h->r));
	}
	html_section_end(h);
}

static void sites_put(struct html *h)
{
	struct call_sites_shown what;
	struct columns *c = table_call_sites(h->r, &what);

	html_section_begin(h, "sites", "Call sites");
	if (what.n) {
		html_table(h, c, "MPI functions by the place that they were called from", NULL);
		shown_put(h, what.shown, what.n);
	} else {
		columns_free(c);
		html_paragraph(h, NULL, "No MPI call of the processes shown was recorded.");
	}
	if (what.n && what.unnamed)
		html_paragraph(
			h, "note",
			"FILE+0x…: the place in the source is unknown. To see it, keep the file "
			"as it was recorded, with debug information (cc -g).");
	html_section_end(h);
}

static void coverage_put(struct html *h)
{
	html_section_begin(h, "coverage", "Coverage");
	html_put(h, "<details><summary>What was recorded, what could not be, and what recording "
		    "cost</summary>\n");
	html_preformatted(h, text_coverage);
	html_put(h, "</details>\n");
	html_section_end(h);
}

static void page_put(struct html *h)
{
	head_put(h);
	html_put(h, "<main>\n");
	if (!h->r->nranks)
		html_notes(h, text_no_rank);
	ends_put(h);
	html_notes(h, text_failed);
	hang_put(h);
	html_efficiency(h);
	html_account(h);
	html_causes(h);
	html_map(h);
	places_put(h);
	html_waits(h);
	html_messages(h);
	sites_put(h);
	coverage_put(h);
	html_put(h, "</main>\n<footer>\n");
	html_paragraph(h, NULL, "Written by povtrace %s. How to read it: povtrace help report.",
		       POV_VERSION);
	html_put(h, "</footer>\n</body>\n</html>\n");
}

/* "node1.pov node2.pov --offset node2.pov=-12 --one-run" */
static char *recordings_text(const struct report *r)
{
	char *text = xstrdup("");

	if (r->source->temporary) {
		free(text);
		return NULL;
	}
	for (size_t i = 0; i < r->nsources; i++) {
		char *file = html_quoted(r->source[i].path);

		text = words(text, "%s%s", i ? " " : "", file);
		free(file);
	}
	for (size_t i = 0; i < r->nsources; i++) {
		char *file = html_quoted(r->source[i].path);

		if (r->source[i].offset_given)
			text = words(text, " --offset %s=%lld", file,
				     (long long)r->source[i].offset_ns);
		free(file);
	}
	return r->source->one_run && r->nsources > 1 ? words(text, " --one-run") : text;
}

static int page_write(struct report *r, FILE *out)
{
	struct html h = {.out = out, .r = r, .recordings = recordings_text(r)};
	int err;

	html_rows_make(&h.rows, r);
	err = html_map_replay(&h);
	if (!err)
		page_put(&h);
	if (!err && (fflush(out) || ferror(out))) {
		err = errno ? -errno : -EIO;
		log_error("report: cannot write: %s", log_unwritten(-err));
	}
	moment_bands_release(&h.bands);
	html_rows_release(&h.rows);
	free(h.recordings);
	return err;
}

int report_html(struct report *r, const char *path)
{
	struct person *behind = person_behind();
	struct output_file o;
	int err = output_file_begin(&o, "report", r->source->path, path, behind);

	if (!err) {
		err = page_write(r, o.file);
		err = output_file_end(&o, err);
	}
	if (!err)
		log_info("wrote %s", path);
	person_free(behind);
	return err;
}
