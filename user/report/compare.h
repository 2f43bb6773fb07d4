/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two runs side by side: what the report says of each, of the ranks that are in both (by job and rank), functions by layer and name,
 * findings by kind. What changed most comes first. The JSON's members are described in kmod-docs/DIFF.md.
 */
#ifndef POV_REPORT_COMPARE_H
#define POV_REPORT_COMPARE_H

#include "report/figure.h"
#include "report/report.h"

enum { BEFORE, AFTER };
extern const char *const compare_run_names[2];

/* What is in one run, in the other one, or in both: NULL where it is not. */
struct compare_row {
	const char *name,
		*layer;	   /* of a function; of a finding its kind, of messages their class */
	const void *at[2]; /* rows that the figures are of */
	uint32_t lost[2];  /* what is missing of them */
	const struct model_process *process[2]; /* of a rank */
	const char *text[2];			/* of a finding: of the costliest of its kind */
};

struct compare_rows {
	struct compare_row *row; /* owned */
	uint32_t n;
};

struct compare_finding {
	uint64_t count, cost_ns; /* of one kind */
};

struct compare_messages {
	uint64_t count, bytes, unknown;
};

struct compare {
	struct report_options opt[2];
	struct report run[2];
	uint32_t only[2]; /* ranks of that run that the other one has not, or whose number is not known */
	struct compare_rows all, ranks; /* one row: all ranks, added up; and each */
	struct compare_rows app_all,
		app_ranks; /* the same of main threads between MPI_Init and MPI_Finalize */
	struct compare_rows functions, findings, messages;
	struct function_row **function[2]; /* owned, as all that follows */
	uint32_t nfunction[2];
	struct compare_finding *finding[2];
	struct compare_messages sent[2][MESSAGE_CLASS_CNT];
	struct app_thread app_sum[2];
};

/* Figures of a struct function_row, compare_finding, compare_messages; all and ranks have time_figures, app_… app_figures (report/section.h). */
extern const struct figure compare_functions[], compare_findings[], compare_sent[];

/* One figure in both runs. */
struct change {
	bool known[2]; /* false: it is not known in that run; where there is no row, it is known to be 0 */
	uint64_t value[2];
	int64_t by; /* after - before; if both are known */
};
struct change compare_change(const struct compare *c, const struct figure *f,
			     const struct compare_row *row);

/*
 * Reads both runs; each may be several recordings of one job. chosen: these ranks only; empty: all. 0 or -errno (printed); -ENOENT:
 * no rank is in both. The sources and chosen must outlive it.
 */
int compare_open(const struct trace_source *const source[2], const size_t nsources[2],
		 const struct rank_list *chosen, struct compare *c);
void compare_close(struct compare *c);

/* Of long tables `top` rows; 0: all. */
void compare_text(const struct compare *c, uint32_t top, FILE *out);
int compare_json(const struct compare *c, FILE *out); /* 0 or -errno */

/* Parts of them: the efficiencies of each job that both have. */
void compare_efficiency_text(const struct compare *c, FILE *out);
void compare_efficiency_json(struct json_out *j, const struct compare *c);

#endif
