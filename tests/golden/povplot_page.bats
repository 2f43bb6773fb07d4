#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povplot -o FILE.html: all that there is of a result file on one page.

setup() {
	cd "$BATS_TEST_TMPDIR"
	POVPLOT=${POVTRACE%/*}/povplot
	[ -x "$POVPLOT" ] || skip "no $POVPLOT; run make check-golden"
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	"$BATS_TEST_DIRNAME/../tool/bench_launches" launches=2 seed=1 >run.json
}

# The pictures' SVG, decoded, into 1.svg, 2.svg …
pictures() {
	grep -o 'src="data:image/svg+xml,[^"]*"' "$1" | sed 's/^[^,]*,//; s/"$//' | while IFS= read -r url; do
		n=$((n + 1))
		printf '%b' "$(sed 's/%/\\x/g' <<<"$url")" >$n.svg
	done
}

@test "page: each sentence, with a link to its picture, and the factors" {
	"$POVPLOT" run.json -o run.html
	"$POVPLOT" --words run.json >words
	[ -s words ]
	while IFS= read -r line; do
		grep -qF ">$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<<"$line")</a></li>" run.html || { echo "not there: $line"; return 1; }
	done <words
	grep -o 'href="#[^"]*"' run.html | sed 's/.*#//; s/"//' | while IFS= read -r id; do
		grep -qF "<a id=\"$id\">" run.html || { echo "no $id"; return 1; }
	done
	grep -q '"library"' <(sed -n '/<pre>/,/<\/pre>/p' run.html | sed 's/&quot;/"/g')
}

@test "page: its pictures are SVG, in the page itself" {
	"$POVPLOT" run.json -o run.html
	pictures run.html
	[ -s 2.svg ]
	for svg in *.svg; do
		grep -q '<svg' "$svg" && grep -q '</svg>' "$svg"
	done
	! grep -qE '(src|href)="(http|file|/)' run.html
	[ -z "$(find . -type f ! -name '[0-9]*.svg' ! -name run.html ! -name run.json)" ]
}

@test "page: what has no picture has no link" {
	"$BATS_TEST_DIRNAME/../tool/bench_json" "Open MPI v4.1.4" self,tcp node7 sender=map:eager odd >two.json
	"$POVPLOT" two.json -o two.html
	[ "$(grep -c '<li><a href=' two.html)" = 1 ]
	[ "$(grep -c '<li>' two.html)" = 2 ]
}

@test "page: what cannot be drawn has no link, and the others are there" {
	"$BATS_TEST_DIRNAME/../tool/bench_json" "Open MPI v4.1.4" self,tcp node7 sender=map:eager receiver=map:none >two.json
	# Two points of one cell.
	sed -i '/"benchmark":"receiver"/,$ s/"compute_ns":2000,/"compute_ns":1000,/' two.json
	"$POVPLOT" two.json -o two.html 2>err || true
	grep -q 'receiver: .*several points' err
	[ "$(grep -c '<li><a href=' two.html)" = 1 ]
	[ "$(grep -c '<li>' two.html)" = 2 ]
}

@test "page: what is in a file is text" {
	sed -i 's/"benchmark": *"sender"/"benchmark":"<script>alert(1)<\/script>"/' run.json
	"$POVPLOT" run.json -o run.html || true
	! grep -q '<script' run.html
}

@test "page: only benchmarks that are wanted; none is an error" {
	"$POVPLOT" run.json -b sender -o run.html
	[ "$(grep -c '<li>' run.html)" = 1 ]
	run "$POVPLOT" run.json -b nothing -o no.html
	[ "$status" = 1 ] && [ ! -e no.html ]
}

@test "page: where it cannot be written" {
	run "$POVPLOT" run.json -o no/such/run.html
	[ "$status" = 1 ]
	grep -qF 'no/such/run.html: cannot be written: No such file or directory' <<<"$output"
}
