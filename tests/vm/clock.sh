#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# povtrace clock in short, for kernels that its kernel half must be able to load into: who is served, and that times equal the CPU time, of
# a process alone, sharing a CPU, moved, with threads, in a section and in a namespace. Speed cannot be tested on an emulated processor.
. "$(dirname "$0")/../live/lib.sh"
need_tracer
probe=$programs/plain/clock_probe
need_program "$probe"

clocked() { timeout -k 5 120 "$pov" clock --quiet -- "$@" 2>"$T/err" </dev/null | tee "$T/out"; }
value() { awk -v key="$2" '{ for (i = 1; i < NF; i += 2) if ($i == key) { print $(i + 1); exit } }' <<<"$1"; }
near() { # NAME A B COMMAND…: the first line of it that has both, within 5 %; again, three times at most
	local line
	for _ in 1 2 3; do
		line=$(clocked "${@:4}" | grep -m 1 "\<$2 [0-9].*\<$3 \|\<$3 [0-9].*\<$2 ")
		awk -v a="$(value "$line" "$2")" -v b="$(value "$line" "$3")" 'BEGIN { d = a - b; exit !(a > 0 && b > 0 && (d < 0 ? -d : d) <= b * 0.05) }' &&
			{ ok "$1: $line"; return; }
	done
	{ echo "$line" && cat "$T/err"; } | not_ok "$1"
}

is "a command is served" "$(clocked "$probe" source)" "source 1 "
near "one thread" rank cpu "$probe" work 200
near "four threads" rank cpu "$probe" work 200 4
near "preempted" rank cpu taskset -c 0 bash -c "$probe work 200 & $probe work 200 & wait"
near "moved" rank cpu "$probe" move 500
near "a section of one alone on its core" core mine taskset -c 0 "$probe" section 100
near "in a pid namespace of its own" core mine taskset -c 0 unshare -fp --mount-proc "$probe" section 100
near "what another program became" rank cpu bash -c "$probe work 20 >/dev/null; exec $probe work 200"
clocked "$probe" reads 100000 2000 >/dev/null
says "readings beside switches: none goes back or ahead" "$T/out" '^back 0 ahead 0 '
is "a child has a clock of its own" "$(value "$(clocked "$probe" fork 20 | grep ^child)" source)" 1
timeout -k 5 60 "$pov" clock --quiet --cost -- taskset -c 0 "$probe" pairs 1000 >"$T/out" 2>"$T/err" </dev/null
says "switches are timed" "$T/err" '^rank +suspend and resume +[0-9]{4}'
says "… with sections" "$T/err" '^rank\+core +suspend and resume +[0-9]{4}'
finish
