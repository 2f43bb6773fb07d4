#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# The same counts of programs that record their calls themselves; the clock that this kernel lets them have; and processes that have
# not loaded the library, which wait until they have probes.
. "$(dirname "$0")/launched_lib.sh"
export POV_CAPTURE=preload

echo "# clock source: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
for mpi in $mpis; do
	launched "$mpi"
	record run $(functions_in "$top/tests/mpi/types.c") -- env -u LD_PRELOAD $(launcher "$mpi" 2) "$programs/$mpi/types"
	is "$mpi, without the library: status" $? 0
	counts_match "$mpi, without the library" run
	nothing_lost "$mpi, without the library" run
done

finish
