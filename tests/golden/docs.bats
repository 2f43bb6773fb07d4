#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# README and the index of the documentation: short, complete, and with figures that the pages state.

load lib

top=$here/../..
docs=$top/kmod-docs

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "README has at most 110 lines, and its links lead somewhere" {
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

@test "the chart of recording costs shows the figures of the pages, with the same labels" {
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
