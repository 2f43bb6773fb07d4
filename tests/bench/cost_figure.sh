#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Draws what recording a call costs, from figures that make bench (call_cost.test) measures and the documents state:
#   tests/bench/cost_figure.sh kmod-docs/figures/cost.tsv >kmod-docs/figures/cost.svg
# A bar reaches from a figure's lower end to its upper one, on a logarithmic axis.
set -eu
grep -v '^#' "${1:-kmod-docs/figures/cost.tsv}" | awk -F '\t' '
	function x(ns) { return left + width * log(ns / 10) / log(10000) }
	function ns_text(ns) { return ns < 1000 ? ns " ns" : ns / 1000 " µs" }
	{
		label[NR] = $1; low[NR] = $2; high[NR] = $3
	}
	END {
		left = 300; width = 400; top = 44; row = 30
		bottom = top + NR * row
		title = "What recording one call costs"
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"%d\" viewBox=\"0 0 800 %d\" role=\"img\" aria-labelledby=\"title desc\">\n", bottom + 34, bottom + 34
		printf "<title id=\"title\">%s</title>\n<desc id=\"desc\">", title
		for (i = 1; i <= NR; i++)
			printf "%s%s: %s", (i > 1 ? "; " : ""), label[i], range(i)
		printf "</desc>\n<style>text{font-family:Arial,Helvetica,sans-serif;font-size:13px;fill:#222}.h{font-size:15px;font-weight:bold}.n{font-size:11px;fill:#555}.e{text-anchor:end}.o{text-anchor:middle}</style>\n"
		printf "<rect width=\"800\" height=\"%d\" fill=\"#fff\"/>\n<text x=\"16\" y=\"24\" class=\"h\">%s</text>\n", bottom + 34, title
		for (ns = 10; ns <= 100000; ns *= 10) {
			printf "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" class=\"n o\">%s</text>\n", x(ns), top - 8, bottom, x(ns), bottom + 16, ns_text(ns)
		}
		for (i = 1; i <= NR; i++) {
			y = top + (i - 1) * row
			size = x(high[i]) - x(low[i])
			printf "<text x=\"%d\" y=\"%d\" class=\"e\">%s</text><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"16\" fill=\"%s\"/><text x=\"%.1f\" y=\"%d\">%s</text>\n", left - 12, y + 13, label[i], x(low[i]) - 2, y, size + 4, (i == NR ? "#999" : "#005a9c"), x(high[i]) + 8, y + 13, range(i)
		}
		print "</svg>"
	}
	function range(i) {
		if (low[i] == high[i])
			return ns_text(low[i])
		if (low[i] >= 1000)
			return low[i] / 1000 " to " ns_text(high[i])
		return low[i] " to " ns_text(high[i])
	}'
