#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# make demo: one line a step, the output of one that fails, and at most 60 lines, whatever was recorded.

load lib

OWN_LINES=9 # of the head and the steps

setup() {
	begin
	export DEMO=demo
	demo=$BATS_TEST_DIRNAME/../../.ci/demo.sh
	"$demo" begin
}

@test "a successful step prints one line, and its output is in the log" {
	"$demo" step "say much" seq 1000 >out
	cat out
	[ "$(wc -l <out)" = 1 ]
	grep -E '^  say much +[0-9]+ s$' out
	grep -x 1000 demo/log
	grep -x "seq 1000" demo/log
}

@test "a failed step prints its output and nothing else; the demo ends with its status" {
	"$demo" step "go well" echo fine
	fails 3 "no such thing" "$demo" step "go wrong" sh -c 'echo no such thing >&2; exit 3'
	[[ "$output" == "  go wrong "*" failed, exit status 3:"* ]]
	[[ "$output" != *fine* ]]
	fails 127 "nowhere" "$demo" step "run what is not there" /nowhere/program
}

@test "the first recording's screen, the second one's first causes and the list of files: at most 60 lines in all" {
	"$build/tests/job_trace" -r 2 0.01 demo/demo.pov
	"$build/tests/job_trace" -r 2 0.01 demo/away.pov
	"$demo" show >out
	cat out
	"$POVTRACE" report --min 10 demo/demo.pov >screen
	[ "$(sed -n "3,$(($(wc -l <screen) + 2))p" out)" = "$(cat screen)" ]
	[ "$(grep -c "^Why, and what to do" out)" = 2 ]
	grep -F "sudo build/povtrace record" out
	[ $(($(wc -l <out) + OWN_LINES)) -le 60 ]
	no hides.*sender.svg out
	touch demo/sender.svg
	"$demo" show | grep hides.*sender.svg
	[ ! -e demo/screen ]
}

@test "a screen that is too long is cut, and of the second only the first causes are shown" {
	cat >povtrace <<-'X'
		#!/bin/bash
		printf 'x.pov   ./x\n1.20 s · 2 ranks · 1 node\n\nWhy, and what to do   rank-seconds\n'
		for ((i = 1; i <= 9; i++)); do printf '  %d  Cause 9.99\n     Evidence 1  of it\n' $i; done
		printf '     3 smaller causes\n\nRanks\n'
		seq 20
	X
	chmod +x povtrace
	POVTRACE=./povtrace "$demo" show >out
	cat out
	[ "$(grep -cx … out)" = 1 ]
	[ "$(sed -n '/away.pov |/,/^On a quiet/p' out | sed '1d;$d')" = "1.20 s · 2 ranks · 1 node
Why, and what to do   rank-seconds
  1  Cause 9.99
  2  Cause 9.99
  3  Cause 9.99
     3 smaller causes" ]
	[ $(($(wc -l <out) + OWN_LINES)) = 60 ]
}

@test "without a recording it fails; wrong arguments print the usage" {
	fails 1 "demo.pov" "$demo" show
	fails 2 "demo.sh run MPI" "$demo" wrong
	fails 1 "no MPI here" "$demo" run
}
