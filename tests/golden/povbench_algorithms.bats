#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povbench-algorithms: measures each algorithm in turn; reports and leaves out those that fail or hang. povbench is a script here.

load bench

setup() {
	begin
	algorithms=$BATS_TEST_DIRNAME/../../bench/povbench-algorithms
	cat >povbench <<-'S'
	#!/bin/sh
	[ "$1" != algorithms ] || { [ "$2" = bcast_latency ] && printf '1\tlinear\n2\tchain\n3\tring\n'; exit; }
	for last; do :; done
	echo "$*" >>ran
	[ ! -f "fails-$last" ] || exit 3
	[ ! -f "hangs-$last" ] || exec sleep 30
	[ ! -f "waits-$last" ] || { rm "waits-$last"; echo "# x: disturbed: its ranks waited for a core 9.0 % of the time"; }
	S
	chmod +x povbench
}

refused() { refuses 2 "povbench-algorithms: $1" "$algorithms" "${@:2}"; } # MESSAGE WORD...
order() { awk '{ printf "%s ", $NF }' ran; }

@test "povbench-algorithms: algorithms take turns, the library's own choice first" {
	"$algorithms" -n 2 -- env ./povbench bcast_latency -m 1M -o f.json 2>err
	[ "$(order)" = "default 1 2 3 default 1 2 3 " ]
	[ "$(head -n 1 ran)" = "bcast_latency -m 1M -o f.json --algorithm default" ]
	rm ran
	"$algorithms" --launches=1 -a 3 --algorithm 1 -- ./povbench bcast_latency --output=f.json 2>err
	[ "$(order)" = "default 3 1 " ]
	rm ran
	"$algorithms" -- ./povbench bcast_latency -of.json 2>err
	[ "$(wc -l <ran)" = 28 ]
}

@test "povbench-algorithms: an algorithm that fails or hangs is reported and left out" {
	touch fails-2 hangs-3
	"$algorithms" -n 2 -l 1 -- ./povbench bcast_latency -o f.json 2>err
	[ "$(order)" = "default 1 2 3 default 1 " ]
	[ "$(tail -n 1 err)" = "povbench-algorithms: left out: 2 failed with status 3; 3 took longer than 1 s" ]
	touch fails-1
	rm hangs-3
	touch fails-3
	got=0
	"$algorithms" -n 2 -- ./povbench bcast_latency -o f.json 2>err || got=$?
	[ "$got" = 1 ]
	touch fails-default
	"$algorithms" -n 2 -- ./povbench bcast_latency -o f.json 2>err && false
	grep -q 'algorithm default failed with status 3' err
}

@test "povbench-algorithms: launches that waited for a core are measured again, once" {
	touch waits-2
	"$algorithms" -n 2 -- ./povbench bcast_latency -o f.json >out 2>err
	[ "$(order)" = "default 1 2 3 default 1 2 3 2 " ]
	[ "$(grep -c waited out)" = 1 ]
}

@test "povbench-algorithms: wrong usage" {
	refused 'no command to launch'
	refused 'the command has no "povbench NAME"' -- true
	refused 'no output file; add -o FILE after povbench' -- ./povbench bcast_latency
	refused '--launches: "0" is not a whole number from 1 on' -n 0 -- ./povbench bcast_latency -o f
	refused '--limit: "x" is not a whole number from 1 on' -l x -- ./povbench bcast_latency -o f
	refused '--algorithm: the library has no "9"; it has 1 2 3' -a 9 -- ./povbench bcast_latency -o f.json
	refused '-a: "1;2" is no algorithm' -a '1;2' -- ./povbench bcast_latency -o f.json
	refused 'no option --lunches' --lunches 3 -- true
	[ ! -e ran ]
	got=0
	"$algorithms" -- ./povbench latency -o f.json 2>err || got=$?
	[ "$got" = 1 ]
}

@test "povbench-algorithms: help" {
	"$algorithms" --help >help
	grep -q '^Usage: povbench-algorithms \[options\] -- LAUNCHER' help
	help_fits help
}
