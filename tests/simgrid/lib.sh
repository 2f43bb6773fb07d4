# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the tests in simulation share: running povbench in SimGrid, and looking into results. TAP and the temporary directory are
# those of the live tests.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"
here=$top/tests/simgrid
smpi=$top/build/povbench/smpi

# SimGrid loads the program once for each rank, and each copy has a few thread-local words of libpov's, in memory that is set aside at start.
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536

need jq awk
command -v smpirun >/dev/null || skip_all "no SimGrid here (package libsimgrid-dev)"
[ -x "$smpi/povbench" ] || skip_all "no $smpi/povbench; run make simgrid-programs first"

# hosts NAME HOST...: a host file, one rank each
hosts() { printf '%s\n' "${@:2}" >"$T/$1.hosts"; }

# simulate NAME PLATFORM HOSTS RANKS WORD...: povbench with these words; its results are in NAME.json. Nothing of this machine's speed gets
# in: computation takes only the time that the program asks the simulation for. A message takes 2 µs of CPU time at either end. There is
# no chance in a simulation: few samples are enough. $simgrid_options are SimGrid's own.
simgrid_options=()
simulate() {
	rm -f "$T/$1.json"
	smpirun -np "$4" -platform "$here/$2.xml" -hostfile "$T/$3.hosts" --cfg=smpi/simulate-computation:no --log=root.thres:error \
		--cfg=smpi/os:0:2e-6:0 --cfg=smpi/ois:0:2e-6:0 --cfg=smpi/or:0:2e-6:0 ${simgrid_options[@]+"${simgrid_options[@]}"} \
		"$smpi/povbench" "${@:5}" --point-time 1000 --validate -o "$T/$1.json" >"$T/$1.out" 2>"$T/$1.err" ||
		not_ok "$1: runs" <"$T/$1.err"
}

# points NAME JQ: of the points of NAME.json
points() { jq -r ".launches[-1].results[].points[] | $2" "$T/$1.json"; }

# claim NAME TEXT CASES CONDITION [FILTER]: the condition (awk) holds for every row of NAME.table that the filter selects, and those are
# as many as said. Its words are the columns, which the table's first line names.
claim() {
	local condition=$4 filter=${5-1} column i=0
	for column in $(head -n 1 "$T/$1.table"); do
		i=$((i + 1))
		condition=$(sed "s/\\b$column\\b/\$$i/g" <<<"$condition")
		filter=$(sed "s/\\b$column\\b/\$$i/g" <<<"$filter")
	done
	awk -v cases="$3" -v columns=$i '
		function abs(x) { return x < 0 ? -x : x }
		NR == 1 { next }
		NF != columns { print "incomplete: " $0; bad++ }
		!('"$filter"') { next }
		{ seen++ }
		!('"$condition"') { print "not so: " $0; bad++ }
		END { if (seen != cases) { print seen + 0 " cases instead of " cases; bad++ }; exit bad != 0 }' \
		"$T/$1.table" >"$T/$1.bad"
	if [ $? = 0 ]; then ok "$1: $2"; else not_ok "$1: $2" <"$T/$1.bad"; fi
}

# near TEXT GOT WANTED [PERCENT]: to within 1 %, and both are there
near() {
	holds "$1: ${2%.*} ns, wanted ${3%.*}" awk -v a="${2:-0}" -v b="${3:-0}" -v by="${4:-1}" \
		'BEGIN { exit !(a > 0 && b > 0 && (a - b) ^ 2 <= (by / 100 * b) ^ 2) }'
}
