#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povplot on made-up results whose numbers follow from formulas (tests/tool/bench_json): sentences, lists, the script of every picture,
# pictures if gnuplot is installed, and messages about unusable files and options.

load bench

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	"$tool/bench_json" "Open MPI v4.1.4, package: x" vader,self node7 sender=map:eager receiver=map:none load curve stencil \
		broadcast timers protocol barrier >all.json
	"$tool/bench_json" "MPICH Version: 4.0.2" "" node8 sender=map:perfect receiver=map:worse load >mpich.json
	"$tool/bench_json" "Open MPI v4.1.4" tcp,self node7 stencil-quantiles >stencil.json
	cat >traffic.json <<-'J'
		{"schema_version": 1, "povtrace": "1", "trace": "node7.pov", "ranks": [{}, {}, {}], "traffic": {"pairs": [
		{"from_rank": 0, "from_job": 0, "to_rank": 1, "to_job": 0, "function": "MPI_Bcast", "bytes": 1000},
		{"from_rank": 0, "from_job": 0, "to_rank": 1, "to_job": 0, "function": "MPI_Send", "bytes": 24},
		{"from_rank": 2, "from_job": 0, "to_rank": 0, "to_job": 0, "function": "MPI_Send", "bytes": 64},
		{"from_rank": null, "from_job": null, "to_rank": 5, "to_job": 0, "function": "MPI_Send", "bytes": 7}]}}
	J
	cat >fabric.json <<-'J'
		{"format": "povtrace fabric", "version": 1, "subnets": ["s"], "nodes": [{"kind": "switch", "name": "leaf", "guid": "0x1", "level": 1, "subnet": 0},
		{"kind": "adapter", "name": "node7", "guid": "0x2", "level": 0}, {"kind": "adapter", "name": "b", "guid": "0x3", "level": 0}],
		"links": [{"ends": [{"node": 1, "port": 1}, {"node": 0, "port": 1}], "subnet": 0}, {"ends": [{"node": 2, "port": 1}, {"node": 0, "port": 2}], "subnet": 0}],
		"contexts": [{"context": "all", "bytes": 7, "flows": 1, "halves": [{"link": 0, "from": 0, "bytes": 7, "flows": 1}, {"link": 1, "from": 1, "bytes": 7, "flows": 1}]}]}
	J
}

plot() { "$POVPLOT" "$@"; }

refused() { refuses "$1" "povplot: $2" "$POVPLOT" "${@:3}"; } # STATUS MESSAGE WORD...

# "picture words" for every existing picture.
all_pictures() {
	cat <<-'L'
		map all.json -b sender
		load all.json -b nload
		grid all.json mpich.json
		times all.json -b stencil
		distribution all.json -b stencil -w bytes=64K
		broadcast all.json -b bcast -w bytes=64K -w algorithm=linear
		curve all.json -b pingpong
		timers all.json -b wtime
		protocol all.json -b eager_limit
		ratio all.json -b ibarrier
		matrix traffic.json
		fabric fabric.json
		difference -b sender all.json mpich.json
	L
}

