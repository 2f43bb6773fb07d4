#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povbench-run: so many launches, the first that fails ends it.

load bench
povbench_run=$BATS_TEST_DIRNAME/../../bench/povbench-run

setup() { begin; }

refused() { refuses 2 "povbench-run: $1" "$povbench_run" "${@:2}"; } # MESSAGE WORD...

@test "povbench-run: the command is run so many times, with its words as they are" {
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

@test "povbench-run: a command does not eat the next one's input" {
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
	refused '--launches wants N' --launches
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
