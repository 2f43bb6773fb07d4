/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The named values a slice carries, the same for every format. Built anew for each slice; strings and
 * arrays are borrowed from the model (valid during its callback) or lie in the list's own scratch.
 */
#ifndef POV_TIMELINE_ARGS_H
#define POV_TIMELINE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/polls.h"
#include "model/model.h"

struct sites;

#define ARGS_MAX (2 * CALL_VALUES_MAX + 32)
#define ARGS_SCRATCH_BYTES 4096

struct writer_args {
	struct sites *sites;		     /* names of call sites; NULL: none are known */
	uint32_t n, used;		     /* used: of scratch */
	struct call_value arg[ARGS_MAX + 1]; /* the last one takes what is too many */
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
/* Keeps a copy in the scratch; what does not fit is cut. Returns the copy. */
const char *args_keep(struct writer_args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Makes to a copy of from that keeps nothing borrowed. False if its texts and arrays do not fit into the scratch; to
 * is of no use then.
 */
bool args_copy(struct writer_args *to, const struct writer_args *from);
/* Makes *text one that lies in the scratch; false if there is no room. */
bool args_copy_text(struct writer_args *a, const char **text);
/* Makes to have the same values as from, borrowed of it. */
void args_share(struct writer_args *to, const struct writer_args *from);
void args_add_split(struct writer_args *a, const struct state_times *split);

/*
 * start_ns: of the recording; sched: whether the split of a call into states means anything; cost: what an empty
 * poll costs by the calibration, 0 if not known.
 */
void args_from_call(struct writer_args *a, const struct model_call *c, bool sched);
void args_from_spin(struct writer_args *a, const struct model_spin *s, uint64_t start_ns,
		    bool sched, const struct poll_cost *cost);
/* "MPI_Iprobe ×1,234"; lies in the scratch. */
const char *args_spin_name(struct writer_args *a, const struct model_spin *s);

#endif
