/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Output functions of all parts of the page. All text from a trace must go through html_text(). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/text.h"
#include "report/html.h"

#define LINE_MAX_CHARS 4000 /* cuts each text here; names and sentences are shorter */

/* ---- text ---- */

void html_put(struct html *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(h->out, fmt, ap);
	va_end(ap);
}

static void escaped_put(struct html *h, const char *text)
{
	char *clean = text_printable(text, LINE_MAX_CHARS);

	for (const char *p = clean; *p; p++) {
		if (*p == '<' || *p == '>' || *p == '&' || *p == '\'' || *p == '"')
			fprintf(h->out, "&#%d;", *p);
		else
			fputc(*p, h->out);
	}
	free(clean);
}

static void text_put(struct html *h, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
static void text_put(struct html *h, const char *fmt, va_list ap)
{
	char *text = xvasprintf(fmt, ap);

	escaped_put(h, text);
	free(text);
}

void html_text(struct html *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_put(h, fmt, ap);
	va_end(ap);
}

void html_paragraph(struct html *h, const char *class, const char *fmt, ...)
{
	va_list ap;

	if (class)
		html_put(h, "<p class=\"%s\">", class);
	else
		html_put(h, "<p>");
	va_start(ap, fmt);
	text_put(h, fmt, ap);
	va_end(ap);
	html_put(h, "</p>\n");
}

void html_section_begin(struct html *h, const char *id, const char *title)
{
	html_put(h,
		 "<section id=\"%s\" aria-labelledby=\"%s-title\" tabindex=\"-1\">\n"
		 "<h2 id=\"%s-title\">",
		 id, id, id);
	html_text(h, "%s", title);
	html_put(h, "</h2>\n");
}

void html_section_end(struct html *h)
{
	html_put(h, "</section>\n");
}

/* ---- output of the text report ---- */

/*
 * True if a line continues the one before: it is indented further, or its first word did not fit
 * there.
 */
static bool line_continues(const char *before, const char *line)
{
	size_t indent = strspn(line, " ");

	return indent > 2 ||
	       (indent == 2 && strlen(before) + 1 + strcspn(line + indent, " ") > TEXT_NOTE_WIDTH);
}

/* Puts printed text as paragraphs and joins wrapped lines. Frees text. */
static void printed_put(struct html *h, char *text)
{
	char *before = NULL, *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (before && line_continues(before, line))
			html_put(h, " ");
		else
			html_put(h, "%s<p class=\"note\">", before ? "</p>\n" : "");
		escaped_put(h, line + strspn(line, " "));
		before = line;
	}
	if (before)
		html_put(h, "</p>\n");
	free(text);
}

/* Runs print and returns its output. Caller frees. */
static char *printed(const struct report *r, void (*print)(const struct report *r, FILE *out))
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		die("out of memory");
	print(r, out);
	fclose(out);
	return text;
}

void html_notes(struct html *h, void (*print)(const struct report *r, FILE *out))
{
	printed_put(h, printed(h->r, print));
}

void html_preformatted(struct html *h, void (*print)(const struct report *r, FILE *out))
{
	char *text = printed(h->r, print), *save = NULL;

	html_put(h, "<pre class=\"scroll\" tabindex=\"0\">");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		escaped_put(h, line);
		html_put(h, "\n");
	}
	html_put(h, "</pre>\n");
	free(text);
}

/* ---- commands ---- */

char *html_quoted(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_./:=@%+,-";
	char *text, *p;

	if (*word && word[strspn(word, plain)] == '\0')
		return xstrdup(word);
	text = p = xmalloc(4 * strlen(word) + 3);
	*p++ = '\'';
	for (; *word; word++)
		p = *word == '\'' ? stpcpy(p, "'\\''") : (*p = *word, p + 1);
	*p++ = '\'';
	*p = '\0';
	return text;
}

/* Number of decimals, in seconds, that resolves a hundredth of ns. */
static int digits_for(uint64_t ns)
{
	uint64_t step = 1000000000;
	int digits = 0;

	while (digits < 9 && step > ns / 100) {
		step /= 10;
		digits++;
	}
	return digits;
}

struct html_moment html_around(const struct report *r, struct html_moment at)
{
	const struct model_info *info = model_get_info(r->model);
	uint64_t pad_ns = (at.to_ns > at.from_ns ? at.to_ns - at.from_ns : 0) / 4 + 1000;

