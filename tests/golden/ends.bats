#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# How ranks ended, in report, JSON, timelines and info: by which signal, status or MPI_Abort, in which call, and which one first.

load lib
needs jq
functions Init Finalize Abort Recv Barrier

# recording RANKS: a job of mpirun, pid 50, whose ranks have pids 100 and up; MPI_Init and an MPI_Recv each. Records on stdin; times are
# nanoseconds. start_ns and end_ns: of the recording, 10 s.
recording() {
	local i pid
	echo 'meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000000000,"config":{"sched":"off","rings":1}}'
	echo 'meta {"type":"clocks","monotonic_ns":1000000000,"boottime_ns":1000000000,"realtime_ns":1700000000000000000}'
	echo "$function_table"
	echo 'meta {"type":"target","ts_ns":1000000000,"pid":50,"cmdline":["mpirun"]}'
	echo 'meta {"type":"image","dev":8,"ino":77,"path":"/usr/bin/app","build_id":""}'
	echo 'task ts=1000000000 tid=50 tgid=50 comm=mpirun'
	for ((i = 0; i < $1; i++)); do
		pid=$((100 + i))
		echo "meta {\"type\":\"process\",\"ts_ns\":1100000000,\"pid\":$pid,\"ppid\":50,\"exe\":\"/usr/bin/app\",\"rank\":$i,\"size\":$1,\"job\":\"j\",\"libs\":[]}"
		echo "fork ts=1100000000 tid=50 child=$pid tgid=$pid parent_tgid=50 comm=app"
		echo "image ts=1150000000 tid=$pid tgid=$pid dev=8 ino=77 start=0x10000 len=0x10000 off=0"
		echo "call at=1200000000..1300000000 tid=$pid tgid=$pid func=1 site=0x10010 args=0,0"
		echo "call at=2000000000..2500000000 tid=$pid tgid=$pid func=4 site=0x10020 args=0,0,0,0,0,0,0"
	done
	cat
	echo 'end ts=11000000000 reason=exit'
}

# The sentences of the report's section, each on one line.
ends() { "$POVTRACE" report "$@" | section 'Ranks that' | sed '1d; $s/$/ !/' | tr -s ' \n' ' ' | sed 's/ ! */\n/g' | sed '/^$/d'; }

# report_is: the sentences that the report prints of run.pov equal stdin, which has one on each line.
report_is() {
	cat >wanted
	ends run.pov >got
	diff -u wanted got
}

# ended RANK [STATUS]: finalises MPI and exits.
ended() {
	echo "call at=9000000000..9100000000 tid=$((100 + $1)) tgid=$((100 + $1)) func=2 site=0x10030"
	echo "exit ts=9200000000 tid=$((100 + $1)) tgid=$((100 + $1)) code=$((${2-0} << 8)) flags=process"
}

