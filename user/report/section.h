/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The report's sections. section_<name>.c has the table of figures of a section and prints it as
 * text and JSON. This header declares the functions of all sections, and the helpers that they
 * share (text.c, json.c).
 */
#ifndef POV_REPORT_SECTION_H
#define POV_REPORT_SECTION_H

#include "analysis/label.h"
#include "lib/text.h"
#include "report/figure.h"
#include "report/report.h"

extern const struct figure split_figures[];		     /* rows: struct state_times */
extern const struct figure time_figures[];		     /* rows: struct time_row */
extern const struct figure app_figures[], app_mpi_figures[]; /* rows: struct app_thread */
extern const struct figure switches_object[];		     /* rows: struct switch_row */
extern const struct figure overhead_object[];		     /* rows: struct coverage_hits */
extern const struct figure efficiency_figures[];	     /* rows: struct efficiency */

/* Losses that may make the account's classes, and all figures derived from them, wrong. */
#define LOSS_OF_ACCOUNT (LOSS_OF_CALLS | LOSS_OF_STATES | LOSS_OF_LIVES)

void text_launchers(const struct report *r, FILE *out);
/* Returns "~" if missing records may make the account's classes wrong, else "". */
const char *account_mark(const struct report *r);
/* Returns the losses of a job's efficiency: bits of analysis/loss.h. */
uint32_t efficiency_lost(const struct report *r, uint32_t job);
/* Writes members of the open object. */
void json_efficiency_members(struct json_out *j, const struct efficiency *e, uint32_t facts);
void text_efficiency(const struct report *r, FILE *out);
void text_account(const struct report *r, FILE *out);
void text_reasons(const struct report *r, FILE *out);
void text_account_ranks(const struct report *r, FILE *out);
/* Notes processes that the tables of ranks lack, and ranks whose MPI_Init was not recorded. */
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
void text_transfers(const struct report *r, FILE *out);
void text_coverage(const struct report *r, FILE *out);
void text_call_sites(const struct report *r, FILE *out);
void text_places(const struct report *r, FILE *out);
void text_overlap(const struct report *r, FILE *out);
void text_epochs(const struct report *r, FILE *out);
void text_program_section(const struct report *r, FILE *out);

void json_launchers(struct json_out *j, const struct report *r);
/* These write members of the open object. lost: records missing from the row's processes. */
void json_functions(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost);
void json_regions(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost);
void json_messages(struct json_out *j, const struct message_row *m, uint32_t lost);
void json_peers(struct json_out *j, const struct peers_row *row, uint32_t lost);
/* How many ends of messages were recorded, and how many of them lack their other end. */
struct match_ends {
	uint64_t all, unmatched;
};
struct match_ends match_ends_of(const struct match_row *row);
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
void json_places(struct json_out *j, const struct report *r);
void json_overlap(struct json_out *j, const struct report *r);
void json_epochs(struct json_out *j, const struct report *r, uint32_t idx);
void json_program_section(struct json_out *j, const struct report *r);

/* ---- text ---- */

/* Labels in a buffer that lasts until the end of the enclosing block: for arguments of calls. */
#define RANK_LABEL(r, process) rank_label((r)->model, process, (char[RANK_LABEL_BYTES]){0})
#define CPU_LABEL(r, cpu) cpu_label((r)->model, cpu, (char[CPU_LABEL_BYTES]){0})

