# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Maps of sender-side overlap: no point is wrong; the sequence without computation takes T_comm; and an independent program that has only
# equation (1) of the paper (tests/mpi/overlap_eq1.c) finds the same ratios, within both intervals and the ACK's latency. Sourced after
# lib.sh by a test with a function launch TRANSPORT COMMAND…, which runs two ranks of $mpi, a core each.

sizes=(65536 1048576)
micros=(8 64 512)

# map_of NAME OPTION…: povbench's map of one size.
map_of() {
	rm -f "$T/$1.json"
	launch "$transport" "$povbench" sender -o "$T/$1.json" "${@:2}" >"$T/$1.out" 2>&1
}

# of_map MAP FILTER: a value of its result
of_map() { jq ".launches[-1].results[0] | $2" "$T/$1.json"; }

# How many computation times have ratios whose intervals do not meet, although they are widened by the latency over the shorter time, and by
# 1.5 us for caches that differ after other computations
apart() {
	of_map map '.points[] | select(.values.ratio) | [.compute_ns / 1000, .values.ratio_low, .values.ratio_high, .times.comp.median / 1000] | @tsv' |
		jq -r . | awk '
		NR == FNR { low[$2] = $4; high[$2] = $5; comm[$2] = $6; latency = $7; next }
		{
			slack = (latency + 1.5) / ($4 < comm[$1] ? $4 : comm[$1]) + 0.05
			n += !($1 in low) || $2 > high[$1] + slack || $3 < low[$1] - slack
		}
		END { print n + 0 }' "$T/eq1" -
}

check_map() {
	local name="$mpi $transport $bytes B"
	map_of map -m "$bytes:$bytes" -d "${micros[0]}us:${micros[-1]}us" --step 8 && map_of zero -m "$bytes:$bytes" -d 0:0 &&
		launch "$transport" "$programs/$mpi/overlap_eq1" "$bytes" "${micros[@]}" >"$T/eq1"
	is "$name: status" $? 0
	aim "$name: part of the time that ranks waited for their cores" "$(of_map map '.core_wait_ns / .took_ns')" - 0.02
	aim "$name: points that are wrong" "$(of_map map '[.points[] | select(.values.too_short_ns)] | length')" 0 0
	aim "$name: without computation, over T_comm" "$(of_map zero '.points[0].times | .measured.median / .comm.median')" 0.95 1.05
	aim "$name: points apart from an independent program" "$(apart)" 0 0
}

# check_maps TRANSPORT…: the maps of $mpi
check_maps() {
	povbench=$top/build/povbench/$mpi/povbench
	[ -x "$povbench" ] || { skip "$mpi" "no $povbench"; return; }
	for transport in "$@"; do
		for bytes in "${sizes[@]}"; do
			check_map
		done
	done
}