@test "ends: a fault outside of calls and one in a call; the launcher ends the others in one line" {
	recording 5 <<-'END' | trace run
	call at=4000000000..5000000000 tid=101 tgid=101 func=4 flags=open site=0x10040 args=0,0,0,0,0,0,0
	signal ts=3000200000 tid=103 tgid=103 signo=11 from=3 code=1 ip=0x10abc address=0x8
	exit ts=3000300000 tid=103 tgid=103 code=139 flags=process
	signal ts=4900000000 tid=101 tgid=101 signo=8 from=3 code=1 ip=0x10def
	exit ts=5000000000 tid=101 tgid=101 code=8 flags=process
	signal ts=6000000000 tid=100 tgid=100 signo=15 from=1 sender=50 comm=mpirun flags=to_process
	signal ts=6000100000 tid=102 tgid=102 signo=15 from=1 sender=50 comm=mpirun flags=to_process
	signal ts=6000200000 tid=104 tgid=104 signo=15 from=1 sender=50 comm=mpirun flags=to_process
	call at=6000000000..6100000000 tid=104 tgid=104 func=5 flags=open site=0 args=0
	exit ts=6100000000 tid=100 tgid=100 code=15 flags=process
	exit ts=6100000000 tid=102 tgid=102 code=15 flags=process
	exit ts=6200000000 tid=104 tgid=104 code=15 flags=process
	END
	report_is <<-'END'
	Rank 3 (pid 103) was killed by SIGSEGV (signal 11) at 2.000 s in app+0xabc, outside the recorded MPI calls, 500.200 ms after MPI_Recv (app+0x20).
	Rank 1 (pid 101) was killed by SIGFPE (signal 8) at 3.900 s in app+0xdef, in MPI_Recv (app+0x40) for 900.000 ms.
	3 ranks (0, 2, 4) were killed by SIGTERM (signal 15) from mpirun (pid 50), the first at 5.000 s.
	END
	"$POVTRACE" report --json run.pov >got.json
	[ "$(jq -c '.ends | map([.kind, .rank, .pid, .tid, .at_ns, .exit_status, .by_launcher])' got.json)" = \
		'[["signal",3,103,103,2000200000,139,false],["signal",1,101,101,3900000000,8,false],["signal",0,100,100,5000000000,15,true],["signal",2,102,102,5000100000,15,true],["signal",4,104,104,5000200000,15,true]]' ]
	[ "$(jq -c '.ends[0].signal' got.json)" = '{"number":11,"code":1,"sent_ns":2000200000,"from":"fault","sender_pid":null,"sender":null,"place":"app+0xabc","address":8}' ]
	[ "$(jq -c '.ends[2].signal' got.json)" = '{"number":15,"code":0,"sent_ns":5000000000,"from":"process","sender_pid":50,"sender":"mpirun","place":null,"address":null}' ]
	[ "$(jq -c '.ends | map(.call)[:2]' got.json)" = '[{"function":"MPI_Recv","site":"app+0x20","returned":true,"polls":false,"begin_ns":1000000000,"end_ns":1500000000},{"function":"MPI_Recv","site":"app+0x40","returned":false,"polls":false,"begin_ns":3000000000,"end_ns":null}]' ]
	jq -r '.ends[4].text' got.json | grep -qx 'Rank 4 (pid 104) was killed by SIGTERM (signal 15) from mpirun (pid 50) at 5.000 s, in MPI_Barrier for 200.000 us (call site unknown)'
	# this section comes before all others
	"$POVTRACE" report run.pov | grep -nE '^(Ranks that|Efficiency|Parallel)' | cut -d: -f2 | cut -c1-5 | tr '\n' ' ' | grep -qx 'Ranks [EP][fa][fr][ia][cl] '
}

@test "ends: MPI_Abort is shown first with its caller, whichever rank ended first" {
	recording 3 <<-'END' | trace run
	call at=3000000000..3400000000 tid=102 tgid=102 func=3 flags=open site=0x10050 args=0,3
	signal ts=3100000000 tid=100 tgid=100 signo=9 from=1 sender=50 comm=mpirun flags=to_process
	exit ts=3200000000 tid=100 tgid=100 code=9 flags=process
	signal ts=3150000000 tid=101 tgid=101 signo=9 from=1 sender=50 comm=mpirun flags=to_process
	exit ts=3200000000 tid=101 tgid=101 code=9 flags=process
	exit ts=3400000000 tid=102 tgid=102 code=768 flags=process
	END
	report_is <<-'END'
	Rank 2 (pid 102) called MPI_Abort (app+0x50) at 2.000 s, and exited with status 3.
	2 ranks (0, 1) were killed by SIGKILL (signal 9) from mpirun (pid 50), the first at 2.100 s.
	END
}

@test "ends: a status, no MPI_Finalize, and ranks that go on" {
	{ ended 0; ended 4 3; cat <<-'END'; } | recording 5 | trace run
	exit ts=5000000000 tid=101 tgid=101 code=0 flags=process
	call at=2600000000..6000000000 tid=102 tgid=102 func=5 flags=open site=0x10060 args=0
	exit ts=6000000000 tid=102 tgid=102 code=1792 flags=process
	END
	report_is <<-'END'
	Rank 1 (pid 101) exited with status 0 without MPI_Finalize at 4.000 s, outside the recorded MPI calls, 2.500 s after MPI_Recv (app+0x20).
	Rank 2 (pid 102) exited with status 7 at 5.000 s, in MPI_Barrier (app+0x60) for 3.400 s.
	Rank 4 (pid 104) exited with status 3 at 8.200 s, outside the recorded MPI calls, 100.000 ms after MPI_Finalize (app+0x30).
	Rank 3 (pid 103) was still running when the recording ended, outside the recorded MPI calls, 8.500 s after MPI_Recv (app+0x20).
	END
	[ "$("$POVTRACE" report --json run.pov | jq -c '.ends | map([.kind, .exit_status])')" = '[["unfinished",0],["status",1792],["status",768],["running",null]]' ]
}

