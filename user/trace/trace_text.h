/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records as lines of text, "call ts=100 dur=40 tid=7 …": `povtrace info --dump` prints them, the
 * tests' maker of traces reads them.
 */
#ifndef POV_TRACE_TEXT_H
#define POV_TRACE_TEXT_H

#include <stdio.h>

#include "abi/event.h"

/* Prints one line without its newline. The record must be record_well_formed. */
void trace_record_print(const struct pov_hdr *rec, FILE *out);

#endif
