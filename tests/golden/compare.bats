#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povbench compare on made-up launches (tests/tool/bench_json): its output as text and as JSON, its exit status, and its messages about
# files that cannot be compared.

load bench
launches() { "$tool/bench_json" launches "$@"; }

setup_file() { launches seed=1 >"$BATS_FILE_TMPDIR/a.json"; }

setup() {
	begin
	find_povbench
}

compare() { "$POVBENCH" compare "$@"; }

# ends STATUS WORD...: with that status; what it printed is in out and err.
ends() {
	local wanted=$1 got=0
	shift
	compare "$@" >out 2>err || got=$?
	[ "$got" = "$wanted" ] || { echo "status $got: $*"; cat out err; return 1; }
}

refused() { refuses 2 "povbench: $1" "$POVBENCH" compare "${@:2}"; } # MESSAGE WORD...

# Shows numbers as 0, except counts.
masked() { sed -E 's/[0-9]+\.[0-9]+/0.0/g' "$1"; }

@test "compare: equal launches" {
	launches seed=2 >b.json
	ends 0 a.json b.json --fail-if different
	diff -u - <(masked out) <<-'L'
		A: a.json, 10 launches
		B: b.json, 10 launches
		All factors and options are equal, except for the dates.

		pingpong, 2 ranks: B/A 0.0 (0.0 to 0.0), no difference; 10 and 10 launches
		sender, 2 ranks: B/A 0.0 (0.0 to 0.0), no difference; 10 and 10 launches
	L
	[ ! -s err ]
	compare a.json b.json | cmp - out
}

@test "compare: slower by a tenth, after the settings that differ" {
	launches seed=3 slow=1.1 host=node8 samples=60 >b.json
	ends 0 a.json b.json
	diff -u - <(masked out) <<-'L'
		A: a.json, 10 launches
		B: b.json, 10 launches
		What differs, A and B:
		  host: "node7", "node8"
		  options of pingpong: samples: 50, 60
		  options of sender: samples: 50, 60

		pingpong, 2 ranks: B/A 0.0 (0.0 to 0.0), slower; of 6 points 6 slower, most at 256 KiB: 0.0; 10 and 10 launches
		sender, 2 ranks: B/A 0.0 (0.0 to 0.0), slower; of 24 points 24 slower, most at 4 KiB, 16 us: 0.0; 10 and 10 launches
	L
	ends 0 b.json a.json
	[ "$(grep -c ', faster; of ' out)" = 2 ]
}

@test "compare: one size only" {
	launches seed=4 slow_point=1.2 >b.json
	ends 0 a.json b.json --points
	[ "$(grep -c '  64 KiB.* slower$' out)" = 5 ]
	[ "$(grep -c ' no difference$' out)" = 25 ]
	[ "$(grep -c '^  point  *B/A   95 % interval$' out)" = 2 ]
}

@test "compare: the conditions of continuous integration" {
	launches seed=3 slow=1.1 >b.json
	ends 1 a.json b.json --fail-if 'slower > 5 %'
	grep -qE '^povbench: slower > 5 %: pingpong, 2 ranks: 6 of 6 points, the first at 1 KiB, B/A 1\.[01]' err
	ends 0 a.json b.json --fail-if 'slower > 15 %'
	ends 0 a.json b.json --fail-if faster
	ends 1 a.json b.json --fail-if faster --fail-if different
	ends 1 b.json a.json --fail-if 'faster > 5 %'
	ends 0 b.json a.json --fail-if 'slower'
	ends 0 a.json b.json --fail-if 'slower>15%'
	for condition in '' slow 'slower > 5' 'slower > x %' 'slower 5 %' 'slower >' 'slower > -1 %' 'slower > 5 % x' '> 5 %'; do
		refused "--fail-if: \"$condition\" is no condition such as \"slower > 5 %\"" a.json b.json --fail-if "$condition"
	done
}

@test "compare: launches that were not repeated have ratios but no verdict" {
	launches launches=1 seed=5 >one.json
	launches launches=1 seed=6 slow=3 >other.json
	ends 0 one.json other.json -p
	grep -qE '^pingpong, 2 ranks: B/A [23]\.[0-9]+, launches were not repeated; 1 and 1 launch$' out
	grep -qE '^  point  *B/A   within the launches$' out
	grep -qE '^  64 KiB  *[23]\.[0-9]+   [23]\.[0-9]+ to [23]\.[0-9]+' out
	[ "$(grep -cE 'slower|faster' out)" = 0 ]
	grep -q '^A verdict needs 5 launches in each file: povbench-run --launches 5 ' out
	ends 2 one.json other.json --fail-if 'slower > 5 %'
	grep -qF 'pingpong, 2 ranks: too few launches to judge --fail-if; 5 in each file are enough' err
	launches launches=4 seed=6 slow=3 >few.json
	launches launches=4 seed=7 >four.json
	ends 2 four.json few.json --fail-if slower
	grep -q 'too few launches to tell; 4 and 4 launches$' out
	compare one.json other.json -j | jq -e '.results[0] | .interval == "within" and .all.verdict == "unknown" and
		(.points[0] | .low < .ratio and .ratio < .high and (has("p") | not))'
}

