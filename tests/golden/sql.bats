#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The queries of viz/sql: each is documented, and gives the expected rows for a timeline in either format.

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

# The rows of all queries on run.pov in a format, each after "== NAME"; numbers without zeros at their end, and without the texts of
# findings.
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

@test "sql: results of the queries, the same for both formats" {
	"$make" "$data/export_findings.txt" run.pov
	ask run.pftrace >native
	ask run.json >json
	same_as "$data/export_findings.out" native
	diff -u native json
}

@test "sql: an empty timeline gives no rows; the head of each query explains its columns" {
	grep -E '^(meta|task|end)' "$data/export_findings.txt" | trace run
	ask run.json >/dev/null
	ask run.pftrace >answer
	[ "$(grep -c ^== answer)" = "$(names | wc -l)" ]
	while read -r _ name && read -r columns; do
		for column in $(tr -d '"' <<<"$columns" | tr , ' '); do
			sed -n 's/^--   //p' "$queries/$name.sql" | sed 's/  .*//' | tr -d ' ' | tr , '\n' | grep -qx "$column" ||
				{ echo "$name: its head does not explain the column $column"; return 1; }
		done
	done <answer
}
