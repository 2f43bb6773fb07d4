/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The traffic between ranks, from the pairs of a report. y: senders, x: receivers, colour: bytes
 * on a logarithmic scale. With several MPI functions it shows their sum; --where function=NAME
 * selects one. Pairs without traffic have no colour.
 */
#include "script.h"
#include "picture.h"

#include "lib/log.h"
#include "lib/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 24  /* on an axis */
#define RANKS_MAX 4096 /* more cells would exceed the picture's pixels */

struct rank {
	double job, rank;
};

struct matrix {
	struct rank *rank; /* ascending, without duplicates; owned */
	size_t cnt;
	double *bytes; /* [from × cnt + to]; owned */
	bool *known;   /* true for pairs with traffic; owned */
	bool jobs;     /* there are several jobs */
};

static bool ends_of(const json_t *point, struct rank *from, struct rank *to)
{
	*from = (struct rank){data_param(point, "from_job"), data_param(point, "from_rank")};
	*to = (struct rank){data_param(point, "to_job"), data_param(point, "to_rank")};
	return isfinite(from->job) && isfinite(from->rank) && isfinite(to->job) &&
	       isfinite(to->rank) && data_param(point, "bytes") >= 0;
}

static bool has_ends(const json_t *point)
{
	struct rank from, to;

	return ends_of(point, &from, &to);
}

static bool matrix_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "traffic") && data_has(r, has_ends);
}

TABLE_ORDER(compare_ranks, struct rank, table_compare(a->job, b->job),
	    table_compare(a->rank, b->rank))

static size_t place_of(const struct matrix *m, const struct rank *rank)
{
	const struct rank *at = bsearch(rank, m->rank, m->cnt, sizeof(*rank), compare_ranks);

	return (size_t)(at - m->rank);
}

static void ranks_find(struct matrix *m, const struct data_result *r)
{
	size_t n = 0;

	m->rank = xcalloc(2 * r->point_cnt, sizeof(*m->rank));
	for (size_t i = 0; i < r->point_cnt; i++)
		n += ends_of(r->point[i], &m->rank[n], &m->rank[n + 1]) ? 2 : 0;
	qsort(m->rank, n, sizeof(*m->rank), compare_ranks);
	for (size_t i = 0; i < n; i++) {
		if (!m->cnt || compare_ranks(&m->rank[m->cnt - 1], &m->rank[i]))
			m->rank[m->cnt++] = m->rank[i];
	}
	m->jobs = m->rank[0].job != m->rank[m->cnt - 1].job;
}

static int matrix_init(struct matrix *m, const struct data_result *r)
{
	struct rank from, to;
	size_t at;

	*m = (struct matrix){0};
	ranks_find(m, r);
	if (m->cnt > RANKS_MAX) {
		log_error("%s: a matrix of %zu ranks is too large for a picture (at most %d)",
			  r->file->path, m->cnt, RANKS_MAX);
		free(m->rank);
		return -EINVAL;
	}
	m->bytes = xcalloc(m->cnt * m->cnt, sizeof(*m->bytes));
	m->known = xcalloc(m->cnt * m->cnt, sizeof(*m->known));
	for (size_t i = 0; i < r->point_cnt; i++) {
		if (!ends_of(r->point[i], &from, &to))
			continue;
		at = place_of(m, &from) * m->cnt + place_of(m, &to);
		m->bytes[at] += data_param(r->point[i], "bytes");
		m->known[at] = true;
	}
	return 0;
}

static void matrix_release(struct matrix *m)
{
	free(m->rank);
	free(m->bytes);
	free(m->known);
}

/* Ends at powers of two, so that the scale has labels there. */
static struct range colours_of(const struct matrix *m)
{
	struct range r = range_empty();

	for (size_t i = 0; i < m->cnt * m->cnt; i++)
		range_widen_log(&r, m->bytes[i]);
	return axis_range_of_powers(&r);
}

static void write_axis(const struct matrix *m, const char *name, struct script *s)
{
	size_t step = m->cnt / LABELS_MAX + 1;

	fprintf(s->out, "set %stics (", name);
	for (size_t i = 0; i < m->cnt; i += step) {
		fprintf(s->out, "%s'", i ? ", " : "");
		if (m->jobs)
			fprintf(s->out, "%.9g:", m->rank[i].job);
		fprintf(s->out, "%.9g' %zu", m->rank[i].rank, i);
	}
	script_line(s, ")");
}

/* The picture's block also has places, and the bytes limited to the scale. */
static void write_cells(const struct matrix *m, const struct range *limits, struct script *s)
{
	script_block_begin(s, NULL);
	for (size_t i = 0; i < m->cnt * m->cnt; i++) {
		const struct rank *from = &m->rank[i / m->cnt], *to = &m->rank[i % m->cnt];

		if (m->known[i])
			script_row(s, "%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%zu\t%zu\t%.9g", from->job,
				   from->rank, to->job, to->rank, m->bytes[i], i % m->cnt,
				   i / m->cnt, fmax(m->bytes[i], limits->low));
	}
	script_block_end(s);
}

/* The MPI function, if there is only one. */
static const char *function_of(const struct data_result *r)
{
	const char *name = data_param_text(r->point[0], "function"), *other;

	for (size_t i = 1; i < r->point_cnt && name; i++) {
		other = data_param_text(r->point[i], "function");
		if (!other || strcmp(name, other))
			return NULL;
	}
	return name;
}

static int matrix_draw(const struct plot *p, struct script *s)
{
	const char *function = function_of(p->result[0]);
	struct range colours;
	struct matrix m;
	char *name;

	if (matrix_init(&m, p->result[0]))
		return -EINVAL;
	colours = colours_of(&m);
	name = xasprintf("traffic from rank to rank%s%s", function ? " in " : "",
			 function ? function : "");
	picture_title(p, name, s);
	script_line(s, "set xlabel 'to rank'\nset ylabel 'from rank'");
	picture_scale(p, "bytes", s);
	palette_map(s, p->palette);
	axis_bytes(s, "cb", &colours, 10, true);
	script_line(s, "set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]", m.cnt - 1, m.cnt - 1);
	write_axis(&m, "x", s);
	write_axis(&m, "y", s);
	script_line(s, "set object 1 rectangle from graph 0,0 to graph 1,1 behind "
		       "fillcolor rgb '#e8e8e8' fillstyle solid noborder");
	table_begin(s, p->result, 1, "from_job\tfrom_rank\tto_job\tto_rank\tbytes");
	write_cells(&m, &colours, s);
	script_line(s,
		    "plot $d%u using 6:7:(0.5):(0.5):8 with boxxyerror linecolor palette "
		    "fillstyle solid noborder notitle",
		    s->block_cnt);
	matrix_release(&m);
	free(name);
	return 0;
}

const struct picture plot_matrix = {
	.name = "matrix",
	.takes = matrix_takes,
	.size = picture_size,
	.draw = matrix_draw,
};
