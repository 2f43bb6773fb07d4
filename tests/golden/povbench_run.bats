#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povbench-run: runs the requested number of launches, and stops at the first that fails; the paper's maps with --paper.

load bench
povbench_run=$BATS_TEST_DIRNAME/../../bench/povbench-run

refused() { refuses 2 "povbench-run: $1" "$povbench_run" "${@:2}"; } # MESSAGE WORD...

@test "povbench-run: the command runs as often as requested, with its words unchanged" {
	for option in "-n 3" "--launches 3" "--launches=3"; do
		"$povbench_run" $option -- printf '%s|' 'a b' '*' >out 2>err </dev/null
		[ "$(cat out)" = 'a b|*|a b|*|a b|*|' ]
		[ "$(grep -c '^povbench-run: launch [123] of 3$' err)" = 3 ]
	done
	"$povbench_run" -n 2 echo x 2>/dev/null | diff - <(printf 'x\nx\n')
}

@test "povbench-run: the first launch that fails ends it, with its status" {
	got=0
	"$povbench_run" -n 5 -- sh -c 'echo x >>ran; [ $(wc -l <ran) -lt 3 ] || exit 7' 2>err || got=$?
	[ "$got" = 7 ]
	[ "$(wc -l <ran)" = 3 ]
	[ "$(tail -n 1 err)" = "povbench-run: launch 3 of 5 failed with status 7" ]
	"$povbench_run" -n 5 -- ./nowhere 2>err || got=$?
	[ "$got" = 127 ]
}

@test "povbench-run: a launch does not consume the input of the next one" {
	printf 'a\nb\n' | "$povbench_run" -n 2 -- cat >out 2>/dev/null
	[ ! -s out ]
}

@test "povbench-run: wrong usage" {
	refused 'how many launches? --launches N'
	refused 'how many launches? --launches N' -- true
	for n in x 0 -1 1.5; do
		refused "--launches: \"$n\" is not a whole number from 1 on" --launches "$n" -- true
	done
	refused '--launches: "9999999" is too large; the most is 999999' --launches 9999999 -- true
	refused '--launches needs a value' --launches
	refused '--output needs --paper' -o x -n 2 -- true
	refused '--launches and --paper exclude each other' --paper -n 2
	refused 'no command to launch' -n 3
	refused 'no command to launch' -n 3 --
	refused 'no option --lunches' --lunches 3 -- true
}

@test "povbench-run: help" {
	"$povbench_run" --help >help
	"$povbench_run" -h | cmp - help
	grep -q '^Usage: povbench-run --launches N -- COMMAND' help
	help_fits help
}

# Programs as they are installed, and launchers that write made-up maps: $LOG has a line for each launch.
fake_install() {
	mkdir -p bin
	cp "$povbench_run" bin/
	ln -s "$POVPLOT" bin/povplot
	export LOG=$PWD/log BENCH_JSON=$BATS_TEST_DIRNAME/../tool/bench_json
	cat >bin/mpirun.openmpi <<-'U'
		#!/bin/sh
		echo "${0##*/} $*" >>"$LOG"
		[ "${0##*/}" != "$FAILS" ] || exit 3
		while [ "$1" != -o ]; do shift; done
		python3 "$BENCH_JSON" "An MPI 1.0" "" node7 sender=map:eager receiver=map:none >"$2"
	U
	chmod +x bin/mpirun.openmpi
	for name in mpirun.mpich povbench.openmpi povbench.mpich; do cp bin/mpirun.openmpi "bin/$name"; done
}

paper() { PATH=$PWD/bin:$PATH FAILS=${FAILS-} bin/povbench-run --paper "$@" 2>err; }

@test "povbench-run --paper: a launch for each library and transport, and a picture" {
	fake_install
	paper -o out -- --step 4
	[ "$(grep -c . log)" = 4 ]
	grep -q '^mpirun.openmpi -np 2 .*--mca btl self,vader .*/povbench.openmpi suite .*--only nload .* --step 4 -o out/openmpi-shm.json$' log
	grep -q '^mpirun.openmpi -np 2 .*--mca btl self,tcp .* -o out/openmpi-tcp.json$' log
	grep '^mpirun.mpich -np 2 .*/povbench.mpich .* -o out/mpich-shm.json$' log | grep -qv NOLOCAL
	grep -q '^mpirun.mpich -np 2 .*-env MPIR_CVAR_NOLOCAL 1 .* -o out/mpich-tcp.json$' log
	! grep -q -e --resume log
	for row in 'shared memory' TCP; do [ "$(grep -c "An MPI 1.0, $row" out/paper.svg)" = 2 ]; done
	for column in sender receiver; do [ "$(grep -c "$column-side overlap" out/paper.svg)" = 1 ]; done
	rm log
	paper -o out
	[ "$(grep -c -e '--resume$' log)" = 4 ]
}

@test "povbench-run --paper: failures are named, and the rest is measured and drawn" {
	fake_install
	got=0
	FAILS=mpirun.mpich paper -o out || got=$?
	[ "$got" = 1 ]
	grep -qx 'povbench-run: mpich, tcp: failed with status 3; the same command measures what is missing' err
	[ "$(grep -c 'An MPI 1.0, ' out/paper.svg)" = 2 ]
	FAILS=mpirun.openmpi paper -o other || got=$?
	rm bin/povbench.mpich
	paper -o third
	grep -qx 'povbench-run: left out: there is no povbench.mpich or no mpirun.mpich' err
	[ "$(echo third/*)" = "third/openmpi-shm.json third/openmpi-shm.txt third/openmpi-tcp.json third/openmpi-tcp.txt third/paper.svg" ]
}
