/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows where rank time went (analysis/account.h): bars and table of ranks of the first screen and
 * of a page; JSON.
 */
#include "report/section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"

/* ---- efficiency ---- */

#define ROW struct efficiency
#define DOUBT .wrong = LOSS_OF_ACCOUNT
const struct figure efficiency_figures[] = {
	{FIGURE_COUNT, "ranks", "ranks", AT(ranks)},
	{FIGURE_NS, "span_ns", "time", AT(span_ns), .wrong = LOSS_OF_CALLS | LOSS_OF_LIVES},
	{FIGURE_NS, "outside_ns", NULL, AT(outside_ns), DOUBT},
	{FIGURE_RATIO, "parallel_efficiency", "parallel efficiency", AT(parallel), DOUBT},
	{FIGURE_RATIO, "load_balance", "load balance", AT(load_balance), DOUBT},
	{FIGURE_RATIO, "communication_efficiency", "communication", AT(communication), DOUBT},
	{FIGURE_RATIO, "serialisation_efficiency", "serialisation", AT(serialisation), DOUBT,
	 .high = LOSS_OF_PATH},
	{FIGURE_RATIO, "transfer_efficiency", "transfer", AT(transfer), DOUBT, .low = LOSS_OF_PATH},
	{FIGURE_RATIO, "had_core", "on a core", AT(had_core), DOUBT},
	{0},
};
#undef ROW

uint32_t efficiency_lost(const struct report *r, uint32_t job)
{
	const struct account_job *j = &r->account.job[job];
	uint32_t lost = r->account.job[job].e.partial ? LOSS_OF_PATH : 0;

	for (uint32_t i = j->first; i < j->first + j->n; i++)
		lost |= r->lost[r->account.rank[i].process];
	return lost;
}

/* ---- text ---- */

/* Adds a factor with text "50 %", "≤ 50 %" or "~50 %". */
static void factor_add(struct efficiency_factors *to, const char *name, const char *mark,
		       double ratio)
{
	struct efficiency_factor *f = &to->factor[to->n++];
	char buf[RATIO_BYTES];

	f->name = name;
	f->ratio = ratio;
	snprintf(f->text, sizeof(f->text), "%s%s%s", mark, *mark && *mark != '~' ? " " : "",
		 ratio_text(buf, sizeof(buf), ratio));
}

struct efficiency_factors efficiency_factors_of(const struct report *r, uint32_t job)
{
	const struct efficiency *e = &r->account.job[job].e;
	uint32_t lost = efficiency_lost(r, job);
	bool core_known = !isnan(e->had_core), path_known = !isnan(e->transfer);
	struct efficiency_factors out = {.n = 0};

	factor_add(&out, r->account.sched ? "Efficiency" : "Parallel efficiency",
		   lost & LOSS_OF_ACCOUNT ? "~" : "",
		   core_known ? e->parallel * e->had_core : e->parallel);
	for (const struct figure *f = efficiency_figures; f->kind; f++) {
		const char *mark = figure_mark(f, lost);

		if (f->kind != FIGURE_RATIO || f->at == offsetof(struct efficiency, parallel) ||
		    (path_known && f->at == offsetof(struct efficiency, communication)) ||
		    isnan(figure_real(f, e)))
			continue;
		factor_add(&out, f->header, mark ? mark : "", figure_real(f, e));
	}
	return out;
}

bool efficiency_is_shown(const struct report *r, uint32_t job)
{
	return r->account.job[job].n && !isnan(r->account.job[job].e.parallel);
}

static void efficiency_print(const struct efficiency_factors *f, const char *name, FILE *out)
{
	fprintf(out, "%s %s", name, f->factor[0].text);
	for (uint32_t i = 1; i < f->n; i++)
		fprintf(out, " %s %s %s", i == 1 ? "=" : "×", f->factor[i].name, f->factor[i].text);
	fputc('\n', out);
}

void text_efficiency(const struct report *r, FILE *out)
{
	uint32_t jobs = r->account.njob;
	struct efficiency_factors f;
	char job[32];

	fputc('\n', out);
	if (jobs > 1)
		fprintf(out, "%s\n", r->account.sched ? "Efficiency" : "Parallel efficiency");
	for (uint32_t i = 0; i < jobs && i < EFFICIENCY_JOBS_SHOWN; i++) {
		if (!efficiency_is_shown(r, i))
			continue;
		f = efficiency_factors_of(r, i);
		snprintf(job, sizeof(job), "  job %u:", i);
		efficiency_print(&f, jobs > 1 ? job : f.factor[0].name, out);
	}
	if (jobs > EFFICIENCY_JOBS_SHOWN)
		text_note(out, "%u of %u jobs shown; --json has all.", EFFICIENCY_JOBS_SHOWN, jobs);
}