void text_section(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a finished table and frees it. */
void text_columns(struct columns *c, FILE *out);
/* Prints text from a trace: made printable, cut to max characters, after before unless empty. */
void text_foreign(FILE *out, const char *before, const char *text, unsigned int max);
#define TEXT_NOTE_WIDTH 100 /* bytes per line */
/* Prints an indented, wrapped note. */
void text_note(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Like text_note(), but only with --explain. Explains what columns mean. */
void text_explain(const struct report *r, FILE *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns how many of n rows to show: all n up to many rows, else at most opt->top. */
uint32_t text_rows_shown(const struct report *r, uint32_t n, uint32_t many);
/* Prints a note if shown < n. */
void text_shown_note(FILE *out, uint32_t shown, uint32_t n);
/* Prints a note if shown < n, for tables that show the ranks that computed least. */
void text_ranks_shown_note(const struct report *r, FILE *out, uint32_t shown, uint32_t n);
/* Adds a cell with the CPUs that a thread may use: "0-3", at most so many ranges, or "any". */
void text_bound_cell(const struct report *r, struct columns *c, const struct model_thread *t,
		     unsigned int ranges);
void text_rank_cell(const struct report *r, struct columns *c, const struct model_process *p);

/*
 * Adds a cell with the processes that had the core while thread t wanted it. Omits those that had
 * it for less than least_ns. Cut to chars.
 */
void text_who_had_core(const struct report *r, struct columns *c, const struct model_thread *t,
		       uint64_t least_ns, unsigned int chars);

/* Largest matrix that the text prints, in ranks. */
#define MATRIX_RANKS_MAX 16
/* Prints a finished matrix with its title and frees it. unit: unit of the bytes. */
void text_matrix_print(struct columns *c, const char *name, const char *unit, FILE *out);

/*
 * For tables with a row for each process shown. With more than PROCESSES_MANY processes, they show
 * some of them and the sum.
 */
void text_process_columns(const struct report *r, struct columns *c, bool pid);
void text_process_cells(const struct report *r, struct columns *c, uint32_t idx, bool pid);
/* Adds the same cells for a row that sums several processes. */
void text_process_sum(const struct report *r, struct columns *c, const char *name, bool pid);
void text_processes_note(const struct report *r, FILE *out, uint32_t shown);

/* ---- the first lines (text_head.c) ---- */

/* Prints all about the recording, and what to doubt. */
void text_head(const struct report *r, FILE *out);
/* The same in a few lines: file, command and facts. */
void text_short_head(const struct report *r, FILE *out);

/* ---- shared by the text and the page ---- */

/* The recorded command: printable, at most max characters; "": not recorded. Caller frees. */
char *text_command(const struct report *r, unsigned int max);
/* "0.80 s · 2 ranks · 2 CPUs · 1 node · nothing lost · tracing cost 0.0 %". Caller frees. */
char *text_facts(const struct report *r);
/* "MPI_Isend is only counted from 1.005 s on". Caller frees. */
char *limit_text(const struct report *r, const struct coverage_limit *l);
/* Prints when, where and of which command the recording was made. */
void text_about(const struct report *r, FILE *out);
/* Prints reasons to doubt the report, and ranks that a wrong launcher started. */
void text_doubts(const struct report *r, FILE *out);
void text_no_rank(const struct report *r, FILE *out);

#define EFFICIENCY_JOBS_SHOWN 8
struct efficiency_factor {
	const char *name;
	char text[24]; /* "25 %" */
	double ratio;
};
/* An efficiency and its factors. The first one is the product of the others. */
struct efficiency_factors {
	struct efficiency_factor factor[5];
	uint32_t n;
};
struct efficiency_factors efficiency_factors_of(const struct report *r, uint32_t job);
/* False if nothing is known about that job's efficiency. */
bool efficiency_is_shown(const struct report *r, uint32_t job);

/* "computing", "waiting for a rank" */
const char *account_class_name(enum account_class class);
struct account_bar {
	const char *name;
	uint64_t ns;
	double pct;
	int class; /* enum account_class; ACCOUNT_CLASSES: sum of all classes too small for a bar */
};
/* Fills bar and returns the number of bars. */
uint32_t account_bars(const struct report *r, struct account_bar bar[ACCOUNT_CLASSES + 1]);

/* Reasons that the list does not show: their number and their sum. */
struct reasons_left {
	uint32_t n;
	uint64_t ns;
};
/* Returns the *shown reasons to show, and sums the others in *left. Caller frees the list. */
const struct reason **reasons_shown(const struct report *r, uint32_t *shown,
				    struct reasons_left *left);
/* "8 smaller causes, 0.12 s together"; shown: larger causes are shown. Caller frees. */
char *reasons_left_text(const struct reasons_left *left, bool shown);
/* Notes gaps in the data behind the reasons: unrecorded states, unmatched messages. */
void text_reasons_doubts(const struct report *r, FILE *out);

/* ---- tables; the caller frees them ---- */

struct columns *table_account_ranks(const struct report *r, uint32_t *shown, uint32_t *all);
/* NULL: no message of known size was sent. */
struct columns *table_message_sizes(const struct report *r);
/* Notes how many messages of unknown size the table of sizes lacks. */
void text_messages_notes(const struct report *r, FILE *out);
/* Notes how many messages have an unknown other end or no match. */
void text_peers_notes(const struct report *r, FILE *out);
/* Bytes sent from rank to rank, in *unit. NULL: no rank shown sent anything to another. */
struct columns *table_sent_to(const struct report *r, const char **unit);
/*
 * Bytes from each process shown to each other, in *unit. cell: r->nrows × r->nrows cells, row by
 * row. losses: bits of analysis/loss.h that make the cells too low.
 */
struct columns *table_matrix_of(const struct report *r, const struct pair *cell, uint32_t losses,
				const char **unit);
#define PLACES_TITLE "Where ranks computed, by samples of code outside MPI"
struct places_shown {
	uint32_t n, shown;
	bool called; /* some functions called libraries */
};
struct columns *table_places(const struct report *r, struct places_shown *what);
/* Why there are no samples. */
const char *places_none_text(const struct report *r);
struct call_sites_shown {
	uint32_t n, shown;
	bool unnamed; /* some call site has no known source location */
};
struct columns *table_call_sites(const struct report *r, struct call_sites_shown *what);

/* ---- JSON ---- */

/* Converts a trace time to ns since the recording's start. */
uint64_t json_since_start(const struct report *r, uint64_t ts_ns);
/* Copies a JSON value from the trace into a member; null if it is nested too deeply. */
void json_key_value(struct json_out *j, const char *key, const json_t *v);
/* Writes member "rank"; null if p is NULL, no rank, or a rank whose number is unknown. */
void json_rank(struct json_out *j, const struct model_process *p);
/* Writes member "incomplete": names of the losses in lost, bits of analysis/loss.h. */
void json_incomplete(struct json_out *j, uint32_t lost);

/* Labels for the parts of the traffic, and its figures. */

/* Returns the function with this id. */
const struct func_info *traffic_func(const struct report *r, uint32_t id);
/* Returns the interned text with this id; NULL: unknown. */
const char *traffic_text(const struct report *r, uint32_t id);

/* The returned text may contain text from the trace, not made printable. Caller frees. */
char *traffic_context(const struct report *r, const struct traffic_key *k);
char *traffic_destination(const struct report *r, const struct traffic_key *k);
char *traffic_transport(const struct report *r, const struct traffic_key *k);

extern const struct figure flow_figures[];     /* JSON: all members of a struct traffic_flow */
extern const struct figure received_figures[]; /* JSON: members of a struct traffic_received */

/* Losses that make sums of posts too low. They may also put a post into the wrong context's row. */
#define LOSS_OF_POSTS LOSS_OF_BYTES

/* Returns the groups of the processes shown, see traffic_by(). Caller frees. */
struct traffic_group *traffic_groups(const struct report *r, uint32_t by, uint32_t *n);
/* Like traffic_groups(), but omits groups without a post that moved data or arrived. */
struct traffic_group *traffic_groups_moving(const struct report *r, uint32_t by, uint32_t *n);

#endif
