#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Two ranks call as fast as they can, with default settings: nothing may be lost.
#   aim: 0 dropped
# Usage: throughput.sh [ROUNDS], a round being four calls
. "$(dirname "$0")/lib.sh"

rounds=${1:-333331}
status=0
for mpi in $mpis; do
	$(launcher "$mpi" 2) "$top/build/mpi/$mpi/flood" "$rounds" >"$work/plain" 2>/dev/null
	"$pov" record -q -o "$work/run.pov" -- $(launcher "$mpi" 2) "$top/build/mpi/$mpi/flood" "$rounds" \
		>"$work/traced" 2>"$work/err" || { echo "throughput: $mpi: record failed: $(head -3 "$work/err")"; status=1; continue; }
	"$pov" info --json "$work/run.pov" >"$work/info.json" || status=1
	dropped=$(jq '[.drops[]?.cnt] | add // 0' "$work/info.json")
	[ "$dropped" = 0 ] || status=1
	awk -v mpi="$mpi" -v dropped="$dropped" -v bytes="$(stat -c %s "$work/run.pov")" '
		/^flood/ { rate[FILENAME] += $3 / $4 * 1e3; calls[FILENAME] += $3 }
		END {
			for (f in rate) if (f ~ /traced$/) traced = f; else plain = f
			printf "throughput %s: %.2f M calls/s traced (%.2f untraced), %d calls, dropped %s (aim 0), %.1f bytes per call on disk\n",
				mpi, rate[traced], rate[plain], calls[traced], dropped, bytes / calls[traced]
		}' "$work/plain" "$work/traced"
done
exit $status
