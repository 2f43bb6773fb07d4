#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povplot --tsv: the data of every picture, from made-up results whose numbers follow from formulas (tests/tool/bench_json).

load bench

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	"$tool/bench_json" "Open MPI v4.1.4" vader,self node7 sender=map:eager receiver=map:worse load curve stencil broadcast timers \
		protocol barrier >all.json
	"$tool/bench_json" "MPICH Version: 4.0.2" "" node8 sender=map:perfect curve >mpich.json
}

tsv() { "$POVPLOT" "$@" --tsv; }

# The first lines of a table on stdin; the last ones.
has() { diff -u - <(printf '%b\n' "$@"); }

@test "tsv: a map has ratios, judgements and T_comm" {
	tsv all.json -b sender >map.tsv
	head -n 3 map.tsv | has '# map: sender; all.json' \
		'bytes\tcompute_ns\tratio\tjudged\tratio_low\tratio_high\tcomm_ns' '1024\t1000\t0.125\tknown\tnan\tnan\t1256'
	[ "$(wc -l <map.tsv)" = 123 ]
	# Values that the picture limits to its scale are unchanged here.
	tsv all.json -b receiver | awk -F '\t' 'NR > 2 && $3 != 7.5 {bad = 1} END {exit bad}'
	tsv mpich.json -b sender | sed -n 3p | has '1024\t1000\t-0.01\tknown\tnan\tnan\t1256'
	sed '0,/"ratio":0.125/s//"ratio":0.2,"ratio_low":-0.2,"ratio_high":0.6/' all.json >wide.json
	tsv wide.json -b sender | sed -n 3p | has '1024\t1000\t0.2\tunknown\t-0.2\t0.6\t1256'
}

@test "tsv: each of the other pictures" {
	tsv all.json -b nload | sed -n '1,3p;102,$p' | has '# load: nload; all.json' 'bytes\tthreads\tdelay\tjudged' '1024\t0\t0\tknown'
	tsv all.json -b pingpong | head -n 3 | has '# curve: pingpong; all.json' \
		'line\tbytes\ttime_ns\ttime_low_ns\ttime_high_ns\tbandwidth_gb_s\tbandwidth_low_gb_s\tbandwidth_high_gb_s' \
		'pingpong\t1\t1000.25\t980.245\t1040.26\t0.000999750062\t0.000961298137\t0.00102015312'
	tsv all.json -b stencil | sed -n '1,3p;74,$p' | has '# times: stencil; all.json' \
		'panel\tline\tbytes\ttime_ns\ttime_low_ns\ttime_high_ns' 'V = 1\tT_comp\t1024\t2000000\t1960000\t2080000' \
		'V = 4\tT_full\t1048576\t2000000\t1960000\t2080000'
	tsv all.json -b bcast -w bytes=64K -w algorithm=linear | sed -n '1,2p;6p' | has '# broadcast: bcast; all.json' \
		'panel\tline\ttasks\tlatency_ns\tlatency_low_ns\tlatency_high_ns\tdoubtful' \
		'\tsend latency\t16\t65190\t63886.2\t67797.6\t0'
	tsv all.json -b bcast -w bytes=64K -w algorithm=linear | grep -c '1$' | has 1
	tsv all.json -b wtime | has '# timers: wtime; all.json' 'clock\tranks_per_core\treading_ns' \
		'wtime\t1\t10000000' 'wtime\t2\t20000000' 'wtime\t3\t30000000' 'cpu\t1\t10000000' 'cpu\t2\t10000000' 'cpu\t3\t10000000'
	tsv all.json -b eager_limit | sed -n '1,2p;6,7p;11p' | has '# protocol: eager_limit; all.json' \
		'line\tbytes\tsend_ns\tsend_low_ns\tsend_high_ns\trendezvous' \
		'receiver late, in MPI\t4096\t4096\t4014.08\t4259.84\t0' 'receiver late, in MPI\t16384\t516384\t506056.32\t537039.36\t1' \
		'receiver late, computing\t1024\t501024\t491003.52\t521064.96\t1'
	tsv all.json -b ibarrier | has '# ratio: ibarrier; all.json' 'line\tcompute_ns\tratio\tratio_low\tratio_high' \
		'\t1000\t0.5\t0.4\t0.6' '\t4000\t0.5\tnan\tnan' '\t16000\t0.5\t0.4\t0.6' '\t64000\t0.5\t0.4\t0.6'
	tsv all.json mpich.json -b pingpong -p difference | sed -n '1,3p' | has '# difference: pingpong; all.json, mpich.json' \
		'line\tbytes\tb_over_a\tb_over_a_low\tb_over_a_high' 'B / A\t1\t1\t0.942307692\t1.06122449'
	tsv all.json mpich.json -b sender -p difference | sed -n '2,3p' | has \
		'bytes\tcompute_ns\tb_over_a\tjudged\tb_over_a_low\tb_over_a_high' '1024\t1000\t0.90224475\tdiffers\t0.850192168\t0.957484225'
	tsv all.json -b stencil -p distribution -w bytes=64K -w ranks_per_core=3 | sed -n '1,4p' | has '# distribution: stencil; all.json' \
		'line\twaitall_ns\tfraction' '\t30000\t0' '\t30000\t0.0099009901'
	cat >traffic.json <<-'J'
		{"schema_version": 1, "povtrace": "1", "trace": "node7.pov", "ranks": [{}, {}], "traffic": {"pairs": [
		{"from_rank": 0, "from_job": 0, "to_rank": 1, "to_job": 0, "function": "MPI_Send", "bytes": 24}]}}
	J
	tsv traffic.json | has '# matrix: traffic; traffic.json' 'from_job\tfrom_rank\tto_job\tto_rank\tbytes' '0\t0\t0\t1\t24'
}

