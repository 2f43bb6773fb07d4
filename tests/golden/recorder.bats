#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The recording half is a file of its own: traces are read without it, and without the libraries that only it needs.

load lib

setup() {
	begin
	half=$(dirname "$POVTRACE")/povtrace-record.so
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

# other_half: a povtrace-record.so made of the C on stdin
other_half() {
	need gcc
	gcc -shared -fPIC -x c - -o povtrace-record.so "$@"
}

@test "the program itself is linked with neither libbpf, libelf, Zydis nor hwloc" {
	need readelf
	readelf -d "$POVTRACE" | grep -F '(NEEDED)' >needed
	grep -q libjansson needed
	run grep -E 'bpf|elf|Zydis|hwloc' needed
	echo "$output"
	[ "$status" = 1 ]
	readelf -d "$half" | grep -F '(NEEDED)' | grep -q libbpf
}

@test "without the recording half: traces are read, help is given" {
	echo 'meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000}' | trace run
	./povtrace info --json run.pov | jq -e .recording
	./povtrace report run.pov
	./povtrace export run.pov -o run.json
	jq -e .traceEvents run.json
	./povtrace help record | grep -q '^Usage: povtrace record'
}

@test "without the recording half: record and check say what is missing" {
	why="needs povtrace-record.so"
	refused record -o run.pov -- true
	[[ $output == *"record needs"* ]]
	[ ! -e run.pov ]
	refused check
	[[ $output == *"check needs"* ]]
	refused check --sites povtrace
}

@test "the recording half is found beside the program, and where it is installed" {
	why="it defines no function that can be traced"
	cp "$half" .
	refused check --sites povtrace
	mkdir -p there/bin there/lib/povtrace
	mv povtrace-record.so there/lib/povtrace/
	mv povtrace there/bin/
	cd there/bin
	refused check --sites povtrace
}

@test "a library that is missing is named" {
	echo 'int gone;' | other_half
	mv povtrace-record.so libgone.so
	echo 'extern int gone; int *p = &gone;' | other_half -L. -Wl,--no-as-needed -lgone
	rm libgone.so
	why="libgone.so: cannot open shared object file"
	refused record -o run.pov -- true
	[[ $output == *libbpf* ]]
}

@test "a recording half of another version is refused" {
	other_half <<<'const struct { const char *version; } recorder = {"0.0.1"};'
	why="is version 0.0.1, but this program is"
	refused record -o run.pov -- true
}
