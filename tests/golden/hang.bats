#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Where ranks were when the recording ended, and whom they waited for: in planted hangs, and in jobs that are only slow.

load lib
needs jq

functions Init Send Recv Irecv Ssend Wait Waitall Barrier Allreduce Bcast Probe Comm_dup Win_free Win_lock Win_unlock \
	File_write_all Finalize Ibarrier Test Isend Waitany Win_create Init_thread \
	File_open
world=0x44000000 int=0x4c000405 status=1 any=-2

# job RANKS [BEFORE]: a job that is launched at 1 ms of a recording that began at 1 s, with a CPU for each rank; with BEFORE, it ran before
# the recording.
job() {
	local i
	echo 'meta {"type":"recording","abi":1,"start_ns":1000000000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024}}'
	echo 'meta {"type":"host","hostname":"n","kernel":"6.1","machine":"x86_64","cpus":128}'
	echo "$function_table"
	echo 'meta {"type":"library","id":1,"path":"/nowhere/libmpich.so.12","build_id":"00","dev":1,"ino":7,"flavour":"mpich","version":"4.0.2","layout":{"handle_bytes":4,"status_bytes":20,"type_in_handle":true,"undefined":-32766},"named":[["MPI_COMM_WORLD","0x44000000",0],["MPI_INT","0x4c000405",4]],"link":"uprobe_multi","attached":8,"missing":[],"failed":[],"emulated":8,"stepped":0}'
	for ((i = 0; i < $1; i++)); do
		echo "meta {\"type\":\"process\",\"ts_ns\":1000000001,\"pid\":$((100 + i)),\"ppid\":50,\"exe\":\"/bin/app\",\"cmdline\":[\"app\"],\"rank\":$i,\"size\":$1,\"job\":\"j\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}"
		if [ "${2-}" ]; then
			echo "task ts=1000000000 tid=$((100 + i)) tgid=$((100 + i)) on_cpu=1 cpu=$i comm=app"
		else
			[ $i != 0 ] || echo "task ts=1000000000 tid=50 tgid=50 state=1 cpu=99 comm=mpiexec"
			echo "fork ts=1000100000 tid=50 child=$((100 + i)) tgid=$((100 + i)) parent_tgid=50 comm=app"
			echo "switch ts=1000200000 cpu=$i prev=0 next=$((100 + i))"
			echo "exec ts=1001000000 tid=$((100 + i)) tgid=$((100 + i)) comm=app"
			call $i 2 3 Init 0,0
		fi
	done
}

# call RANK FROM TO FUNCTION ARGS [MORE]: times in ms of the recording, which ends at 1000; TO "-": the call is open.
call() {
	local to=$3 flags=
	[ "$to" != - ] || { to=1000 flags=" flags=open"; }
	echo "call ts=$((1000000000 + to * 1000000 - (to == 1000))) dur=$(((to - $2) * 1000000 - (to == 1000))) tid=$((${tid-100} + $1)) tgid=$((100 + $1)) func=${!4} site=$((0x1000 + ${!4})) cpu=$1 lib=1 args=$5${6:+ $6}$flags"
}
sleeps() { echo "switch ts=$((1000000000 + $2 * 1000000)) cpu=$1 prev=$((100 + $1)) next=0 state=${3-1}"; } # RANK FROM [STATE]
# hung RANKS [BEFORE]: makes run.pov of a job whose records are on stdin; $edit changes its script (sed).
hung() {
	{
		job "$@"
		cat
		echo 'end ts=2000000000 reason=test'
	} | sed "${edit-}" | trace run
}