@test "ends: a process that crashes before MPI_Init; other signals to such processes are ordinary" {
	local crash='fork ts=1100000000 tid=50 child=300 tgid=300 parent_tgid=50 comm=app
	fork ts=1100000000 tid=50 child=301 tgid=301 parent_tgid=50 comm=sleep
	signal ts=1400000000 tid=300 tgid=300 signo=11 from=3 code=1 ip=0x10abc address=0x8
	exit ts=1400000000 tid=300 tgid=300 code=139 flags=process
	exit ts=1400000000 tid=301 tgid=301 code=15 flags=process'
	echo "$crash" | recording 0 | trace run
	"$POVTRACE" report run.pov >got
	grep -x 'Processes that failed or did not finish, earliest first' got
	grep -x '  ! `app` (pid 300) was killed by SIGSEGV (signal 11) at 0.400 s.*' got
	[ "$(grep -c '^  ! ' got)" = 1 ]
	{ ended 0; echo "$crash"; } | recording 1 | trace run
	"$POVTRACE" report --json run.pov >got.json
	[ "$(jq -c '.ends | map([.kind, .rank, .pid])' got.json)" = '[["signal",null,300]]' ]
	"$POVTRACE" export run.pov -o run.json
}

@test "ends: no message about ranks that end well, or if the recording ends before all ranks" {
	{ ended 0; ended 1; } | recording 2 | trace run
	report_is </dev/null
	[ "$("$POVTRACE" report --json run.pov | jq -c .ends)" = '[]' ]
	recording 3 </dev/null | trace run
	report_is </dev/null
}

@test "ends: all ranks go on after their launcher" {
	recording 3 </dev/null | sed 's/reason=.*/reason="command ended"/' | trace run
	report_is <<-'END'
	3 ranks (0, 1, 2) were still running when the recording ended.
	END
}

@test "ends: the sender of a signal: the rank itself, another rank, another program, the kernel, unknown" {
	recording 6 <<-'END' | trace run
	signal ts=3000000000 tid=100 tgid=100 signo=6 from=1 code=-6 sender=100 comm=app
	exit ts=3000000001 tid=100 tgid=100 code=134 flags=process
	signal ts=3100000000 tid=101 tgid=101 signo=9 from=1 sender=102 comm=app flags=to_process
	exit ts=3100000001 tid=101 tgid=101 code=9 flags=process
	signal ts=3200000000 tid=102 tgid=102 signo=15 from=1 sender=777 comm="ba\x1bsh" flags=to_process
	exit ts=3200000001 tid=102 tgid=102 code=15 flags=process
	signal ts=3300000000 tid=103 tgid=103 signo=13 from=2
	exit ts=3300000001 tid=103 tgid=103 code=13 flags=process
	exit ts=3400000000 tid=104 tgid=104 code=42
	signal ts=3500000000 tid=105 tgid=105 signo=9 from=1 sender=777 comm=bash flags=to_process
	END
	"$POVTRACE" report --top 0 run.pov >/dev/null
	ends --top 0 run.pov | sed 's/, outside.*//' >got
	diff -u - got <<-'END'
	Rank 0 (pid 100) was killed by SIGABRT (signal 6), which it sent to itself, at 2.000 s
	Rank 1 (pid 101) was killed by SIGKILL (signal 9) from rank 2 (pid 102) at 2.100 s
	Rank 2 (pid 102) was killed by SIGTERM (signal 15) from ba?sh (pid 777) at 2.200 s
	Rank 3 (pid 103) was killed by SIGPIPE (signal 13) from the kernel at 2.300 s
	Rank 4 (pid 104) was killed by signal 42 at 2.400 s
	Rank 5 (pid 105) was sent SIGKILL (signal 9) from bash (pid 777) at 2.500 s
	END
	ends --top 0 run.pov | grep 'Rank 5' | grep -q '; its end was not recorded\.$'
	# the first screen has four of them
	ends run.pov | tail -1 | grep -q '2 more; --top 0 shows all\.$'
}

