#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# perfetto_health.sh TIMELINE TOTALS.json: asks Perfetto's trace_processor what it made of a timeline, and
# whether that is what `povtrace export --totals` says it wrote. Prints what is wrong; status 0 if nothing is,
# 77 if there is no trace_processor (it is no package: fetch it from get.perfetto.dev, or set
# TRACE_PROCESSOR).
set -u
here=$(cd "$(dirname "$0")" && pwd)
timeline=$1 totals=$2
tp=${TRACE_PROCESSOR:-$(command -v trace_processor_shell || command -v trace_processor)}
if [ -z "$tp" ]; then
	echo "no trace_processor_shell in PATH, and TRACE_PROCESSOR is not set"
	exit 77
fi

rows=$("$tp" -q "$here/perfetto_health.sql" "$timeline" 2>"$timeline.tp.log" | sed -n 's/^"\(.*\)",\([0-9]*\)$/\1=\2/p')
if [ "$(grep -c . <<<"$rows")" != 21 ]; then
	echo "$timeline: trace_processor could not read it:"
	tail -n 5 "$timeline.tp.log"
	exit 1
fi
bad=0
wrong() {
	echo "$timeline: $1"
	bad=1
}
total() { jq ".$1" "$totals"; }
while IFS='=' read -r what n; do
	case $what in
	total_open) [ "$n" = "$(total open)" ] || wrong "$n slices without end, written: $(total open)" ;;
	total_slices)
		w=$(jq '.slices + .instants' "$totals")
		[ "$n" = "$w" ] || wrong "$n slices, written: $w"
		;;
	total_flows) [ "$n" = "$(total flows)" ] || wrong "$n arrows, written: $(total flows)" ;;
	total_counters) [ "$n" = "$(total counters)" ] || wrong "$n counter values, written: $(total counters)" ;;
	total_switches) [ "$n" = "$(total switches)" ] || wrong "$n switches, written: $(total switches)" ;;
	total_data_loss) ;;
	*) [ "$n" = 0 ] || wrong "$n: $what" ;;
	esac
done <<<"$rows"
if [ "$bad" = 1 ]; then
	"$tp" -Q "SELECT name, idx, severity, value FROM stats WHERE value > 0 AND severity <> 'info'" \
		"$timeline" 2>/dev/null
fi
exit $bad
