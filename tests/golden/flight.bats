#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# record --last and --when, and povtrace dump: what is refused. Also how traces that are the newest part of a recording are read.

load lib

# refused OPTION…: wrong usage, with the message $why, and no file is made.
refused() {
	run -2 "$POVTRACE" record -o x.pov "$@" -- true
	echo "$output"
	[[ $output == *"$why"* ]]
	[ ! -e x.pov ]
}

@test "record --last: a value that is neither a time nor a size, or is too small or too large" {
	why="--last soon: neither a time (10s, 5min) nor a size (64M, 1G)" refused --last soon
	why="--last 0.5s: a time must be from 1 s to 24 h" refused --last 0.5s
	why="--last 25h: a time must be from 1 s to 24 h" refused --last 25h
	why="--last 64m: write 64min for minutes, 64M for mebibytes" refused --last 64m
	why="--last 64K: a size must be at least 1M" refused --last 64K
	why="see \`povtrace help record\`" refused --last ''
}

@test "record --last: the options for the newest part and the oldest part exclude each other" {
	why="--last keeps the newest part, --max-size the oldest: give only one of them" refused --last 10s --max-size 1G
}

@test "record --when: invalid conditions, and functions that do not exist or are not recorded" {
	why="--when needs --last" refused --when 'MPI_Allreduce > 50ms'
	for bad in MPI_Allreduce '> 50ms' 'MPI_Allreduce >' 'MPI_Allreduce > long' 'MPI_Allreduce < 5ms'; do
		why="--when '$bad': write a condition like 'MPI_Allreduce > 50ms'" refused --last 10s --when "$bad"
	done
	why="--when: no function is called 'MPI_Alreduce'; did you mean MPI_Allreduce?" refused --last 10s --when 'MPI_Alreduce > 50ms'
	why="--when: no function is called 'MPI_Zz*'; patterns are like" refused --last 10s --when 'MPI_Zz* > 50ms'
	why="--when 'MPI_Allreduce > 50ms': this function is not recorded" refused --mpi p2p --last 10s --when 'MPI_Allreduce > 50ms'
}

@test "stat has no --last, which is for files" {
	fails 2 "no option --last" "$POVTRACE" stat --last 10s -- true
}

@test "dump: wrong usage, and permissions" {
	fails 2 "give at most one process number" "$POVTRACE" dump 12 13
	run -2 "$POVTRACE" dump run.pov
	run -1 "$POVTRACE" dump 4194304 # no process has that number
	echo "$output"
	if [ "$(id -u)" = 0 ]; then
		[[ $output == *"process 4194304 is not a running \`povtrace record --last\`"* ]]
	else
		[[ $output == *"dump needs root"* ]]
	fi
}

# A part of a recording, which began 5 s earlier. A call, a region, and a record about a communicator's members are from before the part.
# stdin has the end's members.
part() {
	cat <<-'END'
	meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":6000000000,"argv":["./a"],"config":{"sched":"all","rings":1,"cpus_per_ring":64,"regions":["step"]},"kept":{"since_ns":1000000000,"span_ns":2000000000,"forgotten":0}}
	meta {"type":"host","hostname":"node7","kernel":"6.1.0-18","machine":"x86_64","cpus":1}
	meta {"type":"clocks","monotonic_ns":6000000000,"boottime_ns":6000000000,"realtime_ns":1700000006000000000}
	meta {"type":"functions","layer":"mpi","rows":[{"id":0,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"},{"id":1,"name":"MPI_Comm_dup","group":"comm","attrs":"WAIT | COPY","sig":"comm >newcomm"}]}
	meta {"type":"process","ts_ns":1000000000,"pid":10,"exe":"/tmp/a","rank":0,"size":1,"job":"j1"}
	task ts=6000000000 tid=10 tgid=10 comm=a start=500000000
	region ts=6000000000 tid=10 sp=0x100 tgid=10 region=0 flags=earlier
	unshown ts=6000000001 tid=10 tgid=10 dur=0 func=1 flags=earlier args=0x10,0x20
	switch ts=6500000000 cpu=0 prev=0 next=10
	call ts=7000000000 tid=10 tgid=10 dur=3000000000 func=0 args=0x10
	call ts=7500000000 tid=10 tgid=10 dur=250000000 func=0 args=0x10
	region ts=7700000000 tid=10 sp=0x100 tgid=10 region=0 flags=end
	END
	cat
}

@test "a part of a recording: a note that earlier events are missing" {
	part >part.txt <<-'END'
	meta {"type":"end","ts_ns":8000000000,"reason":"trigger MPI_Barrier > 2s","trigger":{"when":"MPI_Barrier > 2s","rank":0,"pid":10,"tid":10,"function":"MPI_Barrier","begin_ns":4000000000,"end_ns":7000000000},"triggers":{"matches":3,"written":1}}
	END
	"$make" part.txt part.pov
	kept="the newest part of a recording that began 2023-11-14 22:13:21 UTC, 7.000 s before this one's end; the last 2.000 s were kept"
	trigger="MPI_Barrier of rank 0 took 3.000 s; 3 calls matched since the recording began, and 1 had a file written"
	"$POVTRACE" info part.pov >info
	grep -qxF "kept       $kept" info
	grep -qxF "ended by   trigger MPI_Barrier > 2s" info
	grep -qxF "trigger    $trigger" info
	grep -q ', for 2.000 s$' info
	"$POVTRACE" report part.pov | tr -s '\n ' ' ' >report
	grep -qF "$kept." report
	grep -qF "$trigger." report
	"$POVTRACE" report --json part.pov >report.json
	jq -e '.recording.kept.since_ns == 1000000000 and .recording.trigger.function == "MPI_Barrier"' report.json
	# a call that began earlier counts from the part's begin; the repeated call about a communicator does not count
	jq -e '[.functions[] | [.name, .calls, .total_ns]] == [["MPI_Barrier", 2, 1250000000]]' report.json
	jq -e '.ranks[0].functions[0].calls == 2' report.json
	jq -e '[.regions[] | .wall_ns] == [1700000000]' report.json
	# nothing proves that the thread ran before its first record in the part
	jq -e '.ranks[0].running_ns == 1500000000' report.json
	"$POVTRACE" export part.pov -o part.json 2>/dev/null
	jq -e '[.traceEvents[] | select(.ph == "X" and .name == "MPI_Barrier") | .ts >= 0] == [true, true]' part.json
	jq -e '[.traceEvents[] | select(.name == "MPI_Comm_dup")] == []' part.json
	jq -r '.. | .part? // empty' part.json | grep -qxF "$kept"
}

@test "a part of a recording by bytes, without conditions; some communicators forgotten" {
	echo 'meta {"type":"end","ts_ns":8000000000,"reason":"dump"}' | part |
		sed 's/"span_ns":2000000000,"forgotten":0/"bytes":67108864,"forgotten":5/' | trace part
	"$POVTRACE" info part.pov >info
	grep -q "the last 64 MiB were kept; some communicators made before are unknown$" info
	[ "$(grep -c ^trigger info)" = 0 ]
}

@test "a whole recording is not called a part" {
	echo 'end ts=8000000000 reason=exit' | part | sed 's/,"kept":{[^}]*}//' | trace whole
	[ "$("$POVTRACE" info whole.pov | grep -cE '^(kept|trigger)')" = 0 ]
	"$POVTRACE" report --json whole.pov | jq -e '.recording | .kept == null and .trigger == null'
}
