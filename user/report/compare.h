/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Compares the reports of two runs. It covers only ranks that are in both runs. Ranks match by job
 * and rank, functions by layer and name, findings by kind. The largest changes come first.
 * kmod-docs/DIFF.md describes the members of the JSON.
 */
#ifndef POV_REPORT_COMPARE_H
#define POV_REPORT_COMPARE_H

#include "report/figure.h"
#include "report/report.h"

enum { BEFORE, AFTER };
extern const char *const compare_run_names[2];

/* One row of a comparison. Pointers for a run are NULL if that run lacks the item. */
struct compare_row {
	/*
	 * name: name of the function, kind of the findings, or class of the messages; NULL for
	 * ranks. layer: layer of the function; "" for findings and messages; NULL for ranks.
	 */
	const char *name, *layer;
	const void *at[2]; /* the run's row that the figures read */
	uint32_t lost[2];  /* records missing from the run's row: bits of analysis/loss.h */
	const struct model_process *process[2]; /* process of the rank; NULL in other tables */
	const char *text[2];			/* text of the costliest finding of this kind */
};

struct compare_rows {
	struct compare_row *row; /* owned */
	uint32_t n;
};

/* All findings of one kind in one run, added up. */
struct compare_finding {
	uint64_t count, cost_ns;
};

/* All messages of one class in one run, added up. unknown: messages of unknown size. */
struct compare_messages {
	uint64_t count, bytes, unknown;
};

struct compare {
	struct report_options opt[2];
	struct report run[2];
	/* ranks of each run that the other run lacks, or whose rank number is unknown */
	uint32_t only[2];
	/* all: one row, the sum of all ranks; ranks: one row per rank */
	struct compare_rows all, ranks;
	/* like all and ranks, but main threads only, between MPI_Init and MPI_Finalize */
	struct compare_rows app_all, app_ranks;
	struct compare_rows functions, findings, messages;
	/* The rows above point into run and into the members below. */
	struct function_row **function[2]; /* owned */
	uint32_t nfunction[2];
	struct compare_finding *finding[2]; /* owned */
	struct compare_messages sent[2][MESSAGE_CLASS_CNT];
	struct app_thread app_sum[2];
};

/*
 * Figures of struct function_row, compare_finding and compare_messages. The tables all and ranks
 * use time_figures, app_all and app_ranks use app_figures (report/section.h).
 */
extern const struct figure compare_functions[], compare_findings[], compare_sent[];

/* One figure in both runs. */
struct change {
	bool known[2]; /* false: unknown in that run; a run without a row has the known value 0 */
	uint64_t value[2];
	int64_t by; /* after - before, or 0 unless both are known */
};
struct change compare_change(const struct compare *c, const struct figure *f,
			     const struct compare_row *row);

/*
 * Reads both runs. A run may be several recordings of one job. Compares the ranks in chosen, or all
 * ranks if chosen is empty. Returns 0 or -errno (printed); -ENOENT: no rank is in both runs. The
 * sources and chosen must outlive c.
 */
int compare_open(const struct trace_source *const source[2], const size_t nsources[2],
		 const struct rank_list *chosen, struct compare *c);
void compare_close(struct compare *c);

/* top: rows shown of each long table; 0: all. */
void compare_text(const struct compare *c, uint32_t top, FILE *out);
int compare_json(const struct compare *c, FILE *out); /* 0 or -errno */

/* Prints the efficiencies of each job that is in both runs. Part of compare_text. */
void compare_efficiency_text(const struct compare *c, FILE *out);

#endif
