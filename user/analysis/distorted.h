/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds whether tracing distorted a recording: the time that tracing took from each rank's main
 * thread between MPI_Init and MPI_Finalize (app_time.h), and how much longer it made the run
 * (untraced.h).
 */
#ifndef POV_ANALYSIS_DISTORTED_H
#define POV_ANALYSIS_DISTORTED_H

#include "analysis/app_time.h"
#include "analysis/coverage.h"
#include "analysis/untraced.h"
#include "lib/distortion.h"

/*
 * Call after the replay. Returns the process that lost most to tracing. NULL: none, or the cost is
 * unknown.
 */
const struct model_process *distorted_find(const struct coverage *a, const struct untraced *u,
					   const struct model *m, struct distortion *out);

#endif
