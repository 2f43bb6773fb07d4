/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* user/layers/mpi/mpi.def as data, and the recipes that are made from it. */
#ifndef POV_LAYERS_MPI_MPI_TABLE_H
#define POV_LAYERS_MPI_MPI_TABLE_H

#include "layers/layer.h"
#include "layers/signature.h"

enum {
	MPI_ROW_CNT = 0
#define POV_FUNC(name, group, attrs, sig) +1
#include "layers/mpi/mpi.def"
};
extern const struct func_row mpi_rows[MPI_ROW_CNT];
extern const struct sig_role mpi_sig_roles[];
extern const struct func_word mpi_words[];

/* Argument that names what a poll asks about (request, communicator, window), or -1. */
int mpi_spin_arg(const struct signature *sig);
/* As struct layer has it. */
int mpi_recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *out);

#endif
