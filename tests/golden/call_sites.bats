#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Call sites: named from the recorded file if that still exists here, otherwise shown as file and offset.

load lib

setup() {
	begin
	need gcc jq
	cat >app.c <<-'END'
		#include <stdio.h>
		static __attribute__((noinline)) void called(int line)
		{
			printf("%d %lu\n", line, (unsigned long)__builtin_return_address(0));
		}
		static __attribute__((noinline)) void solve(void)
		{
			called(__LINE__);
			__asm__ volatile("");
		}
		int main(void)
		{
			solve();
			called(__LINE__);
			return 0;
		}
	END
	build
	# rank 0 calls MPI_Barrier twice from solve() and once from main(), rank 1 once from each
	recording | trace run
}

# Builds app, whose addresses are offsets in it plus 0x400000.
build() {
	gcc -O1 -g -no-pie -Wl,-z,noseparate-code app.c -o app
	sites=($(./app))
	solve=$((sites[1] - 0x400000)) main=$((sites[3] - 0x400000))
	build_id=$(readelf -n app | sed -n 's/.*Build ID: //p')
}

recording() {
	echo 'meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000,"config":{"sched":"off","rings":1}}'
	echo 'meta {"type":"functions","layer":"mpi","rows":[{"id":5,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"}]}'
	for rank in 0 1; do
		echo "meta {\"type\":\"process\",\"ts_ns\":1000,\"pid\":10$rank,\"ppid\":1,\"exe\":\"/a\",\"cmdline\":[\"a\"],\"uid\":0,\"rank\":$rank,\"size\":2,\"job\":\"j\",\"launcher\":\"hydra\",\"libs\":[]}"
		echo "task ts=1000 tid=10$rank tgid=10$rank ppid=1 state=0 comm=app start=900"
	done
	echo "meta {\"type\":\"image\",\"dev\":8,\"ino\":77,\"path\":\"$PWD/app\",\"build_id\":\"$build_id\"}"
	for rank in 0 1; do # each has it at another address
		base=$((0x10000000 * (rank + 1)))
		echo "image ts=1100 tid=10$rank tgid=10$rank dev=8 ino=77 start=$base len=0x10000 off=0"
		echo "call ts=$((3000 + rank)) dur=$((1000 - 400 * rank)) tid=10$rank tgid=10$rank func=5 site=$((base + solve)) lib=1 args=0"
		[ $rank = 1 ] || echo "call ts=5000 dur=500 tid=100 tgid=100 func=5 site=$((base + solve)) lib=1 args=0"
		echo "call ts=$((7000 + rank)) dur=40 tid=10$rank tgid=10$rank func=5 site=$((base + main)) lib=1 args=0"
	done
	echo "call ts=8000 dur=2 tid=100 tgid=100 func=5 site=$((0x10000000 + 0x8000)) lib=1 args=0"
	echo "call ts=8100 dur=1 tid=100 tgid=100 func=5 site=0x123 lib=1 args=0"
	echo 'end ts=9000'
}

sites_of() { # JQ: over the whole's call sites
	"$POVTRACE" report --json --callsite "${file:-run.pov}" | jq -c ".call_sites | $1"
}

names() { sites_of 'map(.site)'; }
raw() { printf '["app+0x%x","app+0x%x","app+0x8000","0x123"]' $solve $main; }

@test "call sites: function, file and line, and how unequal ranks are" {
	run sites_of '.[0]'
	echo "$output"
	[ "$(jq -r .site <<<"$output")" = "solve (app.c:${sites[0]})" ]
	[ "$(jq -c '[.function, .source_function, .source_line, .calls, .total_ns, .max_ns]' <<<"$output")" = \
		"[\"MPI_Barrier\",\"solve\",${sites[0]},3,2100,1000]" ]
	[ "$(jq -r '.source_file' <<<"$output")" = "$PWD/app.c" ]
	[ "$(jq -c '.over_processes | [.callers, .min_ns, .mean_ns, .max_ns, .max_rank]' <<<"$output")" = "[2,600,1050,1500,0]" ]
	[ "$(jq -r '[.module, .offset] | @text' <<<"$output")" = "[\"$PWD/app\",$solve]" ]
	[ "$(sites_of '.[1] | [.site, .calls, .over_processes.callers]')" = "[\"main (app.c:${sites[2]})\",2,2]" ]
	[ "$(sites_of '.[2:] | map([.site, .source_file])')" = '[["app+0x8000",null],["0x123",null]]' ]
	[ "$("$POVTRACE" report --json --callsite run.pov | jq '.ranks[1].call_sites | map(.calls) | add')" = 2 ]
	[ "$("$POVTRACE" report --json run.pov | jq '[.. | objects | select(has("call_sites"))] | length')" = 0 ]
}

