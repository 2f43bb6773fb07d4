#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace executes povtrace-record for commands that need libbpf. It reads traces without that program, and without the libraries that
# only it needs.

load lib

setup() {
	begin
	recorder=$(dirname "$POVTRACE")/povtrace-record
	cp "$POVTRACE" povtrace
}

# refused COMMAND…: status 1, and one line with the text $why
refused() {
	run ./povtrace "$@"
	echo "$output"
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"$why"* ]]
}

@test "povtrace is linked with neither libbpf, libelf, Zydis nor hwloc" {
	need readelf
	readelf -d "$POVTRACE" | grep -F '(NEEDED)' >needed
	grep -q libjansson needed
	run grep -E 'bpf|elf|Zydis|hwloc' needed
	echo "$output"
	[ "$status" = 1 ]
	readelf -d "$recorder" | grep -F '(NEEDED)' | grep -q libbpf
}

@test "without povtrace-record: reading traces, help and checks of arguments still work" {
	echo 'meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000}' | trace run
	./povtrace info --json run.pov | jq -e .recording
	./povtrace report run.pov
	./povtrace export run.pov -o run.json
	jq -e .traceEvents run.json
	./povtrace help | grep -q '^  record  '
	for command in record stat hang clock check; do
		./povtrace help $command | grep -q "^Usage: povtrace $command"
		./povtrace $command --help | cmp - <(./povtrace help $command)
		./povtrace --man $command | grep -q '^\.TH'
		./povtrace --completion | grep -qw $command
		run ./povtrace $command --no-such-option
		[ "$status" = 2 ]
	done
}

@test "without povtrace-record: commands that need it print an error" {
	why="needs povtrace-record"
	refused record -o run.pov -- true
	[[ $output == *"record needs"* ]]
	[ ! -e run.pov ]
	refused check
	[[ $output == *"check needs"* ]]
	refused check --sites povtrace
	printf '#!/bin/sh\n' >povtrace-record
	why="check: cannot execute $PWD/povtrace-record: Permission denied"
	refused check
}

@test "povtrace-record is found next to the program, and where it is installed" {
	why="it defines no function that can be traced"
	cp "$recorder" .
	refused check --sites povtrace
	mkdir -p there/bin there/lib/povtrace
	mv povtrace-record there/lib/povtrace/
	mv povtrace there/bin/
	cd there/bin
	refused check --sites povtrace
}

@test "povtrace-record gets all arguments and the signals, and its status is passed on" {
	need gcc
	gcc -x c - -o povtrace-record <<-'END'
		#include <signal.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			for (int i = 0; i < argc; i++)
				puts(argv[i]);
			puts(signal(SIGXFSZ, SIG_DFL) == SIG_DFL ? "default" : "ignored");
			puts(signal(SIGCHLD, SIG_DFL) == SIG_DFL ? "default" : "ignored");
			return 7;
		}
	END
	words=(-q record -o "a b.pov" -d 3 -- true -o "" --x)
	run ./povtrace "${words[@]}"
	[ "$status" = 7 ]
	printf '%s\n' ./povtrace "${words[@]}" default default | cmp - <(echo "$output")
	(
		trap '' CHLD XFSZ
		run ./povtrace "${words[@]}"
		[ "$(tail -n 2 <<<"$output")" = $'ignored\nignored' ]
	)
}
