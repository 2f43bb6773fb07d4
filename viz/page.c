/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes sentences and advice first, each with a link to its picture, then the pictures, then the
 * factors. Pictures are SVG images embedded in the page as images, so that gnuplot's ids of
 * different pictures do not collide.
 */
#include "draw.h"

#include "script.h"

#include "lib/log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct page {
	const struct data *data;
	const struct choice *choice;
	const struct draw_style *style;
	const char *svg;    /* path of the picture that is being drawn */
	FILE *pictures_out; /* writes to pictures */
	char *pictures;	    /* the page's part with the pictures; owned */
	size_t pictures_bytes;
	bool *has_picture; /* of each result of the data; owned */
};

bool page_is_wanted(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcasecmp(path + len - 5, ".html");
}

static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

/* ---- pictures ---- */

/* Writes the file as part of a URL: escapes every character that has a meaning in URLs. */
static int put_svg(FILE *out, const char *path)
{
	FILE *in = fopen(path, "re");
	int c;

	if (!in) {
		c = errno;
		log_error("%s: %s", path, strerror(c));
		return -c;
	}
	while ((c = getc(in)) != EOF) {
		if (isalnum(c) || strchr(" -_.!~*()/:;=,", c))
			putc(c, out);
		else
			fprintf(out, "%%%02X", (unsigned int)c);
	}
	fclose(in);
	return 0;
}

/* Writes the targets of the sentences' links, at the first picture of each result. */
static void put_anchors(struct page *p, const struct plot *plot)
{
	size_t idx;

	for (size_t i = 0; i < plot->cnt; i++) {
		idx = (size_t)(plot->result[i] - p->data->result);
		if (!p->has_picture[idx])
			fprintf(p->pictures_out, "<a id=\"r%zu\"></a>", idx);
		p->has_picture[idx] = true;
	}
}

static int put_picture(void *ctx, const struct picture *picture, struct plot *plot,
		       const char *name)
{
	struct page *p = ctx;
	FILE *out = p->pictures_out;
	int err = draw_plot(picture, plot, p->style, FORMAT_SVG, p->svg);
	char *title;

	if (err)
		return err;
	title = data_title(name);
	fputs("<section>", out);
	put_anchors(p, plot);
	fputs("<h2>", out);
	put_text(out, title);
	fputs("</h2>\n<img alt=\"", out);
	put_text(out, title);
	fputs("\" src=\"data:image/svg+xml,", out);
	err = put_svg(out, p->svg);
	fputs("\"></section>\n", out);
	free(title);
	return err;
}

/* ---- words ---- */

/* Writes a line, with a link to the picture if there is one. class: of the line. */
static void put_line(const struct page *p, size_t i, const char *class, const char *text, FILE *out)
{
	fprintf(out, "<li%s>", class);
	if (p->has_picture[i])
		fprintf(out, "<a href=\"#r%zu\">", i);
	put_text(out, text);
	fputs(p->has_picture[i] ? "</a></li>\n" : "</li>\n", out);
}

static void put_file(const struct page *p, const struct data_file *f, FILE *out)
{
	char *origin = data_origin(f);

	fputs("<h2>", out);
	put_text(out, *origin ? origin : f->path);
	fputs("</h2>\n<ul>\n", out);
	for (size_t i = 0; i < p->data->result_cnt; i++) {
		const struct data_result *r = &p->data->result[i];

		if (r->file == f && choose_wants(p->choice, r))
			put_line(p, i, "", *r->sentence ? r->sentence : r->benchmark, out);
	}
	fputs("</ul>\n", out);
	free(origin);
}

/* Writes what to change, for the wanted results of one file. */
static void put_advice(const struct page *p, const struct data_file *f, FILE *out)
{
	bool any = false, disturbed = false;
	char *text, *line;

	for (size_t i = 0; i < p->data->result_cnt; i++) {
		const struct data_result *r = &p->data->result[i];

		if (r->file != f || !choose_wants(p->choice, r))
			continue;
		disturbed = disturbed || r->disturbed;
		text = advice_of(p->data, r);
		if (!text)
			continue;
		fputs(any ? "" : "<h3>What to change</h3>\n<ul>\n", out);
		any = true;
		line = xasprintf("%s: %s", r->benchmark, text);
		put_line(p, i, " class=\"advice\"", line, out);
		free(line);
		free(text);
	}
	fputs(any ? "</ul>\n" : "", out);
	if (disturbed)
		fputs("<p>There is no advice on disturbed results: measure them again.</p>\n", out);
}

/* Writes all sentences. The results of a file are contiguous. */
static void put_words(const struct page *p, FILE *out)
{
	const struct data_file *file = NULL;

	for (size_t i = 0; i < p->data->result_cnt; i++) {
		const struct data_result *r = &p->data->result[i];

		if (!choose_wants(p->choice, r) || r->file == file)
			continue;
		file = r->file;
		put_file(p, file, out);
		put_advice(p, file, out);
	}
}

static void put_factors(const struct data *d, FILE *out)
{
	char *text;

	for (size_t i = 0; i < d->file_cnt; i++) {
		text = d->file[i]->factors ? json_dumps(d->file[i]->factors, JSON_INDENT(1)) : NULL;
		if (!text)
			continue;
		fputs("<details><summary>What ", out);
		put_text(out, d->file[i]->path);
		fputs(" was measured with</summary>\n<pre>", out);
		put_text(out, text);
		fputs("</pre></details>\n", out);
		free(text);
	}
}

static void put_page(void *ctx, FILE *out)
{
	const struct page *p = ctx;

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<title>povbench</title>\n<style>body{font-family:sans-serif;max-width:60em;"
	      "margin:2em auto;padding:0 1em}img{max-width:100%}li{margin:.3em 0}</style></head>\n"
	      "<body>\n<h1>povbench</h1>\n",
	      out);
	put_words(p, out);
	fputs(p->pictures, out);
	put_factors(p->data, out);
	fputs("</body></html>\n", out);
}

/* ---- the file ---- */

static int draw_pictures(struct page *p)
{
	int err;

	p->pictures_out = open_memstream(&p->pictures, &p->pictures_bytes);
	if (!p->pictures_out)
		die("out of memory (a page)");
	err = draw_each(p->data, p->choice, put_picture, p);
	if (fclose(p->pictures_out))
		die("out of memory (a page)");
	return err;
}

int page_write(const struct data *d, const struct choice *c, const struct draw_style *style,
	       const char *path)
{
	char svg[] = "/tmp/povplot-XXXXXX";
	struct draw_style mute = *style;
	struct page p = {.data = d, .choice = c, .style = &mute, .svg = svg};
	int fd = mkostemp(svg, O_CLOEXEC), err;

	if (fd < 0)
		die("/tmp: %s", strerror(errno));
	close(fd);
	mute.no_words = true; /* the page itself has the sentences */
	p.has_picture = xcalloc(d->result_cnt + 1, sizeof(bool));
	err = draw_pictures(&p);
	unlink(svg);
	if (!err)
		err = replace_text(path, put_page, &p);
	free(p.has_picture);
	free(p.pictures);
	return err;
}