@test "compare: launches that differ within a file, and the factor that differs with them" {
	launches launches=15 seed=5 every=3 by=1.1 >odd.json
	ends 0 a.json odd.json
	grep -qE '^B: sender, 2 ranks: launches 3, 6, 9, 12 and 15 of 15 are [0-9.]+ % slower than the others$' out
	[ "$(grep -c '^A: .* than the others' out)" = 0 ]
	launches launches=15 seed=5 every=3 by=1.1 pace=0.9 >odd.json
	ends 0 odd.json a.json
	grep -qE '^A: sender, .* slower than the others; ops_per_ns is 0\.(9|89)[0-9]* there, (1|0\.99)[0-9.]* in the others$' out
	compare a.json odd.json -j | jq -e '.b.apart[1] | .benchmark == "sender" and .launches == [3, 6, 9, 12, 15] and .of == 15 and
		.ratio > 1.07 and .ratio < 1.13 and .factor.name == "ops_per_ns"'
}

@test "compare: as JSON" {
	launches seed=3 slow=1.1 host=node8 >b.json
	ends 0 a.json b.json --json
	jq -e '.format == "povbench compare" and .version == 1 and .a.path == "a.json" and .a.launches == 10 and
		.differing == [{name: "host", a: "node7", b: "node8"}] and (.results | map(.benchmark)) == ["pingpong", "sender"]' out
	jq -e '.results[1] | .kind == "map" and .ranks == 2 and .launches.a == [range(1; 11)] and .slower == 24 and .faster == 0 and
		.left_out == 0 and .interval == "launches" and (.all | .verdict == "slower" and .low > 1 and .high < 1.2 and .p <= 0.02) and
		(.points | length == 24 and all(.time == "measured" and .verdict == "slower" and .low <= .ratio and .ratio <= .high))' out
	# The ratio is that of the medians over launches.
	median='sort | (.[4] + .[5]) / 2'
	for file in a b; do
		jq "[.launches[].results[0].points[2].times.measured.median] | $median" $file.json
	done | jq -se --slurpfile out out '(.[1] / .[0] - $out[0].results[0].points[2].ratio) | . * . < 1e-9'
}

@test "compare: points and benchmarks that only some launches have" {
	launches seed=2 bytes=65536:4194304 >b.json
	ends 0 a.json b.json
	grep -q '^sender, .* launches; 16 points that not all launches have left out$' out
	launches seed=2 results=map >map.json
	ends 0 a.json map.json
	grep -qxF 'Only in A: pingpong, 2 ranks' out
	[ "$(grep -c 'B/A' out)" = 1 ]
	compare map.json a.json -j | jq -e '.b.alone == ["pingpong, 2 ranks"] and .a.alone == []'
	launches seed=2 launches=6 partial=3 >part.json
	ends 0 a.json part.json
	grep -qF 'part.json: launch 6 was broken off within sender, which is left out' err
	grep -q '^sender, .* 10 and 5 launches$' out
}

@test "compare: files of the first version" {
	launches launches=1 seed=2 version=1 >old.json
	launches launches=1 seed=2 >new.json
	ends 0 old.json new.json -p
	grep -qE '^sender, 2 ranks: B/A 1.000, launches were not repeated' out
}

@test "compare: files that cannot be compared" {
	launches bytes=1:16 >small.json
	refused 'a.json and small.json: nothing to compare: no point of pingpong is in all launches' a.json small.json
	launches results=map >map.json
	launches results=curve >curve.json
	refused 'map.json and curve.json: have no benchmark in common, with the same number of ranks' map.json curve.json
	refused 'unable to open none.json: No such file or directory' a.json none.json
	head -c 5000 a.json >cut.json
	refused 'cut.json: ' a.json cut.json
	grep -q '(line ' err
	: >empty.json
	refused 'empty.json: ' empty.json a.json
	echo '{"format": "povbench", "version": 3, "launches": []}' >newer.json
	refused 'newer.json: is of version 3, this povbench knows versions 1 to 2' a.json newer.json
	echo '{"format": "other"}' >other.json
	refused 'other.json: is no result of povbench' other.json a.json
	echo '{"format": "povbench", "version": 2, "launches": [7, {"results": [{"benchmark": 3}, {"benchmark": "x", "points": {}}]}]}' >odd.json
	refused 'a.json and odd.json: have no benchmark in common' a.json odd.json
}

@test "compare: wrong usage" {
	refused 'compare: needs two result files, A and B; try "povbench help compare"'
	refused 'compare: needs two result files' a.json
	refused 'compare: needs two result files' a.json a.json a.json
	refused 'compare: no option --jsn; did you mean --json?' a.json a.json --jsn
}

@test "compare: a stdout that cannot be written" {
	disk_is_full 2 "$POVBENCH" compare a.json a.json
}

@test "compare: help, manual page and completion" {
	"$POVBENCH" help compare >help
	compare --help | cmp - help
	grep -q '^Usage: povbench compare \[options\] A.json B.json$' help
	help_fits help
	grep -q '^Exit status: 0; 1 if' help
	"$POVBENCH" --completion | grep -q -- '--fail-if'
	page_is_good "too few launches to judge a condition" "$POVBENCH" --man compare
}
