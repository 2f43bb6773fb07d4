# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the timing tests share, besides the live tests' library: aims and a little arithmetic. README.md says how to read them.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"

# aim NAME VALUE LOW HIGH: prints the value and its aim ("-": no bound). A value outside is "missed" and fails nothing.
declare -F aim >/dev/null || aim() {
	tap_cnt=$((tap_cnt + 1))
	local line="$tap_cnt - $1: $2 (aim: $3 to $4)"
	if awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN {
		exit !(v ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ && (low == "-" || v + 0 >= low + 0) && (high == "-" || v + 0 <= high + 0)) }'; then
		echo "ok $line"
	else
		echo "not ok $line # TODO missed"
	fi
}

calc() { awk "BEGIN { printf \"%.4g\\n\", ${1//$'\n'/ } }" 2>/dev/null || echo nan; } # EXPRESSION
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# of_report NAME: the report of a recording, in $T/NAME.json
of_report() { "$pov" report --json --top 0 "$T/$1.pov" >"$T/$1.json" 2>>"$T/$1.err"; }

# cost_ms NAME KIND [PATTERN]: what findings of a kind cost, whose text matches
cost_ms() {
	jq --arg kind "$2" --arg text "${3-.}" '[.findings[] | select(.kind == $kind and (.text | test($text))) | .cost_ns] |
		(add // 0) / 1e6' "$T/$1.json"
}