send() { call "$1" "$2" "$3" Send "0x7f00,1,$int,$4,$5,${6-$world}" tsize=2:4; }	# RANK FROM TO DEST TAG [COMM]
recv() { call "$1" "$2" "$3" Recv "0x7f00,1,$int,$4,$5,${6-$world},$status" tsize=2:4; } # RANK FROM TO SOURCE TAG [COMM]
irecv() { call "$1" "$2" "$3" Irecv "0x7f00,1,$int,$4,$5,$world,0x7e00" "tsize=2:4 out=6:i$6"; } # … REQUEST
wait1() { call "$1" "$2" "$3" Wait 0x7e00,$status in=0:i"$4"; }
barrier() { call "$1" "$2" "$3" Barrier $world; }
allreduce() { call "$1" "$2" "$3" Allreduce 0x7f00,0x7f10,1,$int,5,$world tsize=3:4; }

# The sentences, a line each: kind, "!" if it is certain, text. Then the groups.
said() { "$POVTRACE" report --json run.pov | jq -r '.at_end.sentences[] | "\(.kind) \(if .certain then "! " else "" end)\(.text)"'; }
groups() { "$POVTRACE" report --json run.pov | jq -r '.at_end.groups[] | "\(.ranks | join(",")) \(.function // "outside") | \(.waits_for // "") | \(.most_ns / 1e6 | round) ms | \(.activity // "")"'; }
is() { "$1" >got; echo "$2" | diff -u - got; }
says_no_fault() { said | no '!'; }

@test "hang: wrong tags, a collective that others never reach, a rank outside MPI" {
	{
		for rank in 0 1 2 3; do barrier $rank 10 20; done
		recv 0 21 - 1 7
		irecv 1 21 22 0 8 0x98000001
		wait1 1 23 - 0x98000001
		allreduce 2 21 -
		for rank in 2 3; do sleeps $rank 22; done
	} | hung 4
	is groups "0 MPI_Recv | a message from rank 1, tag 7, MPI_COMM_WORLD | 979 ms | on a core
1 MPI_Wait | a message from rank 0, tag 8, MPI_COMM_WORLD (MPI_Irecv) | 977 ms | on a core
2 MPI_Allreduce | the others, call 2 on MPI_COMM_WORLD | 979 ms | asleep
3 outside |  | 980 ms | asleep"
	is said "deadlock ! Deadlock: rank 0 in MPI_Recv at 0x1003 waits for a message from rank 1, tag 7, MPI_COMM_WORLD; rank 1 in MPI_Wait at 0x1006 waits for a message from rank 0, tag 8, MPI_COMM_WORLD (MPI_Irecv). None of them can go on
missing Rank 2 is in MPI_Allreduce at 0x1009, call 2 on MPI_COMM_WORLD; ranks 0, 1, 3 have not called it. Rank 0: it is in MPI_Recv at 0x1003 for 979.000 ms (on a core), and waits for a message from rank 1, tag 7, MPI_COMM_WORLD; rank 1: it is in MPI_Wait at 0x1006 for 977.000 ms (on a core), and waits for a message from rank 0, tag 8, MPI_COMM_WORLD (MPI_Irecv); rank 3: it is outside MPI (asleep) since MPI_Barrier at 0x1008 returned 980.000 ms ago"
	"$POVTRACE" report run.pov | grep -q '^Where ranks were when the recording ended'
}

@test "hang: different collectives on one communicator" {
	{
		for rank in 0 1 2; do barrier $rank 10 20; done
		allreduce 0 21 -
		call 1 21 - Bcast 0x7f00,1,$int,2,$world tsize=2:4
		call 2 21 22 Bcast 0x7f00,1,$int,2,$world tsize=2:4
	} | hung 3
	is said "mismatch ! Rank 0 called MPI_Allreduce at 0x1009, ranks 1, 2 MPI_Bcast at 0x100a, both as call 2 on MPI_COMM_WORLD: all members must make the same calls in the same order"
}

@test "hang: one rank has not entered the collective" {
	{
		for rank in 0 1 2 3; do barrier $rank 10 20; done
		for rank in 0 1 3; do barrier $rank 21 -; done
		sleeps 2 25
	} | hung 4
	is said "missing Ranks 0, 1, 3 are in MPI_Barrier at 0x1008, call 2 on MPI_COMM_WORLD; rank 2 has not called it: it is outside MPI (asleep) since MPI_Barrier at 0x1008 returned 980.000 ms ago"
}

