/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sentences first, each with a link to its picture, then the pictures, then the factors. Pictures are SVG within the page, as
 * images, so that what gnuplot calls their parts does not meet.
 */
#include "page.h"

#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct page {
	FILE *body; /* the pictures */
	const struct draw_style *style;
	const struct data *data;
	char *svg; /* path of the picture being drawn; owned */
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

/* As part of a URL: all but letters, digits and what means nothing in one is escaped. */
static int put_svg(FILE *out, const char *path)
{
	FILE *in = fopen(path, "re");
	int c;

	if (!in)
		return -errno;
	while ((c = getc(in)) != EOF) {
		if (isalnum(c) || strchr(" -_.!~*()/:;=,", c))
			putc(c, out);
		else
			fprintf(out, "%%%02X", (unsigned int)c);
	}
	fclose(in);
	return 0;
}

/* Of the result in the page, which its sentence links to. */
static size_t index_of(const struct page *p, const struct data_result *r)
{
	return (size_t)(r - p->data->result);
}

static int put_picture(void *ctx, const struct picture *picture, struct plot *plot,
		       const char *name)
{
	struct page *p = ctx;
	char *title = data_title(name);
	int err = draw_plot(picture, plot, p->style, FORMAT_SVG, p->svg);
	size_t i;

	if (!err) {
		fputs("<section>", p->body);
		for (i = 0; i < plot->cnt && strcmp(picture->name, "grid"); i++)
			fprintf(p->body, "<a id=\"r%zu\"></a>", index_of(p, plot->result[i]));
		fputs("<h2>", p->body);
		put_text(p->body, title);
		fputs("</h2>\n<img alt=\"", p->body);
		put_text(p->body, title);
		fputs("\" src=\"data:image/svg+xml,", p->body);
		err = put_svg(p->body, p->svg);
		fputs("\"></section>\n", p->body);
	}
	unlink(p->svg);
	free(title);
	return err;
}

/* ---- words ---- */

static void put_sentences(const struct page *p, const struct choice *c, FILE *out)
{
	const struct data_file *file = NULL;
	char *origin;
	size_t i;

	for (i = 0; i < p->data->result_cnt; i++) {
		const struct data_result *r = &p->data->result[i];

		if (!choose_wants(c, r))
			continue;
		if (r->file != file) {
			origin = data_origin(r->file);
			fputs(file ? "</ul>\n<h2>" : "<h2>", out);
			put_text(out, *origin ? origin : r->file->path);
			fputs("</h2>\n<ul>\n", out);
			free(origin);
			file = r->file;
		}
		fputs("<li>", out);
		if (choose_usual(r))
			fprintf(out, "<a href=\"#r%zu\">", i);
		put_text(out, *r->sentence ? r->sentence : r->benchmark);
		fputs(choose_usual(r) ? "</a></li>\n" : "</li>\n", out);
	}
	fputs(file ? "</ul>\n" : "", out);
}

static void put_factors(const struct data *d, FILE *out)
{
	char *text;
	size_t i;

	for (i = 0; i < d->file_cnt; i++) {
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

static void put_page(const struct page *p, const struct choice *c, const char *drawn, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<title>povbench</title>\n<style>body{font-family:sans-serif;max-width:60em;"
	      "margin:2em auto;padding:0 1em}img{max-width:100%}li{margin:.3em 0}</style></head>\n"
	      "<body>\n<h1>povbench</h1>\n",
	      out);
	put_sentences(p, c, out);
	fputs(drawn, out);
	put_factors(p->data, out);
	fputs("</body></html>\n", out);
}

/* ---- the file ---- */

static int write_file(const struct page *p, const struct choice *c, const char *drawn,
		      const char *path)
{
	char *temp = xasprintf("%s.%d", path, (int)getpid());
	FILE *out = fopen(temp, "we");
	int err = out ? 0 : -errno;

	if (out) {
		put_page(p, c, drawn, out);
		if (ferror(out))
			err = -EIO;
		if (fclose(out) && !err)
			err = -errno;
		if (!err && rename(temp, path))
			err = -errno;
		if (err)
			unlink(temp);
	}
	if (err)
		log_error("%s: cannot be written: %s", path, strerror(-err));
	free(temp);
	return err;
}

int page_write(const struct data *d, const struct choice *c, const struct draw_style *style,
	       const char *path)
{
	char dir[] = "/tmp/povplot-XXXXXX", *drawn = NULL;
	struct draw_style mute = *style;
	struct page p = {.style = &mute, .data = d};
	size_t bytes;
	int err;

	if (!mkdtemp(dir))
		die("/tmp: %s", strerror(errno));
	mute.no_words = true; /* the page has them */
	p.svg = xasprintf("%s/picture.svg", dir);
	p.body = open_memstream(&drawn, &bytes);
	if (!p.body)
		die("out of memory (a page)");
	err = draw_each(d, c, put_picture, &p);
	if (fclose(p.body))
		die("out of memory (a page)");
	if (!err)
		err = write_file(&p, c, drawn, path);
	rmdir(dir);
	free(drawn);
	free(p.svg);
	return err;
}
