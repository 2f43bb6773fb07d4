#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povplot of files with several launches (tests/tool/bench_json): their medians, one of them, the difference of two files.

load bench
launches() { "$tool/bench_json" launches "$@"; }

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	launches launches=3 noise=3 seed=2 >a.json
	launches launches=3 noise=3 seed=3 slow=2 slow_point=1.5 host=node8 >b.json
}

refused() { refuses 1 "povplot: $1" "$POVPLOT" "${@:2}"; } # MESSAGE WORD...

@test "launches: one line for each benchmark, with the sentence of the median launch" {
	"$POVPLOT" list a.json >list
	middle=$(jq '[.launches | to_entries[] | {at: (.key + 1), of: ([.value.results[0].points[].times.measured.median | log] | add)}] |
		sort_by(.of)[1].at' a.json)
	diff -u - <(sed "s/launch $middle (/launch N (/" list) <<-'L'
		a.json: An MPI 1.0, vader, node7, 2026-11-21
		pingpong: launch N (the middle one of 3 launches)
		  curve, 2 ranks, 6 points, medians of 3 launches; pictures: curve, difference, distribution
		sender: launch N (the middle one of 3 launches)
		  map, 2 ranks, 24 points, medians of 3 launches; pictures: difference, distribution, grid, map, ratio
	L
}

@test "launches: pictures show medians over launches, with the launches' range as the interval" {
	"$POVPLOT" a.json -b pingpong --script >curve.gp
	jq -r '[.launches[].results[0].points] | transpose[] | {bytes: .[0].bytes, all: ([.[].times.measured.median] | sort)} |
		[.bytes, .all[1], .all[0], .all[2]] | @tsv' a.json >wanted
	for d in d1 d2 d3 d4; do block $d <curve.gp; done >drawn
	while read -r bytes median low high; do
		awk -v b="$bytes" -v m="$median" -v l="$low" -v h="$high" 'function near(x, y) { return (x - y) ^ 2 < (y * 1e-4) ^ 2 }
			near($1, b) { for (i = 2; i <= NF; i++) { a += near($i, m); c += near($i, l); d += near($i, h) } }
			END { exit !(a && c && d) }' drawn || { echo "$bytes: $median $low $high"; cat drawn; return 1; }
	done <wanted
}

@test "launches: a single one is drawn as if it had a file of its own" {
	jq '.launches |= [.[1]]' a.json >second.json
	"$POVPLOT" a.json -b sender --launch 2 --script >two.gp
	"$POVPLOT" second.json -b sender --script | diff -u two.gp -
	[ "$("$POVPLOT" a.json -l 3 --words -b sender)" = "sender: launch 3" ]
	refused 'a.json: has 3 launches, and no launch 4' a.json -l 4 --words
}

@test "launches: a file of the first version is one launch" {
	launches launches=1 seed=2 version=1 >old.json
	launches launches=1 seed=2 >new.json
	"$POVPLOT" old.json -b sender --script --no-words >old.gp
	"$POVPLOT" new.json -b sender --script --no-words | diff -u old.gp -
	"$POVPLOT" old.json --launch 1 -b sender --script --no-words | diff -u old.gp -
	refused 'old.json: has 1 launch, and no launch 2' old.json -l 2 --words
}

@test "launches: broken-off measurements count only if none is complete" {
	launches launches=3 noise=3 seed=2 partial=2 >part.json
	"$POVPLOT" list part.json -b sender | grep -q ' 24 points, medians of 2 launches;'
	"$POVPLOT" list part.json -b sender -l 3 | grep -q ' 22 points;'
	jq '.launches |= [.[2]]' part.json >only.json
	"$POVPLOT" list only.json -b sender | grep -q ' 22 points;'
}

@test "launches: all samples of all launches make one distribution" {
	sed -E 's/"quantiles":\[/"samples":[/g' a.json >samples.json
	"$POVPLOT" samples.json -b sender -p distribution -w bytes=64K -w compute_ns=64000 -t measured --script >dist.gp
	grep -q P50 dist.gp
	"$POVPLOT" samples.json -l 1 -b sender -p distribution -w bytes=64K -w compute_ns=64000 -t measured --script >one.gp
	cmp -s dist.gp one.gp && return 1
	true
}

@test "the difference of two maps: the ratio of their times in each cell" {
	"$POVPLOT" a.json b.json -b sender -p difference --script >map.gp
	block d1 <map.gp | awk 'NF == 12 { n++; if ($3 < 1.7 || $3 > 3.5) bad = 1; if ($1 == 65536 && $3 < 2.6) bad = 1 } END { exit bad || n != 24 }'
	grep -q "A: a.json, An MPI 1.0, vader, node7, 2026-11-21, medians of 3 launches" map.gp
	grep -q "B: b.json, An MPI 1.0, vader, node8" map.gp
	[ "$(grep -c 'dots: ' map.gp)" = 0 ]
	# The other way round it is the inverse.
	"$POVPLOT" b.json a.json -b sender -p difference --script | block d1 |
		awk 'NF == 12 { n++; if ($3 > 1 / 1.7) bad = 1 } END { exit bad || n != 24 }'
	# Equal launches: a dot in each cell.
	launches launches=3 noise=3 seed=9 >equal.json
	"$POVPLOT" a.json equal.json -b sender -p difference --script >equal.gp
	grep -q 'dots: intervals overlap' equal.gp
	[ "$(block d1 <equal.gp | grep -c alike)" -ge 20 ]
}

@test "the difference of two curves, and of files of which one has other points" {
	"$POVPLOT" a.json b.json -b pingpong -p difference --script >curve.gp
	grep -q "time of B / time of A" curve.gp
	launches launches=3 bytes=65536:4194304 >other.json
	"$POVPLOT" a.json other.json -b sender -p difference --script | block d1 |
		awk 'NF == 12 { n++ } END { exit n != 12 }'
}

@test "a difference that cannot be drawn" {
	refused 'picture difference is of one benchmark in two files; choose with --benchmark' a.json b.json -p difference --script
	refused 'picture difference is of one benchmark in two files' a.json -b sender -p difference --script
	launches bytes=1:16 >small.json
	refused 'sender: a.json and small.json have no point in common' a.json small.json -b sender -p difference --script
}

@test "the difference is drawn" {
	need gnuplot
	for bench in sender pingpong; do
		run "$POVPLOT" a.json b.json -b $bench -p difference -o $bench.svg
		[ "$status" = 0 ]
		[ -z "$output" ] || { echo "$bench: $output"; return 1; }
		grep -q 'time of B / time of A' $bench.svg
	done
}
