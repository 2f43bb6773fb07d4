/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Decoding without a trace: a decoder with one library and one process.
 */
#ifndef POV_TESTS_LAYER_FIXTURE_H
#define POV_TESTS_LAYER_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "layers/layer.h"

extern const struct layer layer_mpi, layer_ob1, layer_ofi, layer_os, layer_ucp, layer_uct,
	layer_verbs;

struct fixture {
	const struct layer *layer;
	struct layer_decoder *d;
	struct func_info *funcs; /* by id; those of other layers are empty */
	size_t cnt;
	uint64_t now;
	struct call_view view;
};

#define FIXTURE_PID 100
#define FIXTURE_LIB 3

void fixture_init_layer(struct fixture *f, const struct layer *layer);
void fixture_release(struct fixture *f);
/* Meta objects of an MPI library and of a process that is rank 1 of 4. */
extern const char *const fixture_openmpi[2], *const fixture_mpich[2];

#endif