@test "ends: the places of ranks at the recording's end are not shown if all had ended" {
	recording 2 <<-'END' | trace run
	exit ts=3100000000 tid=101 tgid=101 code=768 flags=process
	call at=3000000000..10900000000 tid=100 tgid=100 func=5 flags=open site=0x10060 args=0
	signal ts=10800000000 tid=100 tgid=100 signo=15 from=1 sender=50 comm=mpirun flags=to_process
	exit ts=10900000000 tid=100 tgid=100 code=15 flags=process
	END
	"$POVTRACE" report run.pov >got
	grep -qx '  ! Rank 0 (pid 100) was killed by SIGTERM (signal 15) from mpirun (pid 50) at 9.800 s.' got
	[ "$(grep -c 'Where ranks were' got)" = 0 ]
	"$POVTRACE" report --hang run.pov | grep -qx '  No rank that had called MPI was left.'
}

@test "ends: a signal that was blocked or came later did not kill; all threads of an exit have the same status" {
	recording 2 <<-'END' | trace run
	signal ts=2700000000 tid=100 tgid=100 signo=10 from=1 sender=50 comm=mpirun flags=to_process
	signal ts=2800000000 tid=100 tgid=100 signo=12 from=1 sender=777 comm=bash flags=to_process
	exit ts=3000000000 tid=100 tgid=100 code=12 flags=process
	fork ts=2600000000 tid=101 child=151 tgid=101 parent_tgid=101 comm=app
	exit ts=3000000000 tid=101 tgid=101 code=0
	call at=3500000000..4000000000 tid=151 tgid=101 func=4 flags=open site=0x10070 args=0,0,0,0,0,0,0
	exit ts=4000000000 tid=151 tgid=101 code=1280 flags=process
	END
	report_is <<-'END'
	Rank 0 (pid 100) was killed by SIGUSR2 (signal 12) from bash (pid 777) at 1.800 s, outside the recorded MPI calls, 300.000 ms after MPI_Recv (app+0x20).
	Rank 1 (pid 101) exited with status 5 at 3.000 s, outside the recorded MPI calls, 1.500 s after MPI_Recv (app+0x20).
	END
}

@test "ends: out of memory, with the control group and its limit" {
	recording 2 <<-'END' | trace run
	signal ts=3000000000 tid=101 tgid=101 signo=9 from=2 flags=to_process
	exit ts=3100000000 tid=101 tgid=101 code=9 flags=process,oom
	exit ts=3200000000 tid=100 tgid=100 code=256 flags=process
	meta {"type":"memory_limit","ts_ns":1100000000,"to_ns":3100000000,"cgroup":"/job/1","pids":[100,101],"limit_bytes":67108864,"oom_kills":1}
	END
	ends run.pov >got
	grep -qx "Rank 1 (pid 101) was killed by SIGKILL (signal 9) from the kernel, for lack of memory, at 2.000 s, outside the recorded MPI calls, 500.000 ms after MPI_Recv (app+0x20); for lack of memory the kernel killed 1 process of its control group /job/1, which may use 64 MiB\." got
	grep -q '^Rank 0 (pid 100) exited with status 1 ' got
	[ "$(grep -c 'control group' got)" = 1 ]
	[ "$("$POVTRACE" report --json run.pov | jq -c '.ends | map(.out_of_memory)')" = '[true,false]' ]
}

@test "ends: the last call is not shown where calls were lost" {
	recording 1 <<-'END' | trace run
	lost ts=2900000000 since=2800000000 cnt=3 ring=0 class=call
	exit ts=3000000000 tid=100 tgid=100 code=256 flags=process
	END
	report_is <<-'END'
	Rank 0 (pid 100) exited with status 1 at 2.000 s.
	END
}

