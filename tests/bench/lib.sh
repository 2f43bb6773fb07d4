# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the benchmarks of recording share, on top of what the live tests have. Each measurement is printed on a
# line of its own ("# …"), and an aim that is missed is a failed test.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"
need_live

median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# ratio A B [DIGITS]
ratio() { awk -v a="$1" -v b="$2" -v d="${3:-2}" 'BEGIN { if (b > 0) printf "%.*f\n", d, a / b; else print "nan" }'; }
minus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f\n", a - b }'; }

# at_most NAME VALUE AIM
at_most() {
	if ! awk -v v="$2" 'BEGIN { exit v !~ /^-?[0-9.]+$/ }'; then
		echo "no number: \"$2\"" | not_ok "$1"
	elif awk -v v="$2" -v a="$3" 'BEGIN { exit v > a }'; then
		ok "$1: $2 (aim: at most $3)"
	else
		tap_cnt=$((tap_cnt + 1))
		echo "not ok $tap_cnt - $1: $2 (aim: at most $3) # TODO"
		echo "# aim missed: $1: $2, aim: at most $3"
	fi
}