@test "call sites: the text agrees with addr2line" {
	need addr2line
	"$POVTRACE" report --callsite run.pov | sed -n '/^Call sites/,/^$/p' >out
	cat out
	line=$(addr2line -e app "$(printf '%x' $((0x400000 + solve - 1)))")
	grep -qE "MPI_Barrier +solve \(app.c:${line##*:}\) +3 +- +2\.100 us .* 600 ns +1\.050 us +1\.500 us +0$" out
	grep -q 'FILE+0x…' out
	"$POVTRACE" report --callsite --top 1 run.pov | grep -q '1 of 4 shown'
	run "$POVTRACE" report run.pov
	[[ $output != *"Call sites"* ]]
}

@test "call sites: in both timelines, with the offset" {
	"$POVTRACE" export run.pov -o run.json
	[ "$(jq -c '[.traceEvents[] | select(.name == "MPI_Barrier") | .args] | .[0] | [.site, .site_offset]' run.json)" = \
		"$(printf '["solve (app.c:%d)","app+0x%x"]' "${sites[0]}" $solve)" ]
	[ "$(jq -c '[.traceEvents[] | select(.name == "MPI_Barrier") | .args.site] | length' run.json)" = 7 ]
	[ "$(jq -c '[.traceEvents[] | select(.args.site == "0x123") | .args | has("site_offset")]' run.json)" = '[false]' ]
	"$POVTRACE" export run.pov -o run.pftrace
	grep -q "solve (app.c:${sites[0]})" run.pftrace
	grep -q "$(printf 'app+0x%x' $solve)" run.pftrace
}

@test "call sites: without debug information, function and offset" {
	strip -g app
	run names
	echo "$output"
	[[ $output =~ ^\[\"solve\+0x[0-9a-f]+\ \(app\)\",\"main\+0x[0-9a-f]+\ \(app\)\", ]]
	strip app
	[ "$(names)" = "$(raw)" ]
}

@test "call sites: a file that is gone, was replaced, or cannot be identified" {
	[ "$(names)" != "$(raw)" ]
	mv app kept
	[ "$(names)" = "$(raw)" ]
	gcc -O0 -g -no-pie app.c -o app
	[ "$(names)" = "$(raw)" ]
	mv kept app
	[ "$(names)" != "$(raw)" ]
	# without a build ID and without a stamp, as in older recordings
	sed 's/"build_id":"[0-9a-f]*"/"build_id":""/' run.txt | trace old
	file=old.pov
	[ "$(names)" = "$(raw)" ]
}

@test "call sites: the tag of a Python module is left out" {
	sed "s|$PWD/app\"|$PWD/app.cpython-311-x86_64-linux-gnu.so\"|" run.txt | trace python
	file=python.pov
	[ "$(names)" = "$(raw | sed 's/app+/app.so+/g')" ]
}

@test "call sites: without povtrace-lines they are files and offsets" {
	cp "$POVTRACE" povtrace
	POVTRACE=./povtrace
	[ "$(names)" = "$(raw)" ]
	printf '#!/bin/sh\nexit 127\n' >povtrace-lines
	chmod +x povtrace-lines
	[ "$(names)" = "$(raw)" ]
}

@test "call sites: povtrace is not linked with libdw, and asks no server" {
	need readelf
	run readelf -d "$POVTRACE"
	[[ $output == *jansson* && $output != *libdw* ]]
	need strace
	strip -g app
	ASAN_OPTIONS=detect_leaks=0 DEBUGINFOD_URLS=http://127.0.0.1:9/ strace -f -e trace=network,openat -o calls "$POVTRACE" report --callsite run.pov
	grep -q 'openat(.*libdw' calls
	run grep -E 'AF_INET|AF_NETLINK|connect\(' calls
	echo "$output"
	[ "$status" = 1 ]
}