@test "ends: after polls that found nothing" {
	recording 1 <<-'END' | trace run
	spin at=2600000000..2999000000 tid=100 tgid=100 site=0x10080 funcs=4:9:1000:0
	exit ts=3000000000 tid=100 tgid=100 code=256 flags=process
	END
	report_is <<-'END'
	Rank 0 (pid 100) exited with status 1 at 2.000 s, outside the recorded MPI calls, 1.000 ms after polls that began with MPI_Recv (app+0x80).
	END
}

@test "ends: older traces have the first thread's status" {
	recording 2 <<-'END' | trace run
	exit ts=3000000000 tid=100 tgid=100 code=11
	exit ts=3100000000 tid=101 tgid=101 code=256
	END
	ends run.pov | sed 's/, outside.*//' >got
	diff -u - got <<-'END'
	Rank 0 (pid 100) was killed by SIGSEGV (signal 11) at 2.000 s
	Rank 1 (pid 101) exited with status 1 at 2.100 s
	END
}

@test "ends: an instant in both timelines, and lines of info" {
	{ ended 0; cat <<-'END'; } | recording 2 | trace run
	signal ts=3000200000 tid=101 tgid=101 signo=11 from=3 code=1 ip=0x10abc address=0x8
	exit ts=3000300000 tid=101 tgid=101 code=139 flags=process
	END
	"$POVTRACE" export run.pov -o run.json
	[ "$(jq -c '[.traceEvents[] | select(.cat == "end") | [.name, .pid, .tid, .ts + 0, .dur + 0, .args.kind]]' run.json)" = '[["killed by SIGSEGV (signal 11)",101,101,2000200,0,"signal"]]' ]
	jq -r '.traceEvents[] | select(.cat == "end") | .args.text' run.json | grep -q '^Rank 1 (pid 101) was killed by SIGSEGV'
	"$POVTRACE" export run.pov -o run.pftrace
	grep -qa 'killed by SIGSEGV (signal 11)' run.pftrace
	"$POVTRACE" export --rank 0 run.pov -o other.json
	[ "$(jq '[.traceEvents[] | select(.cat == "end")] | length' other.json)" = 0 ]
	[ "$("$POVTRACE" info run.pov | grep '^ended')" = "ended      rank 0, pid 100: exited with status 0 at 8.200 s
ended      rank 1, pid 101: killed by SIGSEGV (signal 11) at 2.000 s" ]
	[ "$("$POVTRACE" info --json run.pov | jq -c .ends)" = '[{"pid":100,"rank":0,"end":"exited with status 0","exit_status":0,"ended_ns":8200000000},{"pid":101,"rank":1,"end":"killed by SIGSEGV (signal 11)","exit_status":139,"ended_ns":2000300000}]' ]
	"$POVTRACE" info --dump run.pov >dump.txt
	grep -qx 'signal ts=3000200000 tid=101 tgid=101 signo=11 from=3 code=1 sender=0 comm="" ip=0x10abc address=0x8' dump.txt
	"$make" dump.txt again.pov
	"$POVTRACE" info --dump again.pov | diff dump.txt -
}

@test "ends: with two hosts, process numbers are those of the host" {
	recording 1 <<-'END' | sed '2i meta {"type":"host","hostname":"node1","kernel":"6.1","machine":"x86_64","cpus":2}' | trace node1
	signal ts=3000000000 tid=100 tgid=100 signo=15 from=1 sender=50 comm=prted flags=to_process
	exit ts=3000000001 tid=100 tgid=100 code=15 flags=process
	END
	sed 's/node1/node2/; s/"rank":0/"rank":1/; s/signo=15/signo=9/; s/code=15/code=9/; s/ts=3000/ts=2900/' node1.txt | trace node2
	ends node1.pov node2.pov | sed 's/, outside.*//' >got
	diff -u - got <<-'END'
	Rank 1 (pid 100 on node2) was killed by SIGKILL (signal 9) from prted (pid 50) at 1.900 s
	Rank 0 (pid 100 on node1) was killed by SIGTERM (signal 15) from prted (pid 50) at 2.000 s.
	END
}