@test "hang: a rank that has ended or is in another call has not entered the collective" {
	{
		barrier 0 21 -
		call 1 21 22 Finalize 0
		echo 'exit ts=1023000000 tid=101 tgid=101 code=0'
		call 2 21 - Finalize 0
	} | hung 3
	is said "missing Rank 0 is in MPI_Barrier at 0x1008, call 1 on MPI_COMM_WORLD; ranks 1, 2 have not called it. Rank 1: it has ended; rank 2: it is in MPI_Finalize at 0x1011 for 979.000 ms (on a core)"
}

@test "hang: a message with a wrong tag, and one in a wrong communicator" {
	{
		for rank in 0 1 2; do call $rank 5 6 Comm_dup $world,0x7e10 out=1:i0x84000001; done
		send 1 10 11 0 8
		recv 0 10 - 1 7
		send 0 7 8 2 5 0x84000001
		recv 2 10 - 0 5
		sleeps 1 20
	} | hung 3
	is said "receive Rank 0 waits in MPI_Recv at 0x1003 for a message from rank 1, tag 7, MPI_COMM_WORLD; rank 1 has not sent it: it is outside MPI (asleep) since MPI_Send at 0x1002 returned 989.000 ms ago. It has sent it 1 message with tag 8 (MPI_Send), which nobody has received
receive Rank 2 waits in MPI_Recv at 0x1003 for a message from rank 0, tag 5, MPI_COMM_WORLD; rank 0 has not sent it: it is in MPI_Recv at 0x1003 for 990.000 ms (on a core), and waits for a message from rank 1, tag 7, MPI_COMM_WORLD. It has sent it 1 message with tag 5 in another communicator (MPI_Send), which nobody has received"
}

@test "hang: a receive from a rank that has ended; a probe that nobody answers" {
	{
		call 1 10 11 Finalize 0
		echo 'exit ts=1023000000 tid=101 tgid=101 code=0'
		recv 0 10 - 1 7
		call 2 12 - Probe 0,3,$world,$status
	} | hung 3
	is said "receive ! Rank 0 waits in MPI_Recv at 0x1003 for a message from rank 1, tag 7, MPI_COMM_WORLD; rank 1 has not sent it: it has ended
receive Rank 2 waits in MPI_Probe at 0x100b for a message from rank 0, tag 3, MPI_COMM_WORLD; rank 0 has not sent it: it is in MPI_Recv at 0x1003 for 990.000 ms (on a core), and waits for a message from rank 1, tag 7, MPI_COMM_WORLD"
}

@test "hang: a cycle of sends that the library does not buffer" {
	for rank in 0 1 2 3; do send $rank 10 - $(((rank + 1) % 4)) 3; done | hung 4
	is said "deadlock ! Deadlock: rank 0 in MPI_Send at 0x1002 waits for rank 1 to receive, tag 3, MPI_COMM_WORLD; rank 1 in MPI_Send at 0x1002 waits for rank 2 to receive, tag 3, MPI_COMM_WORLD; rank 2 in MPI_Send at 0x1002 waits for rank 3 to receive, tag 3, MPI_COMM_WORLD; rank 3 in MPI_Send at 0x1002 waits for rank 0 to receive, tag 3, MPI_COMM_WORLD. None of them can go on; the library did not accept messages before they were received"
}

@test "hang: a receive and a barrier wait for each other" {
	{
		recv 0 10 - 1 7
		barrier 1 10 -
	} | hung 2
	said >got
	grep -q '^deadlock ! Deadlock: rank 0 in MPI_Recv at 0x1003 waits for a message from rank 1, tag 7, MPI_COMM_WORLD; rank 1 in MPI_Barrier at 0x1008 waits for rank 0. None of them can go on$' got
}

