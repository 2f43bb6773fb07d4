#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The runner counts what it is given, and takes no silence for success.

setup() {
	T=$BATS_TEST_TMPDIR
	mkdir -p "$T/tests/live"
	cp "$BATS_TEST_DIRNAME/../run" "$T/tests/run"
}

# fake NAME: the test file NAME, with what stands on stdin as its body
fake() {
	{ echo '#!/bin/bash'; cat; } >"$T/tests/live/$1.test"
	chmod +x "$T/tests/live/$1.test"
}

count_is() {
	run "$T/tests/run" live
	echo "$output"
	[ "${lines[${#lines[@]} - 1]}" = "$1" ]
}

@test "passes, failures and skips are counted, skips with their reason" {
	fake mixed <<-'E'
		echo "1..4"
		echo "ok 1 - one"
		echo "not ok 2 - two"
		echo "ok 3 - three # SKIP no third"
		echo "ok 4 four # skip no fourth"
		exit 1
	E
	count_is "1 passed, 1 failed, 2 skipped"
	[ "$status" = 1 ]
	[[ $output == *"failed: live/mixed.test: two:"* ]]
	[[ $output == *"skipped: live/mixed.test: three: no third"* ]]
	[[ $output == *"skipped: live/mixed.test: four: no fourth"* ]]
}

@test "a missed aim is said and is no failure" {
	fake aims <<-'E'
		echo "1..2"
		echo "ok 1 - one: 1 (aim: at most 2)"
		echo "not ok 2 - two: 3 (aim: at most 2) # TODO"
	E
	count_is "1 passed, 0 failed, 0 skipped"
	[ "$status" = 0 ]
	[[ $output == *"aim missed: live/aims.test: two: 3 (aim: at most 2)"* ]]
}

@test "all well: status 0" {
	fake good <<<'echo "ok 1 - one"; echo "1..1"'
	count_is "1 passed, 0 failed, 0 skipped"
	[ "$status" = 0 ]
}

@test "a file that skips says why" {
	fake away <<<'echo "needs a moon"; exit 77'
	fake plan <<<'echo "1..0 # SKIP needs a sun"'
	count_is "0 passed, 0 failed, 2 skipped"
	[ "$status" = 0 ]
	[[ $output == *"skipped: live/away.test: needs a moon"* ]]
	[[ $output == *"skipped: live/plan.test: needs a sun"* ]]
}

@test "what skips after tests of it have passed counts both" {
	fake half <<<'echo "ok 1 - one"; echo "the rest needs a moon"; exit 77'
	count_is "1 passed, 0 failed, 1 skipped"
}

@test "silence, a crash, a short plan and a bad status are failures" {
	fake silent <<<'exit 0'
	fake crash <<<'echo "ok 1 - one"; kill -SEGV $$'
	fake short <<<'echo "1..3"; echo "ok 1 - one"'
	fake status <<<'echo "1..1"; echo "ok 1 - one"; exit 3'
	count_is "3 passed, 4 failed, 0 skipped"
	[ "$status" = 1 ]
}

@test "cmocka's way of skipping, with our reason" {
	fake cmocka <<-'E'
		echo "1..2"
		echo "SKIP: no /dev/full"
		echo "ok 1 # SKIP test_full"
		echo "ok 2 - test_more"
	E
	count_is "1 passed, 0 failed, 1 skipped"
	[[ $output == *"skipped: live/cmocka.test: test_full: no /dev/full"* ]]
}

@test "a stage that does not exist is a usage error" {
	run "$T/tests/run" nonsense
	[ "$status" = 2 ]
}

@test "POV_TAP: every result as a line of TAP, numbered through, files that skip included" {
	fake mixed <<-'E'
		echo "1..3"
		echo "ok 1 - one"
		echo "not ok 2 - two"
		echo "ok 3 - three # SKIP no third"
		exit 1
	E
	fake nothing <<<'echo "needs a moon"; exit 77'
	POV_TAP=$T/all.tap count_is "1 passed, 1 failed, 2 skipped"
	diff -u - "$T/all.tap" <<-'E'
		ok 1 - live/mixed.test: one
		not ok 2 - live/mixed.test: two
		ok 3 - live/mixed.test: three # SKIP no third
		ok 4 - live/nothing.test # SKIP needs a moon
	E
}