/* ---- JSON ---- */

void json_efficiency_members(struct json_out *j, const struct efficiency *e, uint32_t facts)
{
	/* Why serialisation and transfer are unknown; NULL: they are known. */
	static const char *const unknown[] = {
		[EFFICIENCY_NOTHING_OUTSIDE] = "nothing_outside_mpi",
		[EFFICIENCY_TOO_LONG] = "too_long",
		[EFFICIENCY_NOT_REPLAYED] = "not_replayed",
	};

	figures_json(j, efficiency_figures, e, facts);
	json_out_key_bool(j, "path_is_whole", !e->partial);
	json_out_key_string(j, "path_unknown", unknown[e->unknown]);
}

void json_efficiency(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "efficiency");
	for (uint32_t i = 0; i < r->account.njob; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "job", i);
		json_efficiency_members(j, &r->account.job[i].e, r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* ---- the account ---- */

#define BAR_CHARS 24  /* length of a 100 % bar */
#define SHOWN_PCT 0.5 /* merges classes below this share of rank time */

/* In order of output. */
static const struct {
	const char *key, *name;
} classes[ACCOUNT_CLASSES] = {
	[ACCOUNT_COMPUTING] = {"computing_ns", "computing"},
	[ACCOUNT_OUTSIDE] = {"outside_ns", "outside MPI"},
	[ACCOUNT_NO_CORE] = {"no_core_ns", "no core"},
	[ACCOUNT_ASLEEP] = {"asleep_ns", "asleep"},
	[ACCOUNT_MPI_WORK] = {"mpi_work_ns", "MPI work"},
	[ACCOUNT_MPI_NO_CORE] = {"mpi_no_core_ns", "no core, in MPI"},
	[ACCOUNT_WAITING] = {"waiting_ns", "waiting for a rank"},
	[ACCOUNT_TRANSFER] = {"transfer_ns", "transfer"},
	[ACCOUNT_FILE_IO] = {"file_io_ns", "file I/O"},
	[ACCOUNT_TRACING] = {"tracing_ns", "tracing"},
	[ACCOUNT_OPEN] = {"open_ns", "unfinished call"},
	[ACCOUNT_UNKNOWN] = {"unknown_ns", "unknown"},
	[ACCOUNT_APART] = {"apart_ns", "starting or ending"},
};

const char *account_class_name(enum account_class class)
{
	return classes[class].name;
}

static double pct_of(uint64_t ns, uint64_t total_ns)
{
	return total_ns ? 100 * (double)ns / (double)total_ns : 0;
}

/* Considers all ranks of the account, not only those shown. */
const char *account_mark(const struct report *r)
{
	uint32_t lost = 0;

	for (uint32_t i = 0; i < r->account.nrank; i++)
		lost |= r->lost[r->account.rank[i].process];
	return lost & LOSS_OF_ACCOUNT ? "~" : "";
}

/* ---- where it went ---- */

static void bar_print(const struct account_bar *b, const struct report *r, FILE *out)
{
	struct account_unit unit = account_unit(&r->account);
	int chars = (int)(b->pct * BAR_CHARS / 100 + 0.5);
	int pad = 10 - snprintf(NULL, 0, "%.*f", unit.digits, (double)b->ns / unit.ns);

	fprintf(out, "  %-22s %*s%.*f  %3.0f %%%s", b->name, pad, account_mark(r), unit.digits,
		(double)b->ns / unit.ns, b->pct, chars ? "  " : "");
	while (chars-- > 0)
		fputs("█", out);
	fputc('\n', out);
}

uint32_t account_bars(const struct report *r, struct account_bar bar[ACCOUNT_CLASSES + 1])
{
	const struct account *a = &r->account;
	uint64_t rest_ns = 0;
	uint32_t n = 0;

	for (int c = 0; c < ACCOUNT_CLASSES; c++) {
		double pct = pct_of(a->sum.ns[c], a->total_ns);

		if (pct >= SHOWN_PCT)
			bar[n++] = (struct account_bar){classes[c].name, a->sum.ns[c], pct, c};
		else
			rest_ns += a->sum.ns[c];
	}
	if (pct_of(rest_ns, a->total_ns) >= SHOWN_PCT)
		bar[n++] = (struct account_bar){"all else", rest_ns, pct_of(rest_ns, a->total_ns),
						ACCOUNT_CLASSES};
	return n;
}

void text_account(const struct report *r, FILE *out)
{
	struct account_unit unit = account_unit(&r->account);
	struct account_bar bar[ACCOUNT_CLASSES + 1];
	uint32_t n = account_bars(r, bar);

	text_section(out, "Where %.*f %s went", unit.digits, (double)r->account.total_ns / unit.ns,
		     unit.name);
	for (uint32_t i = 0; i < n; i++)
		bar_print(&bar[i], r, out);
}

/* ---- JSON ---- */

static void row_json(struct json_out *j, const struct account_row *row)
{
	json_out_key_uint(j, "total_ns", account_total_ns(row));
	for (int c = 0; c < ACCOUNT_CLASSES; c++)
		json_out_key_uint(j, classes[c].key, row->ns[c]);
}

void json_account(struct json_out *j, const struct report *r)
{
	const struct account *a = &r->account;

	json_out_key_object(j, "account");
	row_json(j, &a->sum);
	json_out_key_array(j, "ranks");
	for (uint32_t i = 0; i < a->nrank; i++) {
		const struct model_process *p = model_process_get(r->model, a->rank[i].process);

		json_out_object_begin(j);
		json_out_key_uint(j, "pid", p->host_pid);
		json_rank(j, p);
		json_out_known_uint(j, "job", p->job_idx >= 0,
				    p->job_idx >= 0 ? (uint64_t)p->job_idx : 0);
		json_out_key_uint(j, "tid", model_thread_get(r->model, a->rank[i].thread)->tid);
		row_json(j, &a->rank[i].row);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
}

/* ---- the table of ranks ---- */

#define MOST_PCT 5    /* names no loss below this share of the rank's time */
#define RANKS_MANY 16 /* with more ranks, shows only those that computed least */
#define RANKS_SHOWN 8 /* number of ranks shown then */
#define MOST_CHARS 40
#define RANGES_SHOWN 2 /* ranges of CPUs that a thread is bound to */

/*
 * Columns. Each is the sum of one class or two. loss: its name in the column "largest loss". NULL:
 * that column names the process that had the core or was late.
 */
static const struct {
	const char *name;
	enum account_class class, also;
	bool always;
	const char *loss;
} columns[] = {
	{"computing", ACCOUNT_COMPUTING, ACCOUNT_OUTSIDE, true, NULL},
	{"no core", ACCOUNT_NO_CORE, ACCOUNT_MPI_NO_CORE, true, NULL},
	{"asleep", ACCOUNT_ASLEEP, ACCOUNT_ASLEEP, false, "slept"},
	{"waiting", ACCOUNT_WAITING, ACCOUNT_WAITING, true, NULL},
	{"MPI work", ACCOUNT_MPI_WORK, ACCOUNT_MPI_WORK, true, "worked in MPI"},
	{"transfer", ACCOUNT_TRANSFER, ACCOUNT_TRANSFER, true, "messages, collectives"},
	{"file I/O", ACCOUNT_FILE_IO, ACCOUNT_FILE_IO, false, "read and wrote files"},
	{"tracing", ACCOUNT_TRACING, ACCOUNT_TRACING, false, "povtrace"},
	{"unfinished", ACCOUNT_OPEN, ACCOUNT_OPEN, false, "in an unfinished call"},
	{"unknown", ACCOUNT_UNKNOWN, ACCOUNT_UNKNOWN, false, "unknown"},
	{"start/end", ACCOUNT_APART, ACCOUNT_APART, false, "in MPI_Init or MPI_Finalize"},
};

#define COLUMNS_CNT (sizeof(columns) / sizeof(columns[0]))

static uint64_t column_ns(const struct account_row *row, size_t c)
{
	return row->ns[columns[c].class] +
	       (columns[c].also != columns[c].class ? row->ns[columns[c].also] : 0);
}

/* Bit mask of the columns that are always shown, or in which some rank has a share to show. */
static uint32_t columns_shown(const struct report *r)
{
	uint32_t shown = 0;

	for (size_t c = 0; c < COLUMNS_CNT; c++)
		shown |= columns[c].always ? 1u << c : 0;
	for (uint32_t i = 0; i < r->account.nrank; i++) {
		const struct account_row *row = &r->account.rank[i].row;
		uint64_t total_ns = account_total_ns(row);

		for (size_t c = 0; c < COLUMNS_CNT; c++)
			shown |= pct_of(column_ns(row, c), total_ns) >= SHOWN_PCT ? 1u << c : 0;
	}
	return shown;
}

static void share_cell(struct columns *t, uint64_t ns, uint64_t total_ns)
{
	double pct = pct_of(ns, total_ns);

	if (pct < SHOWN_PCT)
		columns_cell(t, "–");
	else
		columns_cell(t, "%.0f %%", pct);
}

/*
 * Finds the program that had a rank's core longest, and returns one of its processes; NULL:
 * unknown. *one: no other process of the program had the core.
 */
static const struct model_process *holder_most(const struct report *r,
					       const struct account_rank *rank, bool *one)
{
	struct {
		uint64_t ns;
		uint32_t processes, holder;
	} *program = xcalloc(r->nprocesses + 1, sizeof(*program));
	const struct model_process *p = NULL;
	const struct held *h;
	uint32_t most = 0;

	for (size_t at = 0; (h = map_next(&r->findings.app.held, &at, NULL));) {
		if (h->waiter != rank->thread || h->holder == HELD_UNKNOWN || !h->ns)
			continue;
		program[r->reasons.program[h->holder]].ns += h->ns;
		program[r->reasons.program[h->holder]].processes++;
		program[r->reasons.program[h->holder]].holder = h->holder;
	}
	for (uint32_t i = 1; i < r->nprocesses; i++)
		most = program[i].ns > program[most].ns ? i : most;
	*one = program[most].processes == 1;
	if (program[most].processes)
		p = model_process_get(r->model, program[most].holder);
	free(program);
	return p;
}

/* The process that a rank waited for longest so far. */
struct late_most {
	uint32_t late;
	uint64_t ns;
};

/*
 * Takes another process if the rank waited longer for it: for its messages, or in collectives to
 * which it came last.
 */
static void late_consider(const struct report *r, uint32_t waiter, uint32_t late,
			  struct late_most *most)
{
	const struct waited_for *w = waited_for_get(&r->findings.late.pairs[LATE_SENDER], waiter,
						    late);
	const struct arrival_last *last = r->findings.arrivals.process[waiter].waited_for;
	uint64_t ns = w ? w->ns : 0;

	for (uint32_t i = 0; i < ARRIVALS_LAST; i++)
		ns += last[i].process == late ? last[i].ns : 0;
	if (ns > most->ns || (ns == most->ns && late < most->late))
		*most = (struct late_most){late, ns};
}

/*
 * Finds the rank that a rank waited for longest; NULL unless that is half of its waiting time. With
 * two ranks, it is always the other one.
 */
static const struct model_process *late_most(const struct report *r,
					     const struct account_rank *rank)
{
	const struct map *pairs = &r->findings.late.pairs[LATE_SENDER];
	const struct arrival_last *last = r->findings.arrivals.process[rank->process].waited_for;
	struct late_most most = {0};
	const struct waited_for *w;

	for (uint32_t i = 0; r->account.nrank == 2 && i < 2; i++)
		if (r->account.rank[i].process != rank->process)
			return model_process_get(r->model, r->account.rank[i].process);
	for (size_t at = 0; (w = map_next(pairs, &at, NULL));)
		if (w->waiter == rank->process)
			late_consider(r, rank->process, w->late, &most);
	for (uint32_t i = 0; i < ARRIVALS_LAST; i++)
		if (last[i].ns)
			late_consider(r, rank->process, last[i].process, &most);
	return most.ns && 2 * most.ns >= rank->row.ns[ACCOUNT_WAITING] ?
		       model_process_get(r->model, most.late) :
		       NULL;
}

/* "rank 3", "bystander (2745)"; without a number if several processes of that name are meant */
static char *who_text(const struct report *r, const struct model_process *p, bool one)
{
	char *name, *text;

	if (p->is_rank)
		return xasprintf("rank %s", RANK_LABEL(r, p));
	if (!p->host_pid)
		return xstrdup("nobody");
	name = text_printable(p->name, 15);
	if (!one)
		return name;
	text = xasprintf("%s (%u)", name, p->host_pid);
	free(name);
	return text;
}

static char *no_core_text(const struct report *r, const struct account_rank *rank)
{
	bool one;
	const struct model_process *p = holder_most(r, rank, &one);

	if (!p)
		return xstrdup("had no core");
	if (p->idx == rank->process)
		return xstrdup("its own threads had the core");
	return words(who_text(r, p, one), " had the core");
}

static char *waiting_text(const struct report *r, const struct account_rank *rank)
{
	const struct model_process *p = late_most(r, rank);
	char *who = p ? who_text(r, p, true) : xstrdup("late ranks");
	char *text = xasprintf("waited for %s", who);

	free(who);
	return text;
}

/* Describes the largest loss of a rank. Caller frees. */
static char *most_text(const struct report *r, const struct account_rank *rank)
{
	size_t most = 1;

	for (size_t c = 1; c < COLUMNS_CNT; c++)
		if (column_ns(&rank->row, c) > column_ns(&rank->row, most))
			most = c;
	if (pct_of(column_ns(&rank->row, most), account_total_ns(&rank->row)) < MOST_PCT)
		return xstrdup("");
	if (columns[most].loss)
		return xstrdup(columns[most].loss);
	return columns[most].class == ACCOUNT_WAITING ? waiting_text(r, rank) :
							no_core_text(r, rank);
}

static void rank_row(const struct report *r, struct columns *t, const struct account_rank *rank,
		     uint32_t shown)
{
	const struct model_process *p = model_process_get(r->model, rank->process);

	text_rank_cell(r, t, p);
	if (model_get_info(r->model)->nhosts > 1)
		columns_text(t, model_host_get(r->model, p->host_idx)->label, 12);
	if (r->findings.demand.nmask)
		text_bound_cell(r, t, model_thread_get(r->model, rank->thread), RANGES_SHOWN);
	for (size_t c = 0; c < COLUMNS_CNT; c++)
		if (shown & 1u << c)
			share_cell(t, column_ns(&rank->row, c), account_total_ns(&rank->row));
	columns_take(t, most_text(r, rank), MOST_CHARS);
}

static int least_compute(const void *va, const void *vb)
{
	const struct account_rank *a = *(const struct account_rank *const *)va,
				  *b = *(const struct account_rank *const *)vb;
	double x = pct_of(column_ns(&a->row, 0), account_total_ns(&a->row));
	double y = pct_of(column_ns(&b->row, 0), account_total_ns(&b->row));

	if (x != y)
		return x < y ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

/* Ranks shown, in the order of r->row. Caller frees. */
static const struct account_rank **ranks_list(const struct report *r, uint32_t *n)
{
	const struct account_rank **list = xmalloc((r->nrows + 1) * sizeof(const void *));

	*n = 0;
	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct account_rank *rank = account_of(&r->account, r->row[i]);

		if (rank)
			list[(*n)++] = rank;
	}
	return list;
}

struct columns *table_account_ranks(const struct report *r, uint32_t *shown, uint32_t *all)
{
	struct columns *t = columns_new();
	uint32_t n;
	const struct account_rank **rank = ranks_list(r, &n);
	bool many = n > RANKS_MANY && r->opt->top;
	uint32_t cells = columns_shown(r);

	*shown = many ? RANKS_SHOWN : n;
	*all = n;
	if (many && r->sort == REPORT_SORT_RANK)
		qsort(rank, n, sizeof(const void *), least_compute);
	columns_add(t, "rank", COLUMNS_RIGHT);
	if (model_get_info(r->model)->nhosts > 1)
		columns_add(t, "host", COLUMNS_LEFT);
	if (r->findings.demand.nmask)
		columns_add(t, "CPUs", COLUMNS_LEFT);
	for (size_t c = 0; c < COLUMNS_CNT; c++)
		if (cells & 1u << c)
			columns_add(t, columns[c].name, COLUMNS_RIGHT);
	columns_add(t, "largest loss", COLUMNS_LEFT);
	for (uint32_t i = 0; i < *shown; i++)
		rank_row(r, t, rank[i], cells);
	free(rank);
	return t;
}

void text_account_ranks(const struct report *r, FILE *out)
{
	uint32_t shown, n;
	struct columns *t = table_account_ranks(r, &shown, &n);

	text_section(out, "Ranks, in %% of their time between MPI_Init and MPI_Finalize");
	text_columns(t, out);
	text_ranks_shown_note(r, out, shown, n);
	text_windows_note(r, out);
	text_explain(r, out,
		     "computing: outside MPI, on a core. no core: ready to run, but not on a core. "
		     "asleep: blocked outside MPI. waiting: in MPI, another rank was late. "
		     "MPI work: in MPI, without waiting for a rank. transfer: in calls that "
		     "wait, no rank known to be late. start/end: still in MPI_Init, or already "
		     "in MPI_Finalize or ended. CPUs: those that the rank may use.");
}
