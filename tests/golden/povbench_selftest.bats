#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Every benchmark of povbench finds the properties of the modelled machines (tests/povbench).

setup() {
	cd "$BATS_TEST_DIRNAME/../.." # of tests/povbench/cases.txt
	selftest=tests/povbench/selftest model=build/tests/povbench_selftest
	[ -x "$model" ] || skip "no $model; run make tools"
	command -v python3 >/dev/null || skip "no python3 here"
}

@test "each benchmark gives the figures of the modelled machines" {
	run "$selftest"
	grep -v '^ok ' <<<"$output"
	[ "$status" = 0 ]
	cases=$(grep -c '^ok ' <<<"$output")
	[ "$cases" -ge 100 ]
	[ "${lines[${#lines[@]} - 1]}" = "1..$cases" ]
}

@test "no sentence contradicts its map" {
	run tests/povbench/sentences
	grep -v '^ok ' <<<"$output"
	[ "$status" = 0 ]
}

# tests/timing/povbench.test runs all 1000.
@test "on disturbed machines no result is wrong" {
	run "$model" disturbed 60
	grep -v '^ok ' <<<"$output"
	[ "$status" = 0 ]
}

@test "a single benchmark, also by its other name; no benchmark at all is a failure" {
	"$selftest" pingpong | grep -q '^ok [0-9]* - latency on '
	[ "$("$selftest" sender | grep -c '^ok [0-9]* - sender on ')" -ge 2 ]
	run "$selftest" nothing
	[ "$status" = 1 ]
}