@test "version" {
	run -0 plot --version
	[[ $output =~ ^povplot\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "help and --help say the same, with three examples or more, within 80 columns" {
	plot --help >help
	plot help | cmp - help
	grep -q "^Usage: povplot \[list\] \[options\] FILE" help
	help_is_good help
}

@test "help lists the pictures" {
	sed -n 's/^const struct picture plot_\([a-z_]*\) = .*/\1/p' "$BATS_TEST_DIRNAME"/../../viz/plot_*.c | sort >files
	all_pictures | cut -d ' ' -f 1 | sort | diff -u files -
	plot --help | tr '\n' ' ' | tr -s ' ' >help
	for picture in $(cat files); do
		grep -qE "What to draw:[^.]*\b$picture\b" help
	done
}

@test "as text: one line for each result" {
	plot --words all.json | sed '/^bcast: /s/ .*/ nothing/' >words
	diff -u - words <<-'L'
		sender: it is eager
		receiver: it is none
		nload: delays from 5 threads on
		pingpong: 1 us, 4 GB/s
		stencil: V = 3 hides all
		bcast: nothing
		wtime: the wall
		eager_limit: eager up to 4096 bytes
		ibarrier: partial overlap
	L
	plot --words all.json -b receiver -b wtime >words
	printf '%s\n' "receiver: it is none" "wtime: the wall" | diff -u - words
}

@test "several files can be distinguished" {
	plot --words -b sender all.json mpich.json >words
	diff -u - words <<-'L'
		all.json: Open MPI v4.1.4, vader, node7, 2026-11-21
		sender: it is eager
		mpich.json: MPICH 4.0.2, node8, 2026-11-21
		sender: it is perfect
	L
}

@test "the list shows numbers of points and kinds of pictures" {
	plot list all.json >list
	plot --list all.json | cmp - list
	sed -i '/^bcast: /s/ .*/ nothing/' list
	diff -u - list <<-'L'
		all.json: Open MPI v4.1.4, vader, node7, 2026-11-21
		sender: it is eager
		  map, 2 ranks, 121 points; pictures: difference, grid, map, ratio
		receiver: it is none
		  map, 2 ranks, 121 points; pictures: difference, grid, map, ratio
		nload: delays from 5 threads on
		  load, 2 ranks, 99 points; pictures: grid, load
		pingpong: 1 us, 4 GB/s
		  curve, 2 ranks, 11 points; pictures: curve, difference
		stencil: V = 3 hides all
		  stencil, 8 ranks, 24 points; pictures: distribution, times
		bcast: nothing
		  broadcast, 16 ranks, 80 points; pictures: broadcast
		wtime: the wall
		  timers, 3 ranks, 6 points; pictures: timers
		eager_limit: eager up to 4096 bytes
		  protocol, 2 ranks, 12 points; pictures: protocol
		ibarrier: partial overlap
		  map, 2 ranks, 4 points; pictures: ratio
	L
}

@test "a condition leaves points out" {
	plot list all.json -b sender -w bytes=1K >list
	grep -q ' 11 points;' list
	plot list all.json -b bcast -w algorithm=linear -w tasks=16 >list
	grep -q ' 10 points;' list
}

@test "every picture has a script, in both palettes" {
	while read -r picture words; do
		plot $words -p "$picture" --script >"$picture.gp"
		grep -q '^set terminal svg enhanced size [0-9]*,[0-9]* ' "$picture.gp"
		grep -q '^plot ' "$picture.gp"
		plot $words -p "$picture" --script --palette safe >safe.gp
		! cmp -s "$picture.gp" safe.gp || { echo "$picture: one palette"; return 1; }
	done < <(all_pictures)
}

@test "without a picture named, the fitting one is chosen" {
	while read -r picture words; do
		[[ $picture != distribution && $picture != grid && $picture != difference ]] || continue
		plot $words -p "$picture" --script >named.gp
		plot $words --script | diff -u named.gp -
	done < <(all_pictures)
	plot all.json mpich.json -p grid --script >named.gp
	plot all.json mpich.json --script | diff -u named.gp -
}

@test "a map's script has the ratios of its points, those above 2 as 2" {
	plot all.json -b sender --script >map.gp
	grep -q "set logscale" map.gp
	plot mpich.json -b receiver --script >worse.gp
	# Column 8 of what is drawn is the ratio: 121 points of each.
	grep -oE '^\$d[0-9]+' worse.gp | head -n 1 | tr -d '$' >name
	block "$(cat name)" <worse.gp | awk 'NF >= 8 {n++; if ($8 != 2) bad = 1} END {exit bad || n != 121}' ||
		{ block "$(cat name)" <worse.gp | head; return 1; }
	block "$(cat name)" <map.gp | awk 'NF >= 8 {n[$8]++} END {exit n["0.125"] != 55 || n["1"] != 66}'
}

@test "titles, sizes and sentences are the user's to choose" {
	plot all.json -b sender --script >map.gp
	grep -q "sender: it is eager" map.gp
	grep -q "sender-side overlap" map.gp
	plot all.json -b sender --script --no-words --title "My 'own'_title" --width 1234 --height 777 >own.gp
	grep -q "size 1234,777" own.gp
	[ "$(grep -c "sender: it is eager" own.gp)" = 0 ]
	grep -q "My ''own''" own.gp
}

@test "a matrix has the sums of all functions, or one function's; only between ranks" {
	plot traffic.json --script >matrix.gp
	block d1 <matrix.gp | cut -f 6- | diff -u - <(printf '%s\t%s\t%s\n' 1 0 1024 0 2 64)
	grep -q "^set cbrange \[64:1024\]" matrix.gp
	grep -q "^set xtics ('0' 0, '1' 1, '2' 2)" matrix.gp
	plot traffic.json -w function=MPI_Bcast --script >matrix.gp
	block d1 <matrix.gp | cut -f 6- | diff -u - <(printf '1\t0\t1000\n')
	grep -q 'in MPI..Bcast' matrix.gp
	echo '{"schema_version": 1, "povtrace": "1", "ranks": []}' >none.json
	refused 1 'none.json: a report without traffic between processes' none.json --script
}

@test "SVG of every picture is well-formed, and has its texts" {
	need gnuplot python3
	while read -r picture words; do
		run plot $words -p "$picture" -o "$picture.svg"
		[ "$status" = 0 ]
		[ -z "$output" ] || { echo "$picture: $output"; return 1; }
		[ -s "$picture.svg" ]
		python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$picture.svg"
		grep -q 'node7' "$picture.svg" || [ "$picture" = grid ]
	done < <(all_pictures)
	grep -q 'computation time' map.svg
	grep -q 'computing threads' load.svg
	grep -q 'MPICH 4.0.2' grid.svg
	"$POVPLOT" all.json mpich.json -p grid --row 'shared memory' --script | grep -q "'Open MPI v4.1.4, shared memory'"
	[ "$(ls)" = "$(ls -I '*.svg.*')" ]
}

@test "PNG and PDF have the formats of their names" {
	need gnuplot
	plot all.json -b sender -o map.png
	[ "$(head -c 4 map.png | od -An -tx1 | tr -d ' \n')" = 89504e47 ]
	gnuplot -d -e 'if (!strstrt(GPVAL_TERMINALS, "pdfcairo")) exit status 3' || skip "this gnuplot draws no PDF"
	plot all.json -b sender -o map.PDF
	[ "$(head -c 5 map.PDF)" = "%PDF-" ]
}

@test "a distribution is of samples or of quantiles" {
	plot all.json -b stencil -p distribution -w bytes=64K -w ranks_per_core=2 --script >samples.gp
	plot stencil.json -b stencil -p distribution -w bytes=64K -w ranks_per_core=2 --script >quantiles.gp
	grep -q P50 samples.gp
	grep -q P50 quantiles.gp
	cmp -s samples.gp quantiles.gp && return 1
	refused 1 'all.json: stencil: no samples of time "nothing"' all.json -b stencil -p distribution -t nothing --script
}

@test "wrong usage" {
	refused 2 'no file to read; try "povplot --help"'
	refused 2 'no file to read' list
	refused 2 'no picture "mpa"; did you mean "map"?' all.json -p mpa --script
	refused 2 'no picture "zzzzzz"; "povplot --help" names them' all.json -p zzzzzz --script
	for condition in bytes =64 bytes=; do
		refused 2 "--where: \"$condition\" is no condition such as bytes=64K" all.json -b sender -w "$condition" --script
	done
	refused 2 'map.gif: the name must end in .svg, .png, .pdf or .html' all.json -o map.gif
	refused 2 'svg: the name must end in' all.json -o svg
	refused 2 'no option --hlep; did you mean --help?' --hlep
	refused 2 'try "povplot --help"' --hlep
	refused 2 '--palette: no "saf"; did you mean "safe"?' all.json --palette saf
	refused 2 '--width: "100" is too small; the least is 200' all.json --width 100
	refused 2 '--output wants FILE' all.json -o
}

@test "requests that cannot be fulfilled" {
	refused 1 'no result of "sendr"; did you mean "sender"?' all.json -b sendr --script
	refused 1 'nothing to draw: no such result; "povplot list" lists them' all.json -b zzzzzz --script
	refused 1 'nothing to draw: no result that picture load can show' all.json -b sender -p load --script
	refused 1 'picture map shows one result; choose with --benchmark, or draw a grid:' all.json -p map --script
	refused 1 '  receiver in all.json' all.json -p map --script
	refused 1 'several kinds of results; choose with --benchmark or --picture' all.json -b pingpong -b wtime --script
	refused 1 'stencil: 24 lines are too many for one picture; choose with --where:' all.json -b stencil \
		-p distribution --script
	grep -q -- '--where ranks_per_core=.* there are: 1 2 3 4$' err
}

@test "files without results" {
	refused 1 'none.json: No such file or directory' none.json --words
	refused 1 '.: Is a directory' . --words
	while IFS='|' read -r text message; do
		printf "$text" >bad.json
		refused 1 "bad.json: $message" bad.json --words
	done <<-'L'
		{"format":\n,|line 2:
		|line 1:
		[1, 2]|neither a result of povbench nor a report of povtrace
		{"format": "other", "version": 1, "results": [{}]}|neither a result of povbench nor a report of povtrace
		{"format": "povbench", "version": 3, "launches": [{}]}|format version 3; this povplot reads 1 to 2
		{"format": "povbench", "version": 2, "launches": [{}, {"results": [7]}]}|holds no results
		{"format": "povbench", "version": 1, "results": []}|holds no results
	L
	echo '{"format": "povbench", "version": 2, "launches": [{}, {"results": [7]}]}' >bad.json
	refused 1 'bad.json: holds no results' bad.json --words --launch 2
	refused 1 'bad.json: holds no results' all.json bad.json --words
	head -c 5000 all.json >cut.json
	refused 1 'cut.json: line ' cut.json --words
}

@test "unknown parts of a file are skipped" {
	sed -e 's/"kind":"map"/"kind":"map","later":{"a":[1]}/' -e 's/"ratio":/"later":[],"ratio":/' \
		-e 's/"kind":"timers"/"kind":"later"/' all.json >later.json
	plot all.json -b sender --script >now.gp
	plot later.json -b sender --script | diff -u now.gp -
	plot list later.json -b wtime | grep -q '  later, 3 ranks, 6 points; pictures: none'
}

@test "an output that cannot be written" {
	need gnuplot
	refused 1 'no/map.svg: ' all.json -b sender -o no/map.svg
	grep -q 'No such file or directory' err
	mkdir taken.svg
	refused 1 'taken.svg: ' all.json -b sender -o taken.svg
	[ "$(ls | grep -c taken)" = 1 ]
	disk_is_full 1 "$POVPLOT" list all.json
}

@test "without gnuplot: an error message, and the old picture stays" {
	echo old >map.svg
	run env PATH=/nowhere "$POVPLOT" all.json -b sender -o map.svg
	[ "$status" = 1 ]
	[[ $output == *"gnuplot is not installed"*"--script prints what it would be given"* ]]
	[ "$(cat map.svg)" = old ]
	[ "$(ls | grep -c 'map.svg')" = 1 ]
}

@test "the manual page is valid roff" {
	page_is_good "povplot - " "$POVPLOT" --man
}

@test "completion knows options and choices, and leaves files to bash" {
	plot --completion >completion
	[[ $(completes povplot "") == *list* ]]
	plot --help >help
	offered=$(completes povplot all.json --)
	for option in $(options_of help); do
		[[ $offered == *"$option"* ]] || { echo "$option: $offered"; return 1; }
	done
	[ "$(completes povplot all.json --palette "")" = "paper safe" ]
	[ -z "$(completes povplot all.json -o "")" ]
	[ -z "$(completes povplot al)" ]
}

@test "povplot: at the limit of a file's size: an error message, and no file is left" {
	need gnuplot
	mkdir limited
	cd limited
	for limit in 2 20 60; do
		for to in "-o page.html" "-b sender -o map.svg" "-b sender -o map.pdf" "--script" "--tsv"; do
			# shellcheck disable=SC2086
			run -1 bash -c "ulimit -f $limit; exec '$POVPLOT' ../all.json $to >../out"
			echo "$limit $to: $output"
			[[ $output == *"the limit of a file's size (ulimit -f) is reached" ]]
			[ -z "$(ls -A)" ]
			[ "$limit" = 2 ] || break
		done
	done
}
