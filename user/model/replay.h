/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Records in, in order of time. */
#ifndef POV_MODEL_REPLAY_H
#define POV_MODEL_REPLAY_H

#include "model/what.h"

/* ---- replay.c ---- */

void replay_record(struct model *m, const struct pov_hdr *rec);
/* Brings the slot to the thread that has the number at ts; NULL if none has yet. */
struct mthread *replay_slot_advance(struct model *m, struct tid_slot *slot, uint64_t ts_ns);

#endif
