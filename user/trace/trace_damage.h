/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which stretches of time lack records because blocks of the file are damaged, so that nothing is concluded
 * across them. Payloads are checked when they are merged: the list grows while a trace is read.
 */
#ifndef POV_TRACE_DAMAGE_H
#define POV_TRACE_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;

struct trace_damage {
	uint64_t id; /* the same in later lists */
	uint64_t from_ns, to_ns;
	uint32_t stream; /* whose records are missing; TRACE_DAMAGE_ANY if that is not known */
	bool guessed; /* the block's header is gone, too: its times are told by its neighbours' */
};
#define TRACE_DAMAGE_ANY UINT32_MAX

/* All damaged event blocks known by now, and how many. The caller frees *out. */
size_t trace_damage_list(const struct trace *t, struct trace_damage **out);

#endif
