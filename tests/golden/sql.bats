#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The queries of viz/sql: each is described, and tells of a timeline in either format what it shall.

load lib

setup() {
	begin
	queries=$here/../../viz/sql
}

names() {
	for query in "$queries"/*.sql; do
		basename "$query" .sql
	done
}

# What all queries tell of run.pov in a format, as "== NAME" and rows; numbers without zeros at their end. Texts of findings are others' matter.
ask() { # TIMELINE
	need_tp
	"$POVTRACE" export run.pov -o "$1" 2>/dev/null
	for name in $(names); do
		echo "SELECT '$name' AS query;"
		cat "$queries/$name.sql"
	done >all.sql
	"$tp" -q all.sql "$1" 2>"$1.log" >"$1.out" || { tail -n 3 "$1.log"; return 1; }
	sed -E 's/(\.[0-9]*[1-9])0+\b/\1/g; s/\.0+\b//g; /^$/d; s/^("query")$//; s/,"[^"]* [^"]* [^"]* [^"]*","[^"]*"$/,TEXT,ADVICE/' "$1.out" |
		awk '!length { title = 1; next } title { gsub("\"", ""); print "== " $0; title = 0; next } 1'
}

@test "sql: the documents name every query, and no other" {
	diff -u <(names) <(sed -n 's/^| `\(.*\)\.sql` |.*/\1/p' "$here/../../kmod-docs/PERFETTO.md" | sort)
}

@test "sql: what the queries tell, the same of both formats" {
	"$make" "$data/export_findings.txt" run.pov
	ask run.pftrace >native
	ask run.json >json
	same_as "$data/export_findings.out" native
	diff -u native json
}

@test "sql: of a timeline with nothing in it they tell nothing; the head of each says what its columns mean" {
	grep -E '^(meta|task|end)' "$data/export_findings.txt" | trace run
	ask run.json >/dev/null
	ask run.pftrace >told
	[ "$(grep -c ^== told)" = "$(names | wc -l)" ]
	while read -r _ name && read -r columns; do
		for column in $(tr -d '"' <<<"$columns" | tr , ' '); do
			sed -n 's/^--   //p' "$queries/$name.sql" | sed 's/  .*//' | tr -d ' ' | tr , '\n' | grep -qx "$column" ||
				{ echo "$name: nothing is said of $column"; return 1; }
		done
	done <told
}