@test "fresh roots: those of the releases named, which say meanwhile what they are at" {
	mkdir "$T/tests/distro"
	for release in 7 8; do
		printf '#!/bin/bash\necho "debian %s: at it" >&3\necho "ok 1 - one"\necho 1..1\n' $release \
			>"$T/tests/distro/debian_$release.test"
		chmod +x "$T/tests/distro/debian_$release.test"
	done
	POV_DISTROS=8 run "$T/tests/run" distro
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"debian 8: at it"* ]]
	[[ $output != *"debian 7"* ]]
	[[ $output == *"1 passed, 0 failed, 0 skipped" ]]
}

# Those of simulated machines are run beside each other, and need no build.
beside() { # NAME
	mkdir -p "$T/tests/simgrid"
	{ echo '#!/bin/bash'; cat; } >"$T/tests/simgrid/$1.test"
	chmod +x "$T/tests/simgrid/$1.test"
}

@test "files run beside each other: told in their order, whenever they end; none is lost" {
	local i
	beside a <<<'sleep 1; echo "ok 1 - slow"; echo 1..1'
	beside b <<<'echo "ok 1 - quick"; echo "not ok 2 - bad"; echo 1..2; exit 1'
	beside c <<<'echo "needs a moon"; exit 77'
	for i in {1..20}; do beside "d$i" <<<'echo "ok 1 - one"; echo 1..1'; done
	beside e <<<'kill -KILL $PPID; sleep 1; echo "ok 1 - its timeout is gone"; echo 1..1'
	beside f <<<'sleep 0.3; echo "ok 1 - last"; echo 1..1'
	POV_TAP=$T/all.tap run "$T/tests/run" simgrid live
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"23 passed, 2 failed, 1 skipped" ]]
	[[ $output == *"failed: simgrid/b.test: bad:"*"failed: simgrid/e.test: ran too long"* ]]
	grep -v /d "$T/all.tap" | diff -u - <(cat <<-'E'
		ok 1 - simgrid/a.test: slow
		ok 2 - simgrid/b.test: quick
		not ok 3 - simgrid/b.test: bad
		ok 4 - simgrid/c.test # SKIP needs a moon
		not ok 25 - simgrid/e.test
		ok 26 - simgrid/f.test: last
	E
	)
	[ -z "$(ls "$T"/build/check/simgrid/*.status* 2>/dev/null)" ]
}

@test "files run beside each other: no result is a failure" {
	mkdir -p "$T/build/check"
	: >"$T/build/check/simgrid" # no directory
	beside a <<<'echo "ok 1 - one"; echo 1..1'
	beside b <<<'echo "ok 1 - one"; echo 1..1'
	run "$T/tests/run" simgrid
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"failed: simgrid/a.test: how it ended is not known"* ]]
	[[ $output == *"0 passed, 2 failed, 0 skipped" ]]
}

@test "files run beside each other: one is chosen; Ctrl-C ends those that run" {
	beside long <<<'echo $$ >"$PIDS/long"; sleep 60'
	beside other <<<'echo "ok 1 - one"; echo 1..1'
	run "$T/tests/run" -k other simgrid
	[[ $output == *"1 passed, 0 failed, 0 skipped" ]]
	export PIDS=$T
	env --default-signal=INT "$T/tests/run" simgrid >"$T/out" 2>&1 & # in the background it would be ignored
	for _ in {1..100}; do [ -s "$T/long" ] && break; sleep 0.1; done
	kill -INT $!
	status=0
	wait $! || status=$?
	cat "$T/out"
	[ "$status" = 130 ]
	! kill -0 "$(cat "$T/long")" 2>/dev/null
}
