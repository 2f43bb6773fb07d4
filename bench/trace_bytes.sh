#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Bytes on disk per recorded call, after compression, for a stencil-like mix of calls.
#   aim: ≤ 16
# Usage: trace_bytes.sh [ROUNDS], a round being some five calls
. "$(dirname "$0")/lib.sh"

rounds=${1:-3000}
status=0
for mpi in $mpis; do
	run="$(launcher "$mpi" 2) $top/build/mpi/$mpi/call_cost mix 31 $rounds"
	"$pov" record -q -o "$work/run.pov" -- $run >"$work/out" 2>"$work/err" ||
		{ echo "trace_bytes: $mpi: record failed: $(head -3 "$work/err")"; status=1; continue; }
	calls=$(awk 'NF == 3 { n += $3 } END { print n }' "$work/out")
	bytes=$(stat -c %s "$work/run.pov")
	echo "trace_bytes $mpi: $bytes bytes for $calls calls and what the scheduler did: $(ratio "$bytes" "$calls" 1) per call (aim 16)"
done
exit $status