	at.from_ns = at.from_ns > info->start_ns + pad_ns ? at.from_ns - pad_ns : info->start_ns;
	at.to_ns = at.to_ns + pad_ns < info->end_ns ? at.to_ns + pad_ns : info->end_ns;
	return at;
}

void html_command(struct html *h, struct html_moment at)
{
	int digits = digits_for(at.to_ns > at.from_ns ? at.to_ns - at.from_ns : 0);

	if (!h->recordings)
		return;
	html_put(h, "<code class=\"command\" tabindex=\"0\">");
	html_text(h, "povtrace export %s -o moment.svg --from %.*f --to %.*f", h->recordings,
		  digits, (double)json_since_start(h->r, at.from_ns) / 1e9, digits,
		  (double)json_since_start(h->r, at.to_ns) / 1e9);
	html_put(h, "</code>");
}

/* ---- tables ---- */

static void head_put(struct html *h, const struct columns *c, bool moments)
{
	html_put(h, "<thead><tr>");
	for (unsigned int i = 0; i < columns_cnt(c); i++) {
		bool right = columns_align_of(c, i) == COLUMNS_RIGHT ||
			     columns_align_of(c, i) == COLUMNS_TIGHT;

		html_put(h, "<th scope=\"col\"%s>", right ? " class=\"n\"" : "");
		html_text(h, "%s", columns_header(c, i));
		html_put(h, "</th>");
	}
	html_put(h, "%s</tr></thead>\n", moments ? "<th scope=\"col\">when</th>" : "");
}

static void cell_put(struct html *h, const struct columns *c, size_t row, unsigned int i)
{
	enum columns_align align = columns_align_of(c, i);
	const char *text = columns_at(c, row, i);

	if (!i)
		html_put(h, "<th scope=\"row\"%s>", align == COLUMNS_RIGHT ? " class=\"n\"" : "");
	else
		html_put(h, "<td%s>",
			 align == COLUMNS_RIGHT || align == COLUMNS_TIGHT ? " class=\"n\"" : "");
	if (align == COLUMNS_BAR && *text) {
		html_put(h, "<svg class=\"bar\" width=\"240\" height=\"14\" aria-hidden=\"true\">");
		html_stroke(h, "x", 0, 10 * text_chars(text), 14);
		html_put(h, "</svg>");
	} else {
		html_text(h, "%s", text);
	}
	html_put(h, "%s", i ? "</td>" : "</th>");
}

static void moment_put(struct html *h, const struct html_moment *at)
{
	html_put(h, "<td>");
	if (at->to_ns) {
		int digits = digits_for(at->to_ns - at->from_ns);

		html_put(h, "<details class=\"at\"><summary>%.*f s",
			 digits < 3 ? 3 :
			 digits > 6 ? 6 :
				      digits,
			 (double)json_since_start(h->r, at->from_ns) / 1e9);
		html_put(h, "</summary> ");
		html_command(h, html_around(h->r, *at));
		html_put(h, "</details>");
	}
	html_put(h, "</td>");
}

void html_table(struct html *h, struct columns *c, const char *caption,
		const struct html_moment *moment)
{
	html_put(h, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
	html_text(h, "%s", caption);
	html_put(h, "\"><table><caption>");
	html_text(h, "%s", caption);
	html_put(h, "</caption>\n");
	head_put(h, c, moment != NULL);
	html_put(h, "<tbody>\n");
	for (size_t row = 0; row < columns_rows(c); row++) {
		html_put(h, "<tr>");
		for (unsigned int i = 0; i < columns_cnt(c); i++)
			cell_put(h, c, row, i);
		if (moment)
			moment_put(h, &moment[row]);
		html_put(h, "</tr>\n");
	}
	html_put(h, "</tbody></table></div>\n");
	columns_free(c);
}

/* ---- pieces ---- */

void html_stroke(struct html *h, const char *class, double x, double width, double height)
{
	html_put(h, "<path class=\"s-%s\" d=\"M%g %gh%g\" stroke-width=\"%g\"/>", class, x,
		 height / 2, width, height);
}

char *html_rank_name(const struct report *r, uint32_t process)
{
	const struct model_process *p = model_process_get(r->model, process);

	if (p->is_rank && p->rank >= 0)
		return xasprintf("rank %s", RANK_LABEL(r, p));
	return xasprintf("%s (pid %u)", p->name, p->host_pid);
}
