/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A small trace, written record by record and replayed through the model. The model's events become
 * text, one line each.
 */
#ifndef POV_TESTS_MODEL_FIXTURE_H
#define POV_TESTS_MODEL_FIXTURE_H

#include <stdint.h>
#include <stdio.h>

#include "abi/event.h"
#include "model/model.h"
#include "tool/povmake/maker.h"
#include "trace/trace_read.h"
#include "trace/trace_write.h"

struct mfix {
	char path[64];
	/* If not 0, a byte of an event block is changed before the file is opened. */
	uint64_t spoil;
	/* If not 0, event block number `cut` - 1 is removed from the file. */
	int cut;
	struct trace_writer *writer;
	struct trace *trace;
	struct model *model;
	struct model_sink sink; /* writes into text */
	char *text;
	size_t text_bytes;
	FILE *out;
};

/*
 * config: members of the recording's config object, such as "\"sched\":\"all\",\"rings\":2". The
 * recording starts at 1000.
 */
void mfix_begin(struct mfix *f, const char *config);
void mfix_meta(struct mfix *f, const char *json);
void mfix_functions(struct mfix *f); /* the built-in table */
void mfix_rank(struct mfix *f, uint64_t ts_ns, uint32_t pid, int rank, const char *name);
void mfix_end(struct mfix *f, uint64_t ts_ns); /* end block */
/* Closes the writer; opens trace and model. */
void mfix_open(struct mfix *f, bool counters);
/*
 * Begins and opens a trace of n ranks without losses. The test itself passes the threads' activity
 * to an analysis.
 */
void mfix_ranks(struct mfix *f, const char *config, uint32_t n, struct model_thread *thread);
/* Replays the trace; the text is in f->text. */
void mfix_run(struct mfix *f);
/* Call a sink's start and finish, for tests that make the callbacks between them themselves. */
void mfix_sink_start(const struct model_sink *s, const struct model *m);
void mfix_sink_finish(const struct model_sink *s, const struct model *m);
void mfix_release(struct mfix *f);

/* Adds a record in povmake's brief form, or runs another of its statements. */
#define mfix_put(f, ...) maker_put(&(struct maker){.w = (f)->writer, .brief = true}, __VA_ARGS__)

#endif
