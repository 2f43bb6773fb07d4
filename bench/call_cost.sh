#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What tracing one call costs: ns added to an MPI call by povtrace, by an empty uprobe+uretprobe pair at
# the same sites, and by perf record with the same probes; measured by turns in one run, medians.
#   aims: povtrace/empty ≤ 1.25, povtrace/perf ≤ 0.5
# Usage: call_cost.sh [TURNS]
. "$(dirname "$0")/lib.sh"

turns=${1:-7}
funcs=MPI_Isend,MPI_Recv,MPI_Wait
empty=$top/build/bench/empty_probe

perf_group=povbench
perf_ready() { # LIBRARY
	local f
	command -v perf >/dev/null || return 1
	for f in ${funcs//,/ }; do
		perf probe -q -x "$1" -a "$perf_group:$f=$f" 2>/dev/null &&
			perf probe -q -x "$1" -a "$perf_group:${f}_ret=$f%return" 2>/dev/null || return 1
	done
}
perf_clean() { perf probe -q -d "$perf_group:*" 2>/dev/null; }

measure() { # KIND MPI
	local run
	run="$(launcher "$2" 1) $top/build/mpi/$2/call_cost self 21 2000"
	case $1 in
	plain) $run ;;
	empty) "$empty" "$lib" "$funcs" $run ;;
	povtrace) "$pov" record -q -o "$work/run.pov" --no-functions 'MPI_Init*' --sched off -- $run ;;
	perf) perf record -q -o "$work/perf.data" -e "$perf_group:*" -- $run ;;
	esac 2>"$work/err" | awk 'NF == 3 { print $1 }'
}

one_mpi() {
	local m=$1 turn kind kinds="plain empty povtrace" value
	lib=$(library_of "$top/build/mpi/$m/call_cost")
	[ -x "$empty" ] || kinds="plain povtrace"
	perf_clean
	if perf_ready "$lib"; then kinds="$kinds perf"; else echo "call_cost: $m: no perf with probes here"; fi
	rm -f "$work"/ns.*
	for ((turn = 0; turn < turns; turn++)); do
		for kind in $kinds; do
			value=$(measure "$kind" "$m")
			[ -n "$value" ] || { echo "call_cost: $m: $kind failed: $(head -3 "$work/err")"; return 1; }
			echo "$value" >>"$work/ns.$kind"
		done
	done
	perf_clean
	report_one "$m"
}

report_one() {
	local plain pov_ns empty_ns perf_ns
	plain=$(median <"$work/ns.plain")
	pov_ns=$(minus "$(median <"$work/ns.povtrace")" "$plain")
	printf 'call_cost %s: call %s ns, povtrace adds %s' "$1" "$plain" "$pov_ns"
	if [ -s "$work/ns.empty" ]; then
		empty_ns=$(minus "$(median <"$work/ns.empty")" "$plain")
		printf ', empty pair %s (ratio %s, aim 1.25)' "$empty_ns" "$(ratio "$pov_ns" "$empty_ns")"
	fi
	if [ -s "$work/ns.perf" ]; then
		perf_ns=$(minus "$(median <"$work/ns.perf")" "$plain")
		printf ', perf record %s (ratio %s, aim 0.5)' "$perf_ns" "$(ratio "$pov_ns" "$perf_ns")"
	fi
	echo
}

status=0
for mpi in $mpis; do one_mpi "$mpi" || status=1; done
exit $status
