#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The time of a section of the program, by ranks and by cores: text, JSON, and sections that do not exist.

load lib

setup() {
	begin
	need jq
	"$make" - run.pov <<-'END'
		meta {"type":"recording","abi":1,"start_ns":1000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024}}
		meta {"type":"host","hostname":"h","kernel":"6.1","machine":"x86_64","cpus":1}
		meta {"type":"clocks","monotonic_ns":1000,"boottime_ns":1000,"realtime_ns":1000000000000,"raw_ns":1000}
		meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"}]}
		meta {"type":"process","ts_ns":1000,"pid":100,"exe":"/bin/app","rank":0,"size":2,"job":"j"}
		meta {"type":"process","ts_ns":1000,"pid":200,"exe":"/bin/app","rank":1,"size":2,"job":"j"}
		task ts=1000 tid=100 tgid=100 on_cpu=1 cpu=0 comm=app
		task ts=1000 tid=200 tgid=200 state=1 on_cpu=0 cpu=0 comm=app
		stream 0
		call ts=2000 dur=500 tid=100 tgid=100 func=1 lib=1 args=0x44000000
		waking ts=2500 tid=100 target=200 cpu=0 target_cpu=0
		switch ts=3000 prev=100 next=200 cpu=0 flags=preempted
		call ts=4000 dur=500 tid=200 tgid=200 func=1 lib=1 args=0x44000000
		switch ts=13000 prev=200 next=100 cpu=0 flags=preempted
		call ts=23000 dur=1000 tid=100 tgid=100 func=1 lib=1 args=0x44000000
		switch ts=24000 prev=100 next=200 cpu=0 state=1
		call ts=26000 dur=1000 tid=200 tgid=200 func=1 lib=1 args=0x44000000
		end ts=31000 reason=test
	END
}

@test "section: its time by MPI_Wtime, by ranks and by cores" {
	"$POVTRACE" report --section 'MPI_Barrier#1..MPI_Barrier#2' run.pov | awk '/^Section/ { on = 1 } on && !NF { exit } on' >got
	cat >wanted <<-'END'
		Section MPI_Barrier#1..MPI_Barrier#2: its time as ranks and as cores see it (us)
		  rank  process  entered   wall  rank-POV    %  runnable    %  blocked   %  other thr
		     0  app            1  21.00     11.00 52.4     10.00 47.6     0.00 0.0       0.00
		     1  app            1  22.00     11.00 50.0     11.00 50.0     0.00 0.0       0.00
		  -----------------------------------------------------------------------------------
		   all                 2  43.00     22.00 51.2     21.00 48.8     0.00 0.0       0.00
	END
	diff -u wanted <(head -n 6 got)
	grep -E '^ +0 +0 +21\.00 +11\.00' got
	grep -E '^ +0 +2 +22\.000 us$' got
}

@test "section: JSON" {
	"$POVTRACE" report --json --section 5us..15us run.pov | jq -c '.section | .name, (.ranks[] | [.rank, .entered, .open,
		.wall_ns, .running_ns, (.cores[] | .cpu, .here_ns, .running_ns, .other_ranks_ns)]), .cores' >got
	diff -u - got <<-'END'
		"5us..15us"
		[0,1,0,10000,3000,0,10000,3000,7000]
		[1,1,0,10000,7000,0,10000,7000,3000]
		[{"cpu":0,"ranks":2,"running_ns":10000,"incomplete":[]}]
	END
	[ "$("$POVTRACE" report --json run.pov | jq 'has("section")')" = false ]
}

@test "section: invalid sections" {
	fails 2 'not a section; try' "$POVTRACE" report --section 'a#0..b' run.pov
	run -2 "$POVTRACE" report --section 2..1 run.pov
	run -2 "$POVTRACE" report --section solve --traffic run.pov
	fails 1 '"solve": no reported rank was in it' "$POVTRACE" report --section solve run.pov
	run -1 "$POVTRACE" report --section 'MPI_Barrier#3..' run.pov
}
