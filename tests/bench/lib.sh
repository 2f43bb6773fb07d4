# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the benchmarks of recording share, on top of what the live tests have. Each measurement is printed on a
# line of its own ("# …"), and an aim that is missed fails nothing.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"
need_live

median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# ratio A B [DIGITS]
ratio() { awk -v a="$1" -v b="$2" -v d="${3:-2}" 'BEGIN { if (b > 0) printf "%.*f\n", d, a / b; else print "nan" }'; }
minus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f\n", a - b }'; }

# by_turns TURNS KIND…: calls `measure KIND` for each kind in turn, that many times. The output goes to $T/ns.KIND, errors to $T/err.
by_turns() {
	local turn kind value
	rm -f "$T"/ns.*
	for ((turn = 0; turn < $1; turn++)); do
		for kind in "${@:2}"; do
			value=$(measure "$kind")
			[ -n "$value" ] || { not_ok "$kind" <"$T/err"; return 1; }
			echo "$value" >>"$T/ns.$kind"
		done
	done
}
ns() { median <"$T/ns.$1"; }                    # of a KIND
adds() { minus "$(ns "$1")" "$(ns plain)"; } # what it takes more than "plain"