@test "hang: where threads may call MPI at the same time, another one might help" {
	{
		for rank in 0 1; do
			call $rank 4 5 Init_thread 0,0,3,0x7e00 out=3:i3
			recv $rank 10 - $((1 - rank)) 7
		done
	} | hung 2
	said | grep -q '^deadlock Deadlock: .* None of them can go on, unless another of their threads calls MPI (MPI_THREAD_MULTIPLE allows that)$'
	says_no_fault
}

@test "hang: one thread of two waits for ever" {
	{
		call 0 4 5 Init_thread 0,0,3,0x7e00 out=3:i3
		call 1 4 5 Init_thread 0,0,3,0x7e00 out=3:i3
		echo 'fork ts=1006000000 tid=100 child=300 tgid=100 parent_tgid=100 comm=app'
		tid=300 recv 0 10 - 1 7
		barrier 0 8 -
		barrier 1 8 -
	} | hung 2
	is groups "0,1 MPI_Barrier | the others, call 1 on MPI_COMM_WORLD | 992 ms | on a core
0 MPI_Recv | a message from rank 1, tag 7, MPI_COMM_WORLD | 990 ms | asleep"
	says_no_fault
	said | grep -q '^receive Rank 0 waits in MPI_Recv at 0x1003 for a message from rank 1, tag 7'
}

@test "hang: a rank is stopped, another one sleeps in input and output" {
	{
		barrier 0 10 -
		sleeps 1 11 4
	} | hung 2
	said >got
	grep -q '^stopped ! Rank 1 is stopped by a signal (SIGSTOP, a terminal) or a debugger; SIGCONT lets it go on$' got
	{
		for rank in 0 1; do
			call $rank 10 - File_write_all 0x1,0x7f00,1,$int,$status tsize=3:4
			sleeps $rank 11 2
		done
	} | hung 2
	is said "io Ranks 0, 1 are all in uninterruptible sleep in the kernel, as in file I/O"
}

@test "hang: a rank does not enter a collective call on a file" {
	{
		for rank in 0 1; do call $rank 5 6 File_open $world,0x7f00,1,0x1c000000,0x7e20 out=4:0x7c00; done
		call 0 10 - File_write_all 0x7c00,0x7f00,1,$int,$status tsize=3:4
		sleeps 1 11
	} | hung 2
	groups | tee got
	grep -q '^0 MPI_File_write_all | the others, call 1 on a file of communicator 1 of 2 ranks | 990 ms | on a core$' got
}

@test "hang: a lock that is held for ever" {
	{
		for rank in 0 1 2; do call $rank 5 6 Win_create 0x7f00,8,1,0x1c000000,$world,0x7e20 out=5:i0xa0000001; done
		call 1 10 11 Win_lock 234,0,0,0xa0000001
		call 2 12 - Win_lock 234,0,0,0xa0000001
		sleeps 1 15
	} | hung 3
	is said "lock Rank 2 is in MPI_Win_lock at 0x100e, for a window at rank 0, communicator 1 of 3 ranks; rank 1 holds that lock: it is outside MPI (asleep) since MPI_Win_lock at 0x100e returned 989.000 ms ago"
}

@test "hang: slow jobs have no fault" {
	# one computes, and the others wait for it; a large message is on its way; sends have just begun
	for rank in 0 1 2; do barrier $rank 500 -; done | hung 4
	says_no_fault
	{
		send 0 100 - 1 3
		recv 1 100 - 0 3
	} | hung 2
	[ -z "$(said)" ]
	for rank in 0 1; do send $rank 999 - $((1 - rank)) 3; done | hung 2
	[ -z "$(said)" ]
	"$POVTRACE" report run.pov | no '^Where ranks were'
	{ # any of two: one is there
		irecv 0 10 11 1 1 0x98000001
		irecv 0 12 13 2 2 0x98000002
		send 2 14 15 0 2
		call 0 20 - Waitany 2,0x7e00,0x7e10,$status in=1:i0x98000001,i0x98000002
		recv 1 20 - 0 9
	} | hung 3
	says_no_fault
	{ # receives that come later than the send's begin
		send 0 10 11 1 1
		send 0 12 - 1 2
		recv 1 20 21 0 1
		sleeps 1 22
	} | hung 2
	says_no_fault
}

