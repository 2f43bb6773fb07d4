/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The report: one replay of a trace through all analyses, and its two forms, text and JSON. The JSON's
 * members are described in kmod-docs/REPORT.md.
 */
#ifndef POV_REPORT_REPORT_H
#define POV_REPORT_REPORT_H

#include <stdio.h>

#include "analysis/cores.h"
#include "analysis/coverage.h"
#include "analysis/distorted.h"
#include "analysis/efficiency.h"
#include "analysis/failed.h"
#include "analysis/functions.h"
#include "analysis/hang.h"
#include "analysis/interrupts.h"
#include "analysis/loss.h"
#include "analysis/messages.h"
#include "analysis/parts.h"
#include "analysis/peers.h"
#include "analysis/regions.h"
#include "analysis/section_pov.h"
#include "analysis/sent_to.h"
#include "analysis/site_times.h"
#include "analysis/switches.h"
#include "analysis/time_split.h"
#include "analysis/traffic.h"
#include "analysis/transfer_start.h"
#include "analysis/whatif.h"
#include "lib/rank_list.h"
#include "finding/finding.h"
#include "finding/rank_ends.h"
#include "finding/reasons.h"
#include "model/model.h"
#include "trace/trace_join.h"

enum report_sort {
	REPORT_SORT_RANK,
	REPORT_SORT_RUNNING,
	REPORT_SORT_RUNNABLE,
	REPORT_SORT_BLOCKED,
	REPORT_SORT_MPI,
	REPORT_SORT_POLLING,
};

#define PROCESSES_MANY 32 /* more than these are summed up, and the most telling shown */

/* Details of the text, on demand. */
enum report_detail {
	DETAIL_TIMES = 1 << 0,
	DETAIL_THREADS = 1 << 1, /* if there is also report_options.threads */
	DETAIL_REGIONS = 1 << 2,
	DETAIL_FUNCTIONS = 1 << 3,
	DETAIL_COLLECTIVES = 1 << 4,
	DETAIL_MESSAGES = 1 << 5,
	DETAIL_POSTS = 1 << 6,
	DETAIL_CORES = 1 << 7,
	DETAIL_COVERAGE = 1 << 8,
	DETAIL_CALL_SITES = 1 << 9,
	DETAIL_OVERLAP = 1 << 10,
	DETAIL_SECTION = 1 << 11, /* if there is one */
	DETAIL_HANG = 1 << 12,
	DETAIL_FINDINGS = 1 << 13,
	DETAIL_MAIN_TIMES = 1 << 14,
	DETAIL_ALL = (1 << 15) - 1,
};

struct report_options {
	struct rank_list ranks; /* empty: all */
	bool threads;
	bool traffic;	  /* this alone */
	bool explain;	  /* say what columns mean */
	uint32_t details; /* bits of enum report_detail; 0: the first screen */
	uint32_t top;	  /* rows of long tables; 0: all */
#define REPORT_TOP "15"	  /* unless somebody wants more */
	uint32_t min_pct; /* of the run: reasons that cost less are not shown */
#define REPORT_MIN_PCT "1"
	enum report_sort sort;
	struct section section; /* text NULL: none */
};

struct report {
	const struct trace_source *source; /* recordings that are read together, nsources of them */
	size_t nsources;
	const struct report_options *opt;
	enum report_sort
		sort; /* as asked for; without ranks and of many processes by running, if nothing was */
	struct trace *trace;
	struct model *model;
	struct time_split time;
	struct cores cores;
	struct functions functions;
	struct messages messages;
	struct peers peers;
	struct sent_to sent_to;
	struct regions regions;
	struct switches switches;
	struct findings findings;
	struct whatif *whatif; /* until the account is made */
	bool too_long;	       /* for that */
	struct account account;
	struct efficiency *efficiency; /* of each job; owned */
	struct parts parts;
	struct reasons reasons;
	struct last_calls last_calls;
	struct rank_ends ends;
	struct failed failed;
	struct hang hang;
	struct interrupts interrupts;
	struct traffic traffic;
	struct transfer_start transfers;
	struct site_times site_times; /* empty unless asked for */
	struct sites *sites;	      /* names of places in the program */
	struct section_pov section_pov;
	struct coverage coverage;
	struct losses losses;
	struct distortion distortion;
	const struct model_process *distorted; /* the one that it cost most, or NULL */
	uint32_t facts;			       /* that hold: bits of report/figure.h */
	uint32_t nranks;		       /* in the trace */
	uint32_t *row; /* processes shown, by index, in order: chosen ranks; without any, the targets */
	uint32_t nrows;
	bool *chosen; /* by process index: shown */
	uint32_t nprocesses;
	struct { /* of the processes shown */
		struct time_row time;
		struct switch_row switches;
		struct message_row messages;
		struct peers_row peers;
		struct match_row matching;
		struct coverage_hits hits;
	} sum;
	/* By process index: what is missing of its life, bits of analysis/loss.h, and LOSS_UNANNOUNCED. */
	uint32_t *lost;
	uint32_t lost_shown; /* of any process shown */
	bool lost_any;	     /* some figure is marked */
	bool left_out_only; /* of these, all because of what the limit on tracing's cost has left out */
};

/* Opens and replays. 0 or -errno (printed). source and opt must outlive the report. */
int report_open(const struct trace_source *source, size_t nsources,
		const struct report_options *opt, struct report *r);
/*
 * The same in two steps: opens and learns who there is (r->model), and replays. In between opt->ranks may be chosen. After an error of
 * the second, or instead of it, report_close.
 */
int report_identify(const struct trace_source *source, size_t nsources,
		    const struct report_options *opt, struct report *r);
int report_replay(struct report *r);
void report_close(struct report *r);

/* Somebody who is reported was in the section asked for: 0, or -ENOENT (printed). */
int report_section_check(const struct report *r);
void report_text(const struct report *r, FILE *out);
int report_json(const struct report *r, FILE *out); /* 0 or -errno */
/* A page of HTML, which appears under its path only when it is whole. 0 or -errno (printed). Replays once more: print nothing after it. */
int report_html(struct report *r, const char *path);
/* The traffic alone, which must be there: 0, or -ENODATA (printed). */
int report_traffic_check(const struct report *r);
void report_traffic(const struct report *r, FILE *out);
int report_traffic_csv(const struct report *r, FILE *out);

#endif
