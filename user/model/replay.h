/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Feeds records to the model in time order. */
#ifndef POV_MODEL_REPLAY_H
#define POV_MODEL_REPLAY_H

#include "model/what.h"

/* ---- replay.c ---- */

void replay_record(struct model *m, const struct pov_hdr *rec);
/* Advances the slot to the thread that has the number at ts_ns; NULL if none has it yet. */
struct mthread *replay_slot_advance(struct model *m, struct tid_slot *slot, uint64_t ts_ns);

#endif
