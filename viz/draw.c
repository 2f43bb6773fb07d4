/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Without a given name, files are named <result file>-<benchmark>.png. Curves of a group share a
 * file, and so do the methods of one operation. A result that cannot be drawn is reported, and the
 * others are drawn anyway.
 */
#include "draw.h"

#include "lib/log.h"
#include "lib/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the script's body, which the caller releases, also after an error. */
static int write_body(const struct picture *picture, struct plot *plot,
		      const struct draw_style *style, struct script *body)
{
	int err;

	plot->palette = (enum palette)style->palette;
	plot->time = style->time;
	plot->title = style->title;
	plot->words = !style->no_words;
	picture->size(plot, &plot->width_px, &plot->height_px);
	plot->width_px = style->width_px ? style->width_px : plot->width_px;
	plot->height_px = style->height_px ? style->height_px : plot->height_px;
	script_init(body);
	body->picture = picture->name;
	err = picture->draw(plot, body);
	script_finish(body);
	return err;
}

int draw_plot(const struct picture *picture, struct plot *plot, const struct draw_style *style,
	      enum format format, const char *path)
{
	struct script head, body;
	int err = write_body(picture, plot, style, &body);

	script_init(&head);
	gnuplot_terminal(&head, format, plot->width_px, plot->height_px);
	script_finish(&head);
	if (!err && !path)
		printf("%s%s", head.text, body.text);
	else if (!err)
		err = gnuplot_draw(&head, &body, path);
	script_release(&head);
	script_release(&body);
	return err;
}

int draw_chosen(const struct data *d, const struct choice *c, const struct draw_style *style,
		enum format format, const char *path)
{
	const struct picture *picture;
	struct plot plot = {0};
	int err = choose(c, d, &picture, &plot);

	if (err)
		return err;
	err = draw_plot(picture, &plot, style, format, path);
	free(plot.result);
	return err;
}

/* ---- everything ---- */

struct everything {
	const struct choice *choice;
	const struct data *data;
	draw_each_fn each;
	void *ctx;
	bool *done; /* results that are already drawn; owned */
	size_t cnt;
};

/* Options for PNG files in the current directory. */
struct files {
	const struct data *data;
	const struct draw_style *style;
	bool replace;
};

/*
 * "run-sender.png" for results/run.json. Characters special to shells or directories are replaced.
 */
static char *path_of(const char *file, const char *name, size_t number)
{
	const char *slash = strrchr(file, '/'), *stem = slash ? slash + 1 : file;
	const char *end = strrchr(stem, '.');
	size_t len = end && end > stem ? (size_t)(end - stem) : strlen(stem);
	char *path;

	if (number)
		path = xasprintf("%.*s-%s-%zu.png", (int)len, stem, name, number + 1);
	else
		path = xasprintf("%.*s%s%s.png", (int)len, stem, len ? "-" : "", name);
	for (char *c = path; *c; c++)
		*c = isalnum((unsigned char)*c) || strchr("._-+=", *c) ? *c : '_';
	if (*path == '-' || *path == '.')
		*path = '_';
	return path;
}

/* Number of earlier results of this name in the same file. */
static size_t number_of(const struct data *d, size_t idx)
{
	return table_sum(idx, i,
			 d->result[i].file == d->result[idx].file &&
				 !strcmp(d->result[i].benchmark, d->result[idx].benchmark));
}

static int draw_file(void *ctx, const struct picture *picture, struct plot *plot, const char *name)
{
	const struct data_result *first = plot->result[0];
	struct files *f = ctx;
	char *path;
	int err;

	if (!strcmp(picture->name, "grid"))
		path = f->data->file_cnt > 1 ? xstrdup("grid.png") :
					       path_of(first->file->path, name, 0);
	else
		path = path_of(
			first->file->path, name,
			plot->cnt > 1 ? 0 : number_of(f->data, (size_t)(first - f->data->result)));
	if (!f->replace && !access(path, F_OK)) {
		log_warn("%s: is there already and stays; --force replaces it", path);
		err = 0;
	} else {
		err = draw_plot(picture, plot, f->style, FORMAT_PNG, path);
		if (!err)
			printf("%s\n", path);
	}
	free(path);
	return err;
}

/* Only an error that stops everything is returned. A failed picture has already been reported. */
static int draw_one(struct everything *e, const struct picture *picture, struct plot *plot,
		    const char *name)
{
	int err = e->each(e->ctx, picture, plot, name);

	e->cnt += !err;
	return err == -EINVAL || err == -ENODATA ? 0 : err;
}

