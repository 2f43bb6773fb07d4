# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the timing tests share, besides the live tests' library: a little arithmetic. README.md says how to read results.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"

calc() { awk "BEGIN { printf \"%.4g\\n\", ${1//$'\n'/ } }" 2>/dev/null || echo nan; } # EXPRESSION
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# of_report NAME: the report of a recording, in $T/NAME.json
of_report() { "$pov" report --json --top 0 "$T/$1.pov" >"$T/$1.json" 2>>"$T/$1.err"; }

# cost_ms NAME KIND [PATTERN]: what findings of a kind cost, whose text matches
cost_ms() {
	jq --arg kind "$2" --arg text "${3-.}" '[.findings[] | select(.kind == $kind and (.text | test($text))) | .cost_ns] |
		(add // 0) / 1e6' "$T/$1.json"
}
