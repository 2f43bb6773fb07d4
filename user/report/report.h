/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The report replays a trace once through all analyses and prints the results as text, JSON, CSV or
 * HTML. members.tsv describes the members of the JSON.
 */
#ifndef POV_REPORT_REPORT_H
#define POV_REPORT_REPORT_H

#include <stdio.h>

#include "analysis/cores.h"
#include "analysis/coverage.h"
#include "analysis/account.h"
#include "analysis/finding.h"
#include "analysis/functions.h"
#include "analysis/hang.h"
#include "analysis/loss.h"
#include "analysis/messages.h"
#include "analysis/parts.h"
#include "analysis/program_section.h"
#include "analysis/rank_ends.h"
#include "analysis/reasons.h"
#include "analysis/regions.h"
#include "analysis/time_split.h"
#include "analysis/traffic.h"
#include "analysis/transfer_start.h"
#include "analysis/whatif.h"
#include "lib/human.h"
#include "model/model.h"
#include "report/figure.h"
#include "trace/trace_join.h"

enum report_sort {
	REPORT_SORT_RANK,
	REPORT_SORT_RUNNING,
	REPORT_SORT_RUNNABLE,
	REPORT_SORT_BLOCKED,
	REPORT_SORT_MPI,
	REPORT_SORT_POLLING,
};

/* With more processes than this, tables show only some of them, and the sum of all. */
#define PROCESSES_MANY 32

/* Optional parts of the text. */
enum report_detail {
	DETAIL_TIMES = 1 << 0,
	DETAIL_THREADS = 1 << 1, /* requires report_options.threads, too */
	DETAIL_REGIONS = 1 << 2,
	DETAIL_FUNCTIONS = 1 << 3,
	DETAIL_COLLECTIVES = 1 << 4,
	DETAIL_MESSAGES = 1 << 5,
	DETAIL_POSTS = 1 << 6,
	DETAIL_CORES = 1 << 7,
	DETAIL_COVERAGE = 1 << 8,
	DETAIL_CALL_SITES = 1 << 9,
	DETAIL_OVERLAP = 1 << 10,
	DETAIL_SECTION = 1 << 11, /* requires report_options.section, too */
	DETAIL_HANG = 1 << 12,
	DETAIL_FINDINGS = 1 << 13,
	DETAIL_MAIN_TIMES = 1 << 14,
	DETAIL_PLACES = 1 << 15,
	DETAIL_ALL = (1 << 16) - 1,
};

struct report_options {
	struct rank_list ranks; /* empty: all */
	bool threads;
	bool traffic;	   /* print only the traffic */
	bool explain;	   /* explain the columns */
	uint32_t details;  /* bits of enum report_detail; 0: the first screen */
	uint32_t top;	   /* rows shown of long tables; 0: all */
#define REPORT_TOP "15"	   /* default of top */
	uint32_t min_pct;  /* hide reasons that may save less than this percentage of the run */
#define REPORT_MIN_PCT "1" /* default of min_pct */
	enum report_sort sort;
	struct section section; /* section.text NULL: no section */
};

struct report {
	const struct trace_source *source; /* nsources recordings, read together */
	size_t nsources;
	const struct report_options *opt;
	/*
	 * opt->sort, or by running time if that is by rank and there are many processes without
	 * ranks
	 */
	enum report_sort sort;
	struct trace *trace;
	struct model *model;
	struct time_split time;
	struct cores cores;
	struct functions functions;
	struct messages messages;
	struct regions regions;
	struct findings findings;
	struct whatif *whatif; /* NULL once the account is made */
	bool too_long;	       /* the recording is too long for whatif to replay */
	struct account account;
	struct parts parts;
	struct reasons reasons;
	struct last_calls last_calls;
	struct rank_ends ends;
	struct failed failed;
	struct hang hang;
	struct interrupts interrupts;
	struct traffic traffic;
	struct transfer_start transfers;
	struct site_times site_times; /* empty without DETAIL_CALL_SITES */
	struct sites *sites;	      /* names of code locations */
	struct program_section program_section;
	struct coverage coverage;
	struct losses losses;
	struct distortion distortion;
	const struct model_process *distorted; /* process that tracing slowed most, or NULL */
	uint32_t facts;			       /* FACT_* bits of report/figure.h */
	uint32_t nranks;		       /* number of ranks in the trace */
	/* indices of the processes shown, sorted: chosen ranks, or targets without ranks; owned */
	uint32_t *row;
	uint32_t nrows;
	bool *chosen; /* by process index: true if shown; owned */
	uint32_t nprocesses;
	struct { /* sums of the processes shown */
		struct time_row time;
		struct message_row messages;
		struct peers_row peers;
		struct match_row matching;
		struct coverage_hits hits;
	} sum;
	/*
	 * Records missing from each process's life, by process index: bits of analysis/loss.h
	 * including LOSS_UNANNOUNCED. Owned.
	 */
	uint32_t *lost;
	uint32_t lost_shown; /* union of lost over the processes shown */
	bool lost_any;	     /* some figure has a mark */
	bool left_out_only;  /* all marks are due to calls left out by the limit on tracing cost */
};

/* Opens and replays. Returns 0 or -errno (printed). source and opt must outlive the report. */
int report_open(const struct trace_source *source, size_t nsources,
		const struct report_options *opt, struct report *r);
/*
 * report_open() in two steps. report_identify() opens the trace and finds its processes (r->model).
 * Then the caller may set opt->ranks and call report_replay(). If the caller skips report_replay(),
 * or if that fails, it must call report_close(). Both return 0 or -errno (printed).
 */
int report_identify(const struct trace_source *source, size_t nsources,
		    const struct report_options *opt, struct report *r);
int report_replay(struct report *r);
void report_close(struct report *r);

/* 0 if a process shown entered opt->section, or no section is set; else -ENOENT (printed). */
int report_section_check(const struct report *r);
void report_text(const struct report *r, FILE *out);
int report_json(const struct report *r, FILE *out); /* 0 or -errno */
/*
 * Writes a page of HTML, which appears at path only when it is complete. Replays the recording once
 * more: do not print the report after this. Returns 0 or -errno (printed).
 */
int report_html(struct report *r, const char *path);
/* Returns 0 if the trace has traffic, else -ENODATA (printed). The next two print only that. */
int report_traffic_check(const struct report *r);
void report_traffic(const struct report *r, FILE *out);
int report_traffic_csv(const struct report *r, FILE *out); /* 0 or -EIO */

/*
 * Shows how a program scales: the efficiencies of several runs in one table (report --scaling), as
 * text and JSON. kmod-docs/REPORT_SCALING.md describes the members of the JSON.
 */

/*
 * Reads one run from its recordings and adds each of its jobs to s. Keeps nothing of a recording
 * after it returns. Returns 0 or -errno (printed). The sources must outlive s.
 */
int scaling_read(struct scaling *s, const struct trace_source *source, size_t nsources);
void scaling_text(const struct scaling *s, FILE *out);
int scaling_json(const struct scaling *s, FILE *out); /* 0 or -errno */

/* Figures of a struct scaling_run relative to the first run, for text and JSON. */
extern const struct figure scaling_figures[];

/* ---- JSON Schemas of what the report, --scaling and diff write (schema.c) ---- */

/* A row of members.tsv. */
struct schema_row {
	const char *name, *type, *text;
};

/* The Makefile generates these from members.tsv. A row without a name is the last one. */
extern const struct schema_row schema_rows[];

/*
 * Prints the schema of an object of members.tsv: "report", "scaling" or "diff". Returns 0, or
 * -errno if it could not be written (printed).
 */
int schema_print(const char *object, FILE *out);

#endif