@test "hang: ranks that were attached to in their calls" {
	{
		recv 0 0 - 1 7
		recv 1 0 - 0 7
		barrier 2 0 -
	} | hung 3 before
	is said "deadlock Each waits for the next one: rank 0 in MPI_Recv at 0x1003 waits for a message from rank 1, tag 7, MPI_COMM_WORLD; rank 1 in MPI_Recv at 0x1003 waits for a message from rank 0, tag 7, MPI_COMM_WORLD. None of them went on in the 1.000 s of the recording; what they sent before is unknown
missing Rank 2 is in MPI_Barrier at 0x1008 on MPI_COMM_WORLD; ranks 0, 1 are not in it. Rank 0: it is in MPI_Recv at 0x1003 for at least 1.000 s (on a core), and waits for a message from rank 1, tag 7, MPI_COMM_WORLD; rank 1: it is in MPI_Recv at 0x1003 for at least 1.000 s (on a core), and waits for a message from rank 0, tag 7, MPI_COMM_WORLD. Earlier calls of it are unknown
unseen What ranks did before the recording is unknown, so missing messages and the number of collective calls are, too"
	"$POVTRACE" report run.pov | grep -q '^  0 .* ≥1.000 s'
	{ # where the program of one that is in no call was
		barrier 0 0 -
		echo 'sample ts=1999999999 tid=101 tgid=101 ip=0x4711 flags=stack'
	} | hung 2 before
	said | grep -q '; rank 1 is not in it: it is outside MPI at 0x4711 (on a core) for at least 1.000 s. Earlier calls of it are'
	# arguments that the library no longer has
	recv 0 0 - 1 7 | sed 's/$/ unknown=0x3f/' | hung 2 before
	is groups "0 MPI_Recv |  | 1000 ms | on a core
1 outside |  | 1000 ms | on a core"
}

@test "hang: missing information is reported, and nothing is concluded from it" {
	{
		recv 0 10 - 1 7
		recv 1 10 - 0 7
	} | hung 2 before
	is said "unseen What ranks did before the recording is unknown, so missing messages and the number of collective calls are, too"
	{
		barrier 0 10 -
		sleeps 1 11
	} | hung 2 before
	said >got
	grep -q '^missing Rank 0 is in MPI_Barrier at 0x1008 on MPI_COMM_WORLD; rank 1 is not in it: it is outside MPI (asleep) for at least 1.000 s. Earlier calls of it are unknown$' got
	{
		recv 0 10 - 1 7
		recv 1 10 - 0 7
		echo 'lost ts=1500000000 since=1400000000 cnt=3 ring=0 class=call'
	} | hung 2
	says_no_fault
	said | grep -q '^unseen Records of calls were lost'
	for doubt in 's/^end ts=2000000000.*/meta {"type":"end","ts_ns":2000000000,"reason":"test","misses":{"threads":1}}/' 's/^end .*/cut/'; do
		{
			recv 0 10 - 1 7
			recv 1 10 - 0 7
		} | edit=$doubt hung 2
		says_no_fault
	done
	"$POVTRACE" report --hang run.pov | grep -q 'Unknown: the file is cut off'
	# functions that were not to be recorded
	barrier 0 10 - | edit='s/"sched":"all"/"sched":"all","mpi_left_out":true/' hung 2
	groups | grep -q '^1 outside '
	"$POVTRACE" report run.pov | grep -q '^  1 .* outside recorded calls '
}
