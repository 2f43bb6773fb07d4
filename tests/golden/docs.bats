#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# README and the index of the documentation: short, complete, and with figures that the pages state.

load lib

top=$here/../..
docs=$top/kmod-docs

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "README is at most 110 lines, and its links lead somewhere" {
	[ "$(wc -l <"$top/README.md")" -le 110 ]
	grep -oE '\]\([^):]*\)' "$top/README.md" "$docs/README.md" | sed 's/:\](/ /; s/)$//; s/#.*//' >links
	[ "$(wc -l <links)" -gt 30 ]
	while read -r file link; do
		[ -e "$(dirname "$file")/$link" ] || { echo "$file: no $link"; return 1; }
	done <links
}

@test "the index has each page once" {
	grep -oE '\]\([A-Z0-9_]+\.md\)' <(sed -n '/^\*\*/,$p' "$docs/README.md") | tr -d '](:)' | sort >named
	(cd "$docs" && ls *.md) | grep -v '^README.md$' | sort >there
	diff there named
}

@test "each page has at most 200 lines, and links to headings lead to one" {
	local file link page
	for file in "$docs"/*.md; do
		[ "$(wc -l <"$file")" -le 200 ] || { echo "$file is too long"; return 1; }
		grep -oE '\]\([A-Z0-9_]*(\.md)?#[^)]*\)' "$file" | tr -d '])(' | sed "s|^#|${file##*/}#|" >links
		while IFS='#' read -r page link; do
			grep '^#' "$docs/$page" | tr -d '\`' | sed -E 's/^#+ //; s/[^[:alnum:]_ -]//g; s/ /-/g' | tr '[:upper:]' '[:lower:]' | grep -qxF -- "$link" ||
				{ echo "${file##*/}: no $page#$link"; return 1; }
		done <links
	done
}

@test "the chart of what recording costs is drawn from figures that the pages state, in their words" {
	local label low high page words n=0
	"$top/tests/bench/cost_figure.sh" "$docs/figures/cost.tsv" >cost.svg
	same_as "$docs/figures/cost.svg" cost.svg
	while IFS=$'\t' read -r label low high page words; do
		[[ $label != '#'* ]] || continue
		grep -qF -- "$words" "$docs/$page" || { echo "$page does not say: $words"; return 1; }
		[ "$low" -le "$high" ]
		grep -F -- ">$label<" cost.svg
		n=$((n + 1))
	done <"$docs/figures/cost.tsv"
	[ $n -gt 2 ]
	grep -qF 'kmod-docs/figures/cost.svg' "$top/README.md"
}

@test "the reference of the report's JSON has each member, and no member that is gone" {
	local text word
	for text in "$here"/../data/{export_{findings,phases,posts,run},report_run,traffic_run}.txt; do
		"$make" "$text" run.pov
		"$POVTRACE" report --json --callsite --places run.pov
	done | jq -r 'paths | map(strings) | select(index("stats") | not) | .[-1] // empty' | sort -u >members
	[ "$(wc -l <members)" -gt 200 ]
	grep -ohE '`[a-zA-Z0-9_.]+`' "$docs"/REPORT_{JSON*,SCALING}.md | tr -d '\`' | tr . '\n' | sort -u >documented
	grep -ohE '`[a-z]+_…`' "$docs"/REPORT_JSON*.md | tr -d '\`…' | sort -u | sed 's/^/^/' >beginnings
	comm -23 members documented | grep -v -f beginnings >missing || true
	[ ! -s missing ] || { echo "not in the reference: $(paste -sd' ' missing)"; return 1; }
	# first column of a table of members
	grep -ohE '^\| `[a-z0-9_]+`' "$docs"/REPORT_JSON*.md | tr -d '| \`' | sort -u >tables
	[ "$(wc -l <tables)" -gt 100 ]
	while read -r word; do
		grep -rqF "\"$word\"" "$top/user" || { echo "no member: $word"; return 1; }
	done <tables
}
