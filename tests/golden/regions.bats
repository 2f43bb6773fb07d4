#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Functions of the program that are regions of the recording: in the report, in timelines, over several hosts.

load lib
needs jq

# A rank that runs from the start: solve() within main(), solve() within itself, a barrier, and a jump out of solve(). Arguments: host, pid,
# rank, list of regions, and the numbers of solve and main in it.
job() {
	cat <<-END
		meta {"type":"recording","abi":1,"start_ns":1000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024,"regions":[$4]}}
		meta {"type":"host","hostname":"$1","kernel":"6.1","machine":"x86_64","cpus":2}
		meta {"type":"clocks","monotonic_ns":1000,"boottime_ns":1000,"realtime_ns":1000000000000,"raw_ns":1000}
		meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"}]}
		meta {"type":"process","ts_ns":1000,"pid":$2,"exe":"/bin/app","rank":$3,"size":2,"job":"j"}
		meta {"type":"regions","path":"/bin/app","build_id":"00","functions":["solve","main"],"attached":2,"failed":[]}
		task ts=1000 tid=$2 tgid=$2 on_cpu=1 cpu=0 comm=app
		stream 0
		region ts=11000 tid=$2 tgid=$2 region=$5 sp=0x800
		region ts=12000 tid=$2 tgid=$2 region=$5 sp=0x700
		region ts=13000 tid=$2 tgid=$2 region=$5 sp=0x700 flags=end
		call ts=15000 dur=1000 tid=$2 tgid=$2 func=1 lib=1 args=0x44000000
		region ts=21000 tid=$2 tgid=$2 region=$5 sp=0x800 flags=end
		call ts=23000 dur=1000 tid=$2 tgid=$2 func=1 lib=1 args=0x44000000
		region ts=31000 tid=$2 tgid=$2 region=$5 sp=0x800
		region ts=36000 tid=$2 tgid=$2 region=$5 sp=0x800
		region ts=37000 tid=$2 tgid=$2 region=$5 sp=0x800 flags=end
		region ts=41000 tid=$2 tgid=$2 region=$6 sp=0x900
		end ts=101000 reason=test
	END
}

@test "regions: report" {
	job node0 100 0 '"solve","main","absent"' 0 1 | "$make" - run.pov
	"$POVTRACE" report --all --explain run.pov | awk '/^Regions/ { on = 1 } /^Functions/ { on = 0 } on' >got
	cat >wanted <<-'END'
		Regions
		  region  ranks  calls  nested      time %wall   running %time    in MPI %time
		  solve       1      4       1  16.00 us  16.0  16.00 us   100  1.000 us   6.2
		  main        1      1       -  60.00 us  60.0  60.00 us   100      0 ns   0.0
		  absent      0      0       -      0 ns   0.0      0 ns     -      0 ns     -
		  absent: no recorded program or library has a function of this name that can be probed.
		  1 call had not returned when the thread or the recording ended; its time counts up to then.
		  1 call was left without returning (longjmp, an exception, exec); time counts until that was
		  noticed.
	END
	diff -u wanted <(head -n 9 got)
}

@test "regions: JSON" {
	job node0 100 0 '"solve","main","absent"' 0 1 | "$make" - run.pov
	"$POVTRACE" report --json run.pov >got
	# their probes are accounted for: 2 calls of MPI, 3 regions that returned
	[ "$(jq .ranks[0].overhead.call_hits got)" = 5 ]
	[ "$(jq -c '.regions[0]' got)" = '{"name":"solve","found":true,"processes":1,"incomplete":[],"calls":4,"nested":1,"open":0,"unwound":1,"wall_ns":16000,"split":{"running_ns":16000,"runnable_ns":0,"blocked_ns":0,"unknown_ns":0},"mpi_ns":1000}' ]
	[ "$(jq -c '[.regions[] | [.name, .found, .calls, .open]]' got)" = '[["solve",true,4,0],["main",true,1,1],["absent",false,0,0]]' ]
	[ "$(jq -c '.ranks[0].regions == .regions' got)" = true ]
}

@test "regions: a report without regions is unchanged" {
	job node0 100 0 '' 0 1 | "$make" - run.pov
	"$POVTRACE" report --all --explain run.pov >got
	[ "$(grep -c '^Regions' got)" = 0 ]
	[ "$("$POVTRACE" report --json run.pov | jq -c .regions)" = '[]' ]
}

@test "regions: figures are marked if records are lost" {
	{ job node0 100 0 '"solve","main"' 0 1 | sed '/^end/d'
	  echo 'lost ts=50000 since=45000 ring=0 class=call cnt=1'
	  echo 'end ts=101000 reason=test'; } | "$make" - run.pov
	"$POVTRACE" report --all --explain run.pov | grep -q '^  solve .* ≥4 '
}

@test "regions: timeline, with a track for each depth next to the phases" {
	job node0 100 0 '"solve","main"' 0 1 | "$make" - run.pov
	"$POVTRACE" export -o run.json run.pov
	jq -r '([.traceEvents[] | select(.ph == "M" and .name == "thread_name") | {(.tid | tostring): .args.name}] | add) as $name |
		.traceEvents[] | select(.cat == "region") |
		"\($name[.tid | tostring]) \(.name) \(.ph) \(.ts + 0) \(if .dur then .dur + 0 else null end) \(.args.unwound)"' run.json >got
	cat >wanted <<-'END'
		regions 1 solve X 11 1 null
		regions 0 solve X 10 10 null
		regions 0 solve X 30 5 true
		regions 0 solve X 35 1 null
		regions 0 main B 40 null null
	END
	diff -u wanted got
	"$POVTRACE" export -o run.pftrace run.pov
}

@test "regions: a dump makes the same trace again" {
	job node0 100 0 '"solve","main"' 0 1 | "$make" - run.pov
	"$POVTRACE" info --dump run.pov | grep '^region' >one
	[ "$(wc -l <one)" = 8 ]
	grep -q '^region ts=13000 tid=100 sp=0x700 tgid=100 region=0 cpu=0 flags=end$' one
	grep -v '^region' <(job node0 100 0 '"solve","main"' 0 1) | sed '/^stream 0/r one' | "$make" - back.pov
	"$POVTRACE" info --dump back.pov | grep '^region' | diff -u one -
}

@test "regions: hosts that list them in another order, or others" {
	job node0 100 0 '"solve","main"' 0 1 | "$make" - a.pov
	job node1 100 1 '"other","main","solve"' 2 1 | "$make" - b.pov
	"$POVTRACE" report --json a.pov b.pov >got
	[ "$(jq -c '[.regions[] | [.name, .processes, .calls]]' got)" = '[["solve",2,8],["main",2,2],["other",0,0]]' ]
	[ "$(jq -c '[.ranks[1].regions[] | [.name, .calls, .wall_ns]]' got)" = \
		'[["solve",4,16000],["main",1,60000],["other",0,0]]' ]
}

@test "record: invalid regions" {
	for name in '' 'sol*' setjmp _start solve.cold; do
		fails 2 "--region $name: " "$POVTRACE" record --region "$name" -- true
	done
}
