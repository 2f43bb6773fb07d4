/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The report's sections: section_<name>.c holds a section's table of figures and its two forms. Here is what each
 * gives out, and what all of them use (text.c, json.c).
 */
#ifndef POV_REPORT_SECTION_H
#define POV_REPORT_SECTION_H

#include "analysis/label.h"
#include "lib/text.h"
#include "report/figure.h"
#include "report/report.h"

extern const struct figure split_figures[];		     /* of a struct state_times */
extern const struct figure time_figures[];		     /* of a struct time_row */
extern const struct figure app_figures[], app_mpi_figures[]; /* of a struct app_thread */
extern const struct figure switches_object[];		     /* of a struct switch_row */
extern const struct figure overhead_object[];		     /* of a struct coverage_hits */
extern const struct figure efficiency_figures[];	     /* of a struct efficiency */

/* Losses after which classes of the account, and what is made of them, may be wrong. */
#define LOSS_OF_ACCOUNT (LOSS_OF_CALLS | LOSS_OF_STATES | LOSS_OF_LIVES)

void text_launchers(const struct report *r, FILE *out);
/* "~" if records are missing, by which classes of the account may be wrong; or "". */
const char *account_mark(const struct report *r);
/* What is missing of a job's efficiency. */
uint32_t efficiency_lost(const struct report *r, uint32_t job);
/* Members of an object that is open. */
void json_efficiency_members(struct json_out *j, const struct efficiency *e, uint32_t facts);
void text_efficiency(const struct report *r, FILE *out);
void text_account(const struct report *r, FILE *out);
void text_reasons(const struct report *r, FILE *out);
void text_account_ranks(const struct report *r, FILE *out);
/* Processes that the tables of ranks lack, and those whose time begins later. */
void text_windows_note(const struct report *r, FILE *out);
void text_app_time(const struct report *r, FILE *out);
void text_takers(const struct report *r, FILE *out);
void text_ranks(const struct report *r, FILE *out);
void text_threads(const struct report *r, FILE *out);
void text_polls(const struct report *r, FILE *out);
void text_switches(const struct report *r, FILE *out);
void text_ends(const struct report *r, FILE *out);
void text_failed(const struct report *r, FILE *out);
void text_hang(const struct report *r, FILE *out);
void text_findings(const struct report *r, FILE *out);
void text_holders(const struct report *r, FILE *out);
void text_cores(const struct report *r, FILE *out);
void text_matrix(const struct report *r, FILE *out);
void text_functions(const struct report *r, FILE *out);
void text_rank_functions(const struct report *r, FILE *out);
void text_regions(const struct report *r, FILE *out);
void text_parts(const struct report *r, FILE *out);
void text_messages(const struct report *r, FILE *out);
void text_collectives(const struct report *r, FILE *out);
void text_posts(const struct report *r, FILE *out);
void text_traffic(const struct report *r, FILE *out);
void text_pairs(const struct report *r, FILE *out);
void text_devices(const struct report *r, FILE *out);
void text_transfers(const struct report *r, FILE *out);
void text_coverage(const struct report *r, FILE *out);
void text_call_sites(const struct report *r, FILE *out);
void text_overlap(const struct report *r, FILE *out);
void text_epochs(const struct report *r, FILE *out);
void text_section_pov(const struct report *r, FILE *out);

void json_launchers(struct json_out *j, const struct report *r);
/* Members of an object that is open; lost: what is missing of whom they are. */
void json_functions(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost);
void json_regions(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost);
void json_messages(struct json_out *j, const struct message_row *m, uint32_t lost);
void json_peers(struct json_out *j, const struct peers_row *row, uint32_t lost);
void json_sent_to(struct json_out *j, const struct report *r, uint32_t idx);
void json_matching(struct json_out *j, const struct match_row *row, uint32_t lost);
void json_traffic(struct json_out *j, const struct report *r);
void json_transfers(struct json_out *j, const struct report *r);
void json_process_cores(struct json_out *j, const struct report *r, uint32_t idx);
void json_app_process(struct json_out *j, const struct report *r, uint32_t idx);
void json_app_thread(struct json_out *j, const struct report *r, const struct model_thread *t);
void json_collectives(struct json_out *j, const struct report *r, uint32_t idx);
void json_ends(struct json_out *j, const struct report *r);
void json_failed(struct json_out *j, const struct report *r);
void json_hang(struct json_out *j, const struct report *r);
void json_account(struct json_out *j, const struct report *r);
void json_efficiency(struct json_out *j, const struct report *r);
void json_parts(struct json_out *j, const struct report *r);
void json_reasons(struct json_out *j, const struct report *r);
void json_findings(struct json_out *j, const struct report *r);
void json_holders(struct json_out *j, const struct report *r, uint32_t process);
void json_waits(struct json_out *j, const struct report *r, uint32_t process);
void json_causes(struct json_out *j, const struct report *r);
void json_cores(struct json_out *j, const struct report *r);
void json_coverage(struct json_out *j, const struct report *r);
void json_call_sites(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost);
void json_overlap(struct json_out *j, const struct report *r);
void json_epochs(struct json_out *j, const struct report *r, uint32_t idx);
void json_section_pov(struct json_out *j, const struct report *r);

/* ---- text ---- */