@test "tsv: without a picture named, all results' tables, two blank lines between; the grid has its maps'" {
	tsv all.json >all.tsv
	grep '^#' all.tsv | has '# map: sender; all.json' '# map: receiver; all.json' '# load: nload; all.json' '# curve: pingpong; all.json' \
		'# times: stencil; all.json' '# broadcast: bcast; all.json' '# timers: wtime; all.json' \
		'# protocol: eager_limit; all.json' '# ratio: ibarrier; all.json'
	awk '!NF {blank++} /^#/ {if (blank != (NR > 1 ? 2 : 0)) bad = 1} NF {blank = 0} END {exit bad || blank}' all.tsv
	tsv all.json mpich.json -p grid >grid.tsv
	grep '^#' grid.tsv | has '# grid: sender; all.json' '# grid: receiver; all.json' '# grid: nload; all.json' '# grid: sender; mpich.json'
	awk '!NF {blank++} /^#/ {if (blank != (NR > 1 ? 2 : 0)) bad = 1} NF {blank = 0} END {exit bad || blank}' grid.tsv
}

@test "tsv: every row has as many values as its header" {
	{ tsv all.json; tsv all.json mpich.json -p grid; tsv all.json -b stencil -p distribution -w bytes=64K; } |
		awk -F '\t' '/^#/ {getline; n = NF; next} NF && NF != n {print; bad = 1} END {exit bad}'
}

@test "tsv: the script's blocks have the same values" {
	for b in sender pingpong stencil wtime eager_limit; do
		"$POVPLOT" all.json -b $b --script | awk '/^EOD/ {on = 0} on {print $1, $2, $3} / << EOD/ {on = 1}' >drawn
		tsv all.json -b $b | awk -F '\t' 'NR == 2 {for (i = 1; $i !~ /^(panel|line|clock)$/ && i <= NF; i++); at = i > NF ? 1 : $2 == "line" ? 3 : 2}
			NR > 2 {print $at, $(at + 1), at + 2 <= NF ? $(at + 2) : ""}' >listed
		[ "$b" != wtime ] || { cut -d ' ' -f 1,2 drawn >d; cut -d ' ' -f 1,2 listed >listed2; mv d drawn; mv listed2 listed; }
		diff -u drawn listed
	done
}

@test "tsv: gnuplot reads it, a table by its index" {
	need gnuplot
	tsv all.json >all.tsv
	gnuplot -d -e 'set datafile separator "\t" columnheaders; stats "all.tsv" index 3 using "bytes":"time_ns" nooutput; print sprintf("%d %d", STATS_records, STATS_max_x)' 2>&1 | has '11 1048576'
}

@test "tsv: a name from a file cannot make a line or a column" {
	sed 's/"benchmark":"sender"/"benchmark":"a\\tb\\nc"/' all.json >odd.json
	tsv odd.json -p map -w bytes=1K -b $'a\tb\nc' | sed -n '1p;3p' | cut -f 1-2 | has '# map: a b c; odd.json' '1024\t1000'
}

@test "tsv: --tsv cannot be combined with other outputs" {
	for with in "--output x.svg" "--output x.html" --script --words --list; do
		run "$POVPLOT" all.json --tsv $with
		[ "$status" = 2 ]
		[[ $output == *"--tsv prints data alone: it does not go with ${with%% *}"* ]]
		[ ! -e x.svg ]
	done
	run "$POVPLOT" all.json -b nothing --tsv
	[ "$status" = 1 ]
}
