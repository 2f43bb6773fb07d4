#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# The exact counts in short, by probes: of launched programs, and of running ones that are attached to.
. "$(dirname "$0")/launched_lib.sh"
export POV_CAPTURE=probes

for mpi in $mpis; do
	launched "$mpi"
	serve one "$mpi"
	watch run -f MPI_Allreduce -f MPI_Sendrecv_replace -p "${jobs_of[one]}"
	between_marks one
	stop_recording
	stop_services one
	marked_match "$mpi: attached" one
	nothing_lost "$mpi: attached" run
done

finish
