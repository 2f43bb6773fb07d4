#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Every benchmark of povbench finds on modelled machines what these do (tests/povbench).

setup() {
	cd "$BATS_TEST_DIRNAME/../.." # of tests/povbench/cases.txt
	selftest=tests/povbench/selftest model=build/tests/povbench_selftest
	[ -x "$model" ] || skip "no $model; run make tools"
	command -v python3 >/dev/null || skip "no python3 here"
}

@test "each benchmark tells what the modelled machines do" {
	run "$selftest"
	grep -v '^ok ' <<<"$output"
	[ "$status" = 0 ]
	cases=$(grep -c '^ok ' <<<"$output")
	[ "$cases" -ge 100 ]
	[ "${lines[${#lines[@]} - 1]}" = "1..$cases" ]
}

@test "no sentence against its map" {
	run tests/povbench/sentences
	grep -v '^ok ' <<<"$output"
	[ "$status" = 0 ]
}

# All 1000: tests/timing/povbench.test.
@test "on disturbed machines nothing is told that is not so" {
	run "$model" disturbed 60
	grep -v '^ok ' <<<"$output"
	[ "$status" = 0 ]
}

@test "one of them alone, and by its other name; nothing is no success" {
	"$selftest" pingpong | grep -q '^ok [0-9]* - latency on '
	[ "$("$selftest" sender | grep -c '^ok [0-9]* - sender on ')" -ge 2 ]
	run "$selftest" nothing
	[ "$status" = 1 ]
}
