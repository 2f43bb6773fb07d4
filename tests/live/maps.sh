# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Maps of sender-side overlap that are right: no point is wrong, the sequence with a computation of 0 takes what T_comm says, and a
# program that has equation (1) from the paper and nothing from povbench (tests/mpi/overlap_eq1.c) finds the same ratios, within
# both intervals and what the ACK's latency may come to in its way of taking that off. On a machine that others use, too, each is measured up to
# eight times. Sourced behind lib.sh, by who has a function launch: TRANSPORT COMMAND…, two ranks of $mpi, a core each.

sizes=(65536 1048576)
micros=(8 64 512)

# Its map of one size, $2 and the rest: options.
map_of() {
	rm -f "$T/$1.json"
	launch "$transport" "$povbench" sender -o "$T/$1.json" "${@:2}" >"$T/$1.out" 2>&1
}

quiet() { jq -e '.launches[-1].results[0] | .core_wait_ns < 0.02 * .took_ns' "$T/$1.json" >/dev/null; }

wrong() { jq '[.launches[-1].results[0].points[] | select(.values.too_short_ns)] | length' "$T/map.json"; }

# T_measured over T_comm, where there is no computation
alone() { jq '.launches[-1].results[0].points[0].times | .measured.median / .comm.median' "$T/zero.json"; }
is_one() { awk -v x="$1" 'BEGIN { exit !(x >= 0.95 && x <= 1.05) }'; }

# Both programs, one after the other
measure() {
	map_of map -m "$bytes:$bytes" -d "${micros[0]}us:${micros[-1]}us" --step 8 &&
		map_of zero -m "$bytes:$bytes" -d 0:0 &&
		launch "$transport" "$programs/$mpi/overlap_eq1" "$bytes" "${micros[@]}" >"$T/eq1"
}

# The computation times at which the intervals are apart, by more than the latency, and 1.5 us, which caches differ by after other computations,
# over the shorter time
apart() {
	jq -r '.launches[-1].results[0].points[] | select(.values.ratio) | [.compute_ns / 1000, .values.ratio_low, .values.ratio_high, .times.comp.median / 1000] | @tsv' \
		"$T/map.json" | awk '
		NR == FNR { low[$2] = $4; high[$2] = $5; comm[$2] = $6; latency = $7; next }
		{
			shorter = $4 < comm[$1] ? $4 : comm[$1]
			slack = (latency + 1.5) / shorter + 0.05
			if (!($1 in low) || $2 > high[$1] + slack || $3 < low[$1] - slack)
				printf "%s us: %.3f to %.3f, the other %.3f to %.3f; ", $1, $2, $3, low[$1], high[$1]
		}' "$T/eq1" -
}

check_map() {
	local name="$mpi $transport $bytes B" status try
	for try in {1..8}; do
		measure
		status=$?
		[ $status = 0 ] || break
		! quiet map || ! quiet zero || [ "$(wrong)" -gt 0 ] || ! is_one "$(alone)" || [ -n "$(apart)" ] || break
	done
	is "$name: status" $status 0
	[ $status = 0 ] || return
	quiet map && quiet zero || {
		skip "$name: compared with an independent program" "the ranks had to wait for their cores, eight times"
		return
	}
	is "$name: points that are wrong (try $try)" "$(wrong)" 0
	holds "$name: without computation it takes T_comm: $(alone)" is_one "$(alone)"
	is "$name: apart from an independent program" "$(apart)" ""
}

# TRANSPORT…: of $mpi
check_maps() {
	povbench=$top/build/povbench/$mpi/povbench
	[ -x "$povbench" ] || { skip "$mpi" "no $povbench"; return; }
	for transport in "$@"; do
		for bytes in "${sizes[@]}"; do
			check_map
		done
	done
}
