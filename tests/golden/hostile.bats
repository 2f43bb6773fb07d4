#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Recordings made up to be costly: the memory for reading them is bounded, whatever they claim, and refusals are reported. Large recordings
# that could be real are read.

load lib

MOST_KIB=208896 # and the file's own size, and what the program takes for nothing

setup() {
	begin
	# Measures the ordinary build, because sanitizers take memory of their own.
	plain=$build/povtrace
	[ -x "$plain" ] || skip "no $plain"
	echo 'end ts=2000 reason=test' | trace small
	measure info small.pov
	nothing=$kib
}

# Runs povtrace; its peak in $kib, its status in $code, its messages in err.
measure() {
	"$build/tests/peak" "$plain" "$@" 3>peak >/dev/null 2>err
	read -r kib code <peak
}

# bounded NAME COMMAND…: these commands on x.pov.
bounded() {
	local size most command
	size=$(stat -c %s x.pov)
	most=$((MOST_KIB + nothing + size / 1024))
	for command in "${@:2}"; do
		measure $command x.pov
		echo "$1: $size bytes; $command: $kib KiB of $most, status $code; $(tail -n 1 err)"
		[ "$kib" -le "$most" ]
		[ "$code" = 0 ] || { [ "$code" = 1 ] && grep -q 'damaged or made up\|nothing to draw' err; }
	done
}

@test "hostile: memory is bounded for small files that describe very much" {
	local format=json other="pftrace svg"
	for name in $("$tool/hostile_trace"); do
		"$tool/hostile_trace" "$name" | "$make" - x.pov
		[ "$(stat -c %s x.pov)" -lt 140000 ]
		bounded "$name" "report --threads" "report -o page.html" "export -o - -f $format"
		[ ! -e page.html ] || [ "$(stat -c %s page.html)" -lt 2000000 ]
		read -r format other <<<"$other $format"
		[[ $name != @(objects|numbers|strings) ]] || bounded "$name" "info --json --meta"
	done
}

@test "hostile: omitted meta data count as damage" {
	"$tool/hostile_trace" objects | "$make" - x.pov
	[ "$("$POVTRACE" info --json x.pov 2>err | jq '.bad_blocks > 0')" = true ]
	grep -q 'more meta data than a recording of its size has' err
}

@test "hostile: too many identities are refused, and the output is not made" {
	"$tool/hostile_trace" processes | "$make" - x.pov
	run -1 "$plain" export x.pov -o out.json
	[[ $output == *"more than"*"threads and processes"*"damaged or made up"* ]]
	[ ! -e out.json ]
	run -1 "$plain" report x.pov
}

@test "hostile: an existing memory limit stays" {
	"$tool/hostile_trace" strangers | "$make" - x.pov
	run -1 bash -c "ulimit -d 20000; '$plain' report x.pov"
	[[ $output == *"out of memory"* && $output != *"made up"* ]]
}

@test "hostile: a job of 50,000 threads is not refused" {
	{
		echo 'meta {"type":"recording","abi":1,"start_ns":1000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024}}'
		echo 'meta {"type":"process","ts_ns":1000,"pid":100,"exe":"/bin/app","rank":0,"size":1,"job":"j"}'
		cat <<-'END'
		task ts=1000 tid=100 tgid=100 on_cpu=1 comm=app
		repeat 50000 step=5000 {
		  fork ts=1100 tid=100 child=1000+1*i tgid=100 parent_tgid=100 comm=w
		  switch ts=1200 prev=100 next=1000+1*i state=1
		  call ts=2300 dur=700 tid=1000+1*i tgid=100 func=3 args=1,2,3 site=0x401000
		  switch ts=3000 prev=1000+1*i next=100 state=1
		  switch ts=3300 prev=100 next=1000+1*i state=1
		  exit ts=4500 tid=1000+1*i tgid=100
		  switch ts=4600 prev=1000+1*i next=100 state=0x80
		}
		end ts=300000000 reason=test
		END
	} | "$make" - x.pov
	[ "$("$plain" report --json --threads x.pov | jq '.ranks[0].thread_list | length')" = 50001 ]
	"$plain" export x.pov -o - -f pftrace >/dev/null
}
