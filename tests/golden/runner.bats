#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The runner counts what tests report, does not take silence for success, and runs each live test in the stage that its head names.

bats_require_minimum_version 1.5.0

setup() {
	T=$BATS_TEST_TMPDIR
	mkdir -p "$T/tests" "$T/bin"
	cp "$BATS_TEST_DIRNAME/../run" "$T/tests/run"
	PATH=$T/bin:$PATH
	user 0
}

# user ID: the user that the runner believes it runs as
user() {
	printf '#!/bin/sh\necho %s\n' "$1" >"$T/bin/id"
	chmod +x "$T/bin/id"
}

# fake STAGE/NAME: a test file whose body is on stdin. Tests of simgrid run beside each other and need no build.
fake() {
	mkdir -p "$T/tests/${1%/*}"
	{ echo '#!/bin/bash'; cat; } >"$T/tests/$1.test"
	chmod +x "$T/tests/$1.test"
}

# ends STATUS COUNTS STAGE…: the stages end with this status, and with these counts as the last line.
ends() {
	run "-$1" "$T/tests/run" "${@:3}"
	echo "$output"
	[ "${lines[${#lines[@]} - 1]}" = "$2" ]
}

@test "results are counted and printed with reasons; silence, a crash, a short plan and a bad status are failures" {
	fake simgrid/aims <<<'echo 1..2; echo "ok 1 - one"; echo "not ok 2 - two: 3 (aim: at most 2) # TODO"'
	fake simgrid/away <<<'echo "needs a moon"; exit 77'
	fake simgrid/cmocka <<<'echo 1..2; echo "SKIP: no /dev/full"; echo "ok 1 # SKIP test_full"; echo "ok 2 - test_more"'
	fake simgrid/crash <<<'echo "ok 1 - one"; kill -SEGV $$'
	fake simgrid/half <<<'echo "ok 1 - one"; echo "the rest needs a moon"; exit 77'
	fake simgrid/mixed <<-'E'
		echo "1..4"
		echo "ok 1 - one"
		echo "not ok 2 - two"
		echo "ok 3 - three # SKIP no third"
		echo "ok 4 four # skip no fourth"
		exit 1
	E
	fake simgrid/plan <<<'echo "1..0 # SKIP needs a sun"'
	fake simgrid/short <<<'echo "1..3"; echo "ok 1 - one"'
	fake simgrid/silent <<<'exit 0'
	fake simgrid/status <<<'echo "1..1"; echo "ok 1 - one"; exit 3'
	POV_TAP=$T/tap ends 1 "7 passed, 5 failed, 6 skipped" simgrid
	printf '%s\n' "${lines[@]}" | sed -n '/^skipped/,$p' | diff -u - <(cat <<-'E'
		skipped: simgrid/away.test: needs a moon
		skipped: simgrid/cmocka.test: test_full: no /dev/full
		skipped: simgrid/half.test: the rest needs a moon
		skipped: simgrid/mixed.test: three: no third
		skipped: simgrid/mixed.test: four: no fourth
		skipped: simgrid/plan.test: needs a sun
		aim missed: simgrid/aims.test: two: 3 (aim: at most 2)
		failed: simgrid/crash.test: ended with status 139; see build/check/simgrid/crash.test.log
		failed: simgrid/mixed.test: two: see build/check/simgrid/mixed.test.log
		failed: simgrid/short.test: 1 of 3 tests ran (status 0); see build/check/simgrid/short.test.log
		failed: simgrid/silent.test: no test ran (status 0); see build/check/simgrid/silent.test.log
		failed: simgrid/status.test: ended with status 3; see build/check/simgrid/status.test.log
		7 passed, 5 failed, 6 skipped
	E
	)
	diff -u - "$T/tap" <<-'E'
		ok 1 - simgrid/aims.test: one
		ok 2 - simgrid/away.test # SKIP needs a moon
		ok 3 - simgrid/cmocka.test: test_full # SKIP no /dev/full
		ok 4 - simgrid/cmocka.test: test_more
		ok 5 - simgrid/crash.test: one
		not ok 6 - simgrid/crash.test
		ok 7 - simgrid/half.test: one
		ok 8 - simgrid/half.test # SKIP the rest needs a moon
		ok 9 - simgrid/mixed.test: one
		not ok 10 - simgrid/mixed.test: two
		ok 11 - simgrid/mixed.test: three # SKIP no third
		ok 12 - simgrid/mixed.test: four # SKIP no fourth
		ok 13 - simgrid/plan.test # SKIP needs a sun
		ok 14 - simgrid/short.test: one
		not ok 15 - simgrid/short.test
		not ok 16 - simgrid/silent.test
		ok 17 - simgrid/status.test: one
		not ok 18 - simgrid/status.test
	E
}

@test "success is status 0; an unknown stage, and a name that matches no file, are usage errors" {
	fake simgrid/good <<<'echo "ok 1 - one"; echo "1..1"'
	fake simgrid/other <<<'echo "ok 1 - one"; echo "ok 2 - two"; echo "1..2"'
	ends 0 "3 passed, 0 failed, 0 skipped" simgrid
	ends 0 "2 passed, 0 failed, 0 skipped" -k other simgrid
	run -2 "$T/tests/run" -k nobody simgrid
	run -2 "$T/tests/run" nonsense
}

# Where live files ran: "stage NAME MPIs", "-" for none given.
live_runs() { # STAGE
	: >"$T/ran"
	ends 0 "$2 passed, 0 failed, 0 skipped" "$1"
}