void text_section(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A finished table, which it frees. */
void text_columns(struct columns *c, FILE *out);
/* Foreign text, made printable and cut to max characters; before: goes before it, unless it is empty. */
void text_foreign(FILE *out, const char *before, const char *text, unsigned int max);
#define TEXT_NOTE_WIDTH 100 /* bytes of a line */
/* A footnote: indented, wrapped. */
void text_note(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, of what columns mean: only with --explain. */
void text_explain(const struct report *r, FILE *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Rows a long table shows: all, or opt->top of more than `many`. */
uint32_t text_rows_shown(const struct report *r, uint32_t n, uint32_t many);
/* Says so if these are not all. */
void text_shown_note(FILE *out, uint32_t shown, uint32_t n);
void text_rank_cell(const struct report *r, struct columns *c, const struct model_process *p);

/* A cell: who had the core while a thread wanted it, of those who had it for least_ns or longer; cut to chars. */
void text_who_had_core(const struct report *r, struct columns *c, const struct model_thread *t,
		       uint64_t least_ns, unsigned int chars);

#define MATRIX_RANKS_MAX 16 /* of a matrix on a page */
/* A finished matrix and its title, of bytes in that unit. */
void text_matrix_print(struct columns *c, const char *name, const char *unit, FILE *out);

/* Tables with a row for each process shown; of more than PROCESSES_MANY some, and their sums. */
void text_process_columns(const struct report *r, struct columns *c, bool pid);
void text_process_cells(const struct report *r, struct columns *c, uint32_t idx, bool pid);
/* The same of a row that sums up several. */
void text_process_sum(const struct report *r, struct columns *c, const char *name, bool pid);
void text_processes_note(const struct report *r, FILE *out, uint32_t shown);

/* ---- what text and the page share ---- */

/* Printable, at most max characters; "": not recorded. Caller frees. */
char *text_command(const struct report *r, unsigned int max);
/* "0.80 s · 2 ranks · 2 CPUs · 1 node · nothing lost · tracing cost 0.0 %". Caller frees. */
char *text_facts(const struct report *r);
/* Which recording this is: when, where, of what. */
void text_about(const struct report *r, FILE *out);
/* What makes all else doubtful, and what the launcher and library were told. */
void text_doubts(const struct report *r, FILE *out);
void text_no_rank(const struct report *r, FILE *out);

#define EFFICIENCY_JOBS_SHOWN 8
struct efficiency_factor {
	const char *name;
	char text[24]; /* "25 %" */
	double ratio;
};
/* The first one is the product of the others. */
struct efficiency_factors {
	struct efficiency_factor factor[5];
	uint32_t n;
};
struct efficiency_factors efficiency_factors_of(const struct report *r, uint32_t job);
/* False: nothing of that job is known. */
bool efficiency_is_shown(const struct report *r, uint32_t job);

struct account_bar {
	const char *name;
	uint64_t ns;
	double pct;
	int class; /* enum account_class; ACCOUNT_CLASSES: all that are too small for a bar of their own */
};
/* Returns how many. */
uint32_t account_bars(const struct report *r, struct account_bar bar[ACCOUNT_CLASSES + 1]);

struct reasons_left {
	uint32_t n;
	uint64_t ns;
};
/* Those to be shown, and what is left out. Caller frees the list. */
const struct reason **reasons_shown(const struct report *r, uint32_t *shown,
				    struct reasons_left *left);
/* "8 smaller causes, 0.12 s together". Caller frees. */
char *reasons_left_text(const struct reasons_left *left, bool shown);
/* What the reasons say nothing of. */
void text_reasons_doubts(const struct report *r, FILE *out);

/* ---- tables; the caller frees them ---- */

struct columns *table_account_ranks(const struct report *r, uint32_t *shown, uint32_t *all);
/* NULL: nothing of a known size was sent. */
struct columns *table_message_sizes(const struct report *r);
/* What a table of sizes lacks; and messages of which an end is not known. */
void text_messages_notes(const struct report *r, FILE *out);
void text_peers_notes(const struct report *r, FILE *out);
/* From rank to rank; *unit: of the bytes. NULL: no rank shown sent another one anything. */
struct columns *table_sent_to(const struct report *r, const char **unit);
/* From each process shown to each other one: r->nrows × r->nrows cells, row by row; losses make them too low. */
struct columns *table_matrix_of(const struct report *r, const struct pair *cell, uint32_t losses,
				const char **unit);
struct call_sites_shown {
	uint32_t n, shown;
	bool unnamed; /* of some, no name in the source is known */
};
struct columns *table_call_sites(const struct report *r, struct call_sites_shown *what);
void text_call_sites_notes(const struct report *r, bool unnamed, FILE *out);

/* ---- JSON ---- */

/* Of a moment: ns since the recording's start. */
uint64_t json_since_start(const struct report *r, uint64_t ts_ns);
/* A member whose value is the trace's own, handed through. */
void json_key_value(struct json_out *j, const char *key, const json_t *v);
/* null if not known. */
void json_known_uint(struct json_out *j, const char *key, bool known, uint64_t value);
/* "incomplete": what records are missing of an object's figures; bits of analysis/loss.h. */
void json_incomplete(struct json_out *j, uint32_t lost);

#endif
