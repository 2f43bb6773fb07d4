#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povplot without -o draws all pictures; and what maps show apart from their colours: gaps, ratios below 0, T_comm.

load bench

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	"$tool/bench_json" "Open MPI v4.1.4" self,tcp node7 sender=map:eager receiver=map:none load curve broadcast timers \
		protocol barrier odd >run.json
}

@test "all pictures, named after file and benchmark" {
	need gnuplot
	mkdir results
	mv run.json results/
	"$POVPLOT" results/run.json >out 2>err
	diff -u - out <<-'L'
		run-sender.png
		run-receiver.png
		run-nload.png
		run-pingpong.png
		run-bcast.png
		run-wtime.png
		run-eager_limit.png
		run-ibarrier.png
		run-grid.png
	L
	while read -r name; do
		[ "$(head -c 4 "$name" | tail -c 3)" = PNG ]
	done <out
	[ "$(wc -l <err)" = 1 ]
	grep -qF 'results/run.json: odd: no picture of its own (kind "oddity", 6 points)' err
}

@test "a map without any known result has a note" {
	jq '.results |= [.[] | select(.benchmark == "sender") | del(.points[].values.ratio)]' run.json >blank.json
	! "$POVPLOT" blank.json 2>err
	grep -q '^povplot: warning: blank.json: sender: no picture: none of its [0-9]* points has a ratio; "--words" explains why$' err
}

@test "each kind of result that povbench has is drawn" {
	"$tool/bench_json" "Open MPI v4.1.4" "" node7 sender=map:eager load curve stencil broadcast timers cost protocol >kinds.json
	sed -n '/kind_names\[\]/,/};/p' "$BATS_TEST_DIRNAME"/../../bench/core/result*.c | grep -o '"[a-z]*"' | tr -d '"' | sort >kinds
	[ -s kinds ]
	"$POVPLOT" list kinds.json | sed -n 's/^  \([a-z]*\), .* pictures: .*/\1/p' | sort | diff -u kinds -
	"$POVPLOT" kinds.json --tsv 2>err | grep -c '^# ' | diff - <(wc -l <kinds)
	[ ! -s err ]
}

@test "existing files stay, unless forced" {
	need gnuplot
	echo mine >run-sender.png
	"$POVPLOT" run.json -b sender >out 2>err
	[ ! -s out ]
	grep -qF 'run-sender.png: is there already and stays; --force replaces it' err
	[ "$(cat run-sender.png)" = mine ]
	[ "$("$POVPLOT" run.json -b sender --force)" = run-sender.png ]
	[ "$(head -c 4 run-sender.png | tail -c 3)" = PNG ]
}

@test "a benchmark's name is no path" {
	need gnuplot
	sed -i 's/"benchmark":"sender"/"benchmark":"..\/..\/a b"/' run.json
	[ "$("$POVPLOT" run.json -b '../../a b')" = run-.._.._a_b.png ]
	[ -f run-.._.._a_b.png ]
}

@test "a kind without a picture: one line, the words, and the others' pictures" {
	[ "$("$POVPLOT" run.json -b odd --words)" = "odd: nothing to be seen" ]
	"$POVPLOT" run.json -b odd -b wtime --script >both.gp 2>err
	[ "$(wc -l <err)" = 1 ]
	"$POVPLOT" run.json -b wtime --script | cmp - both.gp
	run "$POVPLOT" run.json -b odd
	[ "$status" = 1 ]
	[[ $output == *"nothing drawn"* ]]
}

@test "a map without sizes is not drawn, and does not prevent the grid" {
	awk '/"benchmark":"receiver"/ {in_it = 1} /"benchmark":"nload"/ {in_it = 0}
		in_it {gsub(/"bytes":/, "\"size\":")} {print}' run.json >sizeless.json
	"$POVPLOT" list sizeless.json -b receiver | grep -q ' map, 2 ranks, 121 points; pictures: ratio'
	"$POVPLOT" sizeless.json -p grid --script | grep -q 'sender-side overlap'
}

@test "legend: T_comm always; gaps, and ratios below -0.1, if the map has them" {
	"$POVPLOT" run.json -b sender --script | grep "set label 'white line" >legend
	grep -q 'T_{comm}' legend
	[ "$(grep -cE 'hatched|dots' legend)" = 0 ]
	sed -e '0,/"ratio":0.125/s//"ratio":-0.5/' -e '0,/"ratio":1}/s//"none":1}/' run.json >odd.json
	"$POVPLOT" odd.json -b sender --script | grep "set label 'white line" >legend
	grep -q 'hatched: not measured' legend
	grep -q 'dots: wrong, below 0' legend
	# A little below 0 is noise.
	sed '0,/"ratio":0.125/s//"ratio":-0.05/' run.json >noise.json
	"$POVPLOT" noise.json -b sender --script | grep "set label 'white line" >legend
	[ "$(grep -c dots legend)" = 0 ]
}

@test "broadcasts of one number of tasks are drawn over the size, algorithms apart" {
	"$POVPLOT" run.json -b bcast -w tasks=8 --script >sizes.gp
	grep -q "set xlabel 'message size'" sizes.gp
	grep -q "layout 1,2 " sizes.gp
	"$POVPLOT" run.json -b bcast -w bytes=256 --script | grep -q "set xlabel 'tasks'"
	run "$POVPLOT" run.json run.json -b bcast --script
	[ "$status" = 1 ]
	[[ $output == *"with the same sizes and tasks; draw each file by itself"* ]]
}