@test "live files run in the stage and with the MPI that their heads name; those that need the machine run last, the longest at the end" {
	export T
	said='echo "$(basename "$0" .test) ${POV_MPIS:--}" >>"$T/ran"; echo "ok 1 - one"; echo 1..1'
	fake live/both <<<"# run: check-all 900 s"$'\n'"$said"
	fake live/last <<<"# run: check-all 901 s alone"$'\n'"$said"
	fake live/mpich <<<"# run: check mpich 900 s"$'\n'"$said"
	fake live/none <<<"# run: check 0 s"$'\nsleep 1.1\n'"$said"
	fake live/openmpi <<<"# run: check openmpi 900 s alone"$'\n'"$said"
	fake live/silent <<<"$said"
	live_runs live 3
	[ "$(sort "$T/ran" | tr '\n' ,)" = "mpich mpich,none -,openmpi openmpi," ]
	[ "$(tail -n 1 "$T/ran")" = "openmpi openmpi" ]
	# files that took longer than their head says, each stage's time, the slowest files
	[ "$(grep -c '^over its time: ' <<<"$output")" = 1 ]
	grep -qx 'over its time: live/none.test: [0-9]* s, its head says 0 s' <<<"$output"
	grep -qx 'stages: live [0-9]* s' <<<"$output"
	grep -qx 'slowest:\( live/[a-z]*.test [0-9]* s,\?\)\{3\}' <<<"$output"
	live_runs all 5
	[ "$(sort "$T/ran" | tr '\n' ,)" = "both -,last -,mpich openmpi,openmpi mpich,silent -," ]
	[ "$(tail -n 2 "$T/ran" | tr '\n' ,)" = "openmpi mpich,last -," ]
	# POV_ALL_UNTIL, a time after which no file begins: in the future, and long ago; make check ignores it
	POV_ALL_UNTIL=$((EPOCHSECONDS + 1000)) live_runs all 5
	[ "$(sort "$T/ran" | tr '\n' ,)" = "both -,last -,mpich openmpi,openmpi mpich,silent -," ]
	POV_ALL_UNTIL=1000 ends 0 "3 passed, 0 failed, 1 skipped" live all
	grep -q '^skipped: all: 5 files, no time was left:\( [a-z]*.test\)\{5\}$' <<<"$output"
}

@test "without root the live stages are skipped, each with one message" {
	fake live/one <<<$'# run: check 1 s\necho "ok 1 - one"'
	fake live/two <<<$'# run: check 1 s\necho "ok 1 - one"'
	fake simgrid/good <<<'echo "ok 1 - one"; echo 1..1'
	user 1000
	ends 0 "1 passed, 0 failed, 2 skipped" live all simgrid
	[ "$(grep '^skipped' <<<"$output")" = $'skipped: live: recording needs root\nskipped: all: recording needs root' ]
}

@test "the timing stage prints measured values, and never fails because of them" {
	fake timing/slow <<<'echo "# start: 3 s (aim 2)"; echo "not ok 1 - start # TODO"; echo 1..1'
	ends 0 "0 passed, 0 failed, 0 skipped" timing
	[[ $output == *"      start: 3 s (aim 2)"*"aim missed: timing/slow.test: start"* ]]
}

@test "fresh roots: those of the named releases, which print their progress" {
	for release in 7 8; do
		fake distro/debian_$release <<<"echo debian $release: at it >&3; echo 'ok 1 - one'; echo 1..1"
	done
	POV_DISTROS=8 ends 0 "1 passed, 0 failed, 0 skipped" distro
	[[ $output == *"debian 8: at it"* && $output != *"debian 7"* ]]
}

@test "files run at the same time: results are printed in the order of the files; none is lost" {
	local i
	fake simgrid/a <<<'while [ ! -e "$T/f" ]; do sleep 0.1; done; echo "ok 1 - slow"; echo 1..1'
	fake simgrid/b <<<'echo "ok 1 - quick"; echo "not ok 2 - bad"; echo 1..2; exit 1'
	for i in {10..29}; do fake simgrid/c$i <<<'echo "ok 1 - one"; echo 1..1'; done
	fake simgrid/e <<<'kill -KILL $PPID' # its timeout
	fake simgrid/f <<<'touch "$T/f"; echo "ok 1 - last"; echo 1..1'
	nproc() { echo 2; }
	export -f nproc
	export T
	POV_TAP=$T/tap ends 1 "23 passed, 2 failed, 0 skipped" simgrid
	[[ $output == *"failed: simgrid/b.test: bad:"*"failed: simgrid/e.test: ran too long"* ]]
	grep -v /c "$T/tap" | diff -u - <(cat <<-'E'
		ok 1 - simgrid/a.test: slow
		ok 2 - simgrid/b.test: quick
		not ok 3 - simgrid/b.test: bad
		not ok 24 - simgrid/e.test
		ok 25 - simgrid/f.test: last
	E
	)
	[ -z "$(ls "$T"/build/check/simgrid/*.status* 2>/dev/null)" ]
}

@test "files run at the same time: a file without a result fails" {
	mkdir -p "$T/build/check"
	: >"$T/build/check/simgrid" # no directory
	fake simgrid/a <<<'echo "ok 1 - one"; echo 1..1'
	fake simgrid/b <<<'echo "ok 1 - one"; echo 1..1'
	ends 1 "0 passed, 2 failed, 0 skipped" simgrid
	[[ $output == *"failed: simgrid/a.test: how it ended is unknown"* ]]
}

@test "files run at the same time: Ctrl-C ends the running ones" {
	fake simgrid/long <<<'echo $$ >"$T/long"; sleep 60'
	export T
	env --default-signal=INT "$T/tests/run" simgrid >"$T/out" 2>&1 & # in the background it would be ignored
	for _ in {1..100}; do [ -s "$T/long" ] && break; sleep 0.1; done
	kill -INT $!
	status=0
	wait $! || status=$?
	cat "$T/out"
	[ "$status" = 130 ]
	[ ! -e "/proc/$(cat "$T/long")" ]
}
