#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# The exact counts in short, by probes: of launched programs, and attaching to what runs.
. "$(dirname "$0")/launched_lib.sh"
export POV_CAPTURE=probes

for mpi in $mpis; do
	launched "$mpi"
	serve one "$mpi"
	watch run -f MPI_Allreduce -f MPI_Sendrecv_replace -p "${jobs_of[one]}"
	kill -USR1 $(cat "$T/one.pids")
	sleep 1
	kill -USR2 $(cat "$T/one.pids")
	sleep 0.5
	kill -INT "$tracer"
	wait "$tracer"
	stop_services one
	rm -f "$T/run.books"/*
	cp "$T/one.books"/* "$T/run.books/"
	counts_match "$mpi: attached" run
	nothing_lost "$mpi: attached" run
done

finish