/*
 * True for results to compare in one picture: a group in a file, or methods for the same
 * operation.
 */
static bool belong_together(const struct data_result *a, const struct data_result *b)
{
	const char *x = data_param_text(a->point[0], "op"), *y = data_param_text(b->point[0], "op");

	return a->file == b->file && !strcmp(a->group, b->group) && !x == !y &&
	       (!x || !strcmp(x, y));
}

static int draw_result(struct everything *e, size_t idx)
{
	const struct data_result *r = &e->data->result[idx], *other;
	const struct picture *picture = choose_usual(r);
	struct plot plot = {.result = xcalloc(e->data->result_cnt, sizeof(*plot.result))};
	int err;

	for (size_t i = idx; i < e->data->result_cnt; i++) {
		other = &e->data->result[i];
		if (e->done[i] || !choose_wants(e->choice, other) || choose_usual(other) != picture)
			continue;
		if (i != idx && (!picture->many || !belong_together(r, other)))
			continue;
		plot.result[plot.cnt++] = other;
		e->done[i] = true;
	}
	err = draw_one(e, picture, &plot, plot.cnt > 1 ? r->group : r->benchmark);
	free(plot.result);
	return err;
}

/* Draws all maps of all files, if there are several. */
static int draw_grid(struct everything *e)
{
	const struct choice choice = {.benchmarks = e->choice->benchmarks, .picture = "grid"};
	const struct picture *picture;
	struct plot plot = {0};
	size_t cnt = 0;
	int err;

	for (size_t i = 0; i < e->data->result_cnt; i++)
		cnt += choose_wants(e->choice, &e->data->result[i]) &&
		       choose_takes("grid", &e->data->result[i]);
	if (cnt < 2)
		return 0;
	err = choose(&choice, e->data, &picture, &plot);
	if (err)
		return 0;
	err = draw_one(e, picture, &plot, "grid");
	free(plot.result);
	return err;
}

int draw_each(const struct data *d, const struct choice *c, draw_each_fn each, void *ctx)
{
	struct everything e = {.choice = c,
			       .data = d,
			       .each = each,
			       .ctx = ctx,
			       .done = xcalloc(d->result_cnt + 1, sizeof(bool))};
	int err = choose_check(c, d);

	for (size_t i = 0; i < d->result_cnt && !err; i++) {
		if (e.done[i] || !choose_wants(c, &d->result[i]))
			continue;
		if (choose_usual(&d->result[i]))
			err = draw_result(&e, i);
		else
			choose_tell_pictureless(&d->result[i]);
	}
	if (!err)
		err = draw_grid(&e);
	if (!err && !e.cnt) {
		log_error("nothing drawn; \"povplot list\" lists what can be drawn");
		err = -ENODATA;
	}
	free(e.done);
	return err;
}

int draw_files(const struct data *d, const struct choice *c, const struct draw_style *style,
	       bool replace)
{
	struct files files = {.data = d, .style = style, .replace = replace};

	return draw_each(d, c, draw_file, &files);
}

/* ---- tables ---- */

struct tables {
	const struct draw_style *style;
	bool some; /* at least one table was printed */
};

static int print_table(void *ctx, const struct picture *picture, struct plot *plot,
		       const char *name)
{
	struct tables *t = ctx;
	struct script body;
	int err = write_body(picture, plot, t->style, &body);

	if (!err)
		printf("%s%s", t->some ? "\n\n" : "", body.table_text);
	t->some = t->some || !err;
	script_release(&body);
	return err;
}

/* Skips the grid, because each map has its own table. */
static int print_but_grid(void *ctx, const struct picture *picture, struct plot *plot,
			  const char *name)
{
	return strcmp(picture->name, "grid") ? print_table(ctx, picture, plot, name) : 0;
}

int draw_tables(const struct data *d, const struct choice *c, const struct draw_style *style)
{
	struct tables tables = {.style = style};
	const struct picture *picture;
	struct plot plot = {0};
	int err;

	if (!c->picture)
		return draw_each(d, c, print_but_grid, &tables);
	err = choose(c, d, &picture, &plot);
	if (err)
		return err;
	err = print_table(&tables, picture, &plot, NULL);
	free(plot.result);
	return err;
}
