/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The named values that a slice carries, the same for every format. Built anew for each slice.
 * Strings and arrays are borrowed from the model (valid during its callback) or lie in the list's
 * own scratch memory.
 */
#ifndef POV_TIMELINE_ARGS_H
#define POV_TIMELINE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/time_split.h"
#include "model/model.h"

struct sites;
struct writer_select;

#define ARGS_MAX (2 * CALL_VALUES_MAX + 32)
#define ARGS_SCRATCH_BYTES 4096

struct writer_args {
	struct sites *sites;		     /* names of call sites; NULL: unknown */
	uint32_t n, used;		     /* used: bytes of scratch in use */
	struct call_value arg[ARGS_MAX + 1]; /* the last one absorbs excess values */
	char scratch[ARGS_SCRATCH_BYTES];
};

static inline void args_reset(struct writer_args *a)
{
	a->n = a->used = 0;
}

void args_add_int(struct writer_args *a, const char *name, int64_t v);
void args_add_uint(struct writer_args *a, const char *name, uint64_t v);
void args_add_hex(struct writer_args *a, const char *name, uint64_t v);
void args_add_bool(struct writer_args *a, const char *name, bool v);
void args_add_us(struct writer_args *a, const char *name, uint64_t ns);
void args_add_text(struct writer_args *a, const char *name, const char *text); /* borrows text */
/* Stores formatted text in the scratch memory; text that does not fit is cut. Returns the copy. */
const char *args_keep(struct writer_args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Copies from with everything it borrows. False if its texts and arrays do not fit into the scratch
 * memory; `to` is unusable then.
 */
bool args_copy(struct writer_args *to, const struct writer_args *from);
/* Moves *text into the scratch memory; false if it does not fit. */
bool args_copy_text(struct writer_args *a, const char **text);
/* Gives `to` the same values, borrowed from `from`. */
void args_share(struct writer_args *to, const struct writer_args *from);
void args_add_split(struct writer_args *a, const struct state_times *split);

/*
 * These add the values of a call or spin. sched: the split into states is meaningful. start_ns: the
 * start of the recording. cost: the calibrated cost of an empty poll, 0 if it is unknown.
 */
void args_from_call(struct writer_args *a, const struct model_call *c, bool sched);
void args_from_spin(struct writer_args *a, const struct model_spin *s, uint64_t start_ns,
		    bool sched, const struct poll_cost *cost);
/* "MPI_Iprobe ×1,234", stored in the scratch memory. */
const char *args_spin_name(struct writer_args *a, const struct model_spin *s);

/* ---- the recording as a whole, and the display names of its processes ---- */

/*
 * Fills `a` with facts about the recording: hosts, kernel, command, versions, clocks, losses, and
 * what was selected for export. Strings live in `a` or in the model.
 */
void meta_fill(struct writer_args *a, struct model *m, const struct writer_select *sel);

/*
 * "rank 3 · app", with its job if there are several; other processes by name. The caller frees it.
 */
char *meta_process_name(const struct model_process *p, uint32_t njobs);

/* uname -v of the recorded host, or "". */
const char *meta_kernel_version(struct model *m);

#endif
