#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# The same counts, of programs that record their calls themselves; the clock that this kernel lets them read; and ranks without the
# preloaded library, each of which waits for probes of its own, at the same functions.
. "$(dirname "$0")/launched_lib.sh"
export POV_CAPTURE=preload

echo "# clock source: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
for mpi in $mpis; do
	launched "$mpi"
	record run $(functions_in "$top/tests/mpi/types.c") -- $(launcher "$mpi" 2) env -u LD_PRELOAD "$programs/$mpi/types" : \
		-n 1 "$programs/$mpi/types"
	is "$mpi, two of three without the library: status" $? 0
	counts_match "$mpi, two of three without the library" run
	nothing_lost "$mpi, two of three without the library" run
done

finish
