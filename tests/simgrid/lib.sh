# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Shared by the tests in simulation: runs povbench and the finder of the truth in SimGrid, and reads results. TAP and the temporary
# directory are those of the live tests.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"
here=$top/tests/simgrid
smpi=$top/build/povbench/smpi

# SimGrid loads the program once for each rank. Each copy has a few thread-local words of libpov's, in memory that must be reserved at
# start.
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536

need_simgrid() {
	need jq awk
	command -v smpirun >/dev/null || skip_all "no SimGrid here (package libsimgrid-dev)"
	[ -x "$smpi/povbench" ] || skip_all "no $smpi/povbench; run make simgrid-programs first"
}

# hosts NAME HOST...: a host file, one rank each
hosts() {
	local name=$1
	shift
	printf '%s\n' "$@" >"$T/$name.hosts"
}

# simulate PLATFORM HOSTS RANKS COMMAND...; more_options OPTION... adds options of SimGrid's for all later ones. The speed of this machine
# has no influence: computation takes only the time that the program requests from the simulation. A message takes 2 µs of CPU time at
# either end.
simgrid_options=()
more_options() { simgrid_options=("$@"); }
simulate() {
	local platform=$1 hosts=$2 ranks=$3
	shift 3
	smpirun -np "$ranks" -platform "$here/$platform.xml" -hostfile "$T/$hosts.hosts" \
		--cfg=smpi/simulate-computation:no --log=root.thres:error \
		--cfg=smpi/os:0:2e-6:0 --cfg=smpi/ois:0:2e-6:0 --cfg=smpi/or:0:2e-6:0 \
		${simgrid_options[@]+"${simgrid_options[@]}"} "$@"
}

# Writes what each method reports of each algorithm on 2, 4, 8 ... ranks, beside the truth, to NAME.methods, a line each:
#   algorithm tasks truth mean_truth send_latency rounds_ascending rounds_descending barrier acknowledge oli     (ns)
# Simulations have no noise, so two reports of two broadcasts are enough.
broadcast_methods() { # NAME PLATFORM HOSTS RANKS BYTES
	local name=$1 platform=$2 hosts=$3 ranks=$4 bytes=$5
	simulate "$platform" "$hosts" "$ranks" "$smpi/bcast_truth" "$bytes" >"$T/$name.truth" 2>"$T/$name.err" || return 1
	simulate "$platform" "$hosts" "$ranks" "$smpi/povbench" suite --full --only bcast_send_latency --only bcast_rounds \
		--only bcast_barrier --only bcast_ack --only bcast_oli --bytes "$bytes" --samples 2 --repeat 2 --warmup 1 \
		--point-time 1000 --validate -o "$T/$name.json" >"$T/$name.out" 2>>"$T/$name.err" || return 1
	jq -r '[.launches[-1].results[].points[] | select(has("task") | not)] | group_by([.algorithm, .tasks])[] |
		(map({(.method): (.times.latency.mean)}) | add) as $m |
		[.[0].algorithm, .[0].tasks, $m.send_latency, $m.rounds_ascending, $m.rounds_descending,
			$m.barrier, $m.acknowledge, $m.oli] | @tsv' "$T/$name.json" >"$T/$name.measured" 2>>"$T/$name.err" || return 1
	awk 'NR == FNR { truth[$1, $2] = $3 " " $4; next } { $2 = $2 " " truth[$1, $2]; print }' \
		"$T/$name.truth" "$T/$name.measured" >"$T/$name.methods"
}

# claim NAME TEXT CASES CONDITION [FILTER]: the condition (awk) holds for every line that the filter selects, and these are CASES lines. Its
# words are the columns of broadcast_methods.
claim() {
	local name=$1 text=$2 cases=$3 condition=$4 filter=${5-1}
	awk -v cases="$cases" '
		function abs(x) { return x < 0 ? -x : x }
		NF != 10 { print "incomplete: " $0; bad++ }
		{
			algorithm = $1; tasks = $2; truth = $3; mean_truth = $4; send = $5
			ascending = $6; descending = $7; barrier = $8; acknowledge = $9; oli = $10
		}
		!('"$filter"') { next }
		{ seen++ }
		!('"$condition"') { print "not so: " $0; bad++ }
		END { if (seen != cases) { print seen + 0 " cases instead of " cases; bad++ }; exit bad != 0 }' \
		"$T/$name.methods" >"$T/$name.bad"
	if [ $? = 0 ]; then ok "$name: $text"; else not_ok "$name: $text" <"$T/$name.bad"; fi
}

# What the paper says of the methods in general (sections 3 and 4). 1 % of the truth allows for the first broadcast of a report, which has
# nothing to overlap with, and for reading the clock.
broadcast_bounds() { # NAME CASES
	claim "$1" "max(OL_i) is the truth within 1 %" "$2" 'abs(oli - truth) <= 0.01 * truth'
	claim "$1" "rounds are a lower bound, in both orders" "$2" \
		'ascending <= 1.01 * mean_truth && descending <= 1.01 * mean_truth'
	claim "$1" "barrier is an upper bound" "$2" 'barrier > truth && barrier > oli'
	claim "$1" "acknowledge is an upper bound" "$2" 'acknowledge > truth && acknowledge > oli'
}
