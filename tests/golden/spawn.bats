#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Two jobs that meet by MPI_Comm_spawn: messages and collectives between them, and who waits for whom.

load lib
needs jq

functions Init Send Recv Barrier Allreduce Bcast Comm_spawn Comm_get_parent Intercomm_merge Comm_disconnect Comm_dup Comm_spawn_multiple
world=0x44000000 self=0x44000001 int=0x4c000405 inter=0x84000001 merged=0x84000002 dup=0x84000003
root=-3 null=-1

# job NAME FIRST-PID RANKS BEGAN [MEMBERS]: its ranks begin and end MPI_Init at these milliseconds. They are children of 50, or of $starter.
job() {
	local i up=${starter-50}
	for ((i = 0; i < $3; i++)); do
		echo "meta {\"type\":\"process\",\"ts_ns\":$((1000000 * $4 + 1)),\"pid\":$(($2 + i)),\"ppid\":$up,\"exe\":\"/bin/app\",\"cmdline\":[\"app\"],\"rank\":$i,\"size\":$3,\"job\":\"$1\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]${5:+,$5}}"
		echo "fork ts=$((1000000 * $4 + i)) tid=$up child=$(($2 + i)) tgid=$(($2 + i)) parent_tgid=$up comm=app"
		echo "switch ts=$((1000000 * $4 + i)) cpu=$(($2 + i - 100)) prev=0 next=$(($2 + i))"
		call $(($2 + i)) "$4" $(($4 + 1)) Init 0,0
	done
}

recording() { # The script on stdin is in no order.
	{
		echo 'meta {"type":"recording","abi":1,"start_ns":1000000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024}}'
		echo 'meta {"type":"host","hostname":"n","kernel":"6.1","machine":"x86_64","cpus":512}'
		echo "$function_table"
		echo 'meta {"type":"library","id":1,"path":"/nowhere/libmpich.so.12","build_id":"00","dev":1,"ino":7,"layers":["mpi"],"flavour":"mpich","version":"4.0.2","layout":{"handle_bytes":4,"status_bytes":20},"named":[["MPI_COMM_WORLD","0x44000000",0],["MPI_COMM_SELF","0x44000001",0],["MPI_COMM_NULL","0x04000000",0],["MPI_INT","0x4c000405",4]],"link":"uprobe_multi","attached":8,"missing":[],"failed":[],"emulated":8,"stepped":0}'
		echo 'task ts=1000000 tid=50 tgid=50 state=1 cpu=511 comm=mpiexec'
		cat
		echo 'end ts=1000000000 reason=test'
	} >script
	{
		grep '^meta' script
		grep -v '^meta' script | awk '{split($2, t, "="); print t[2], NR, $0}' | sort -n -k1,1 -k2,2 | cut -d' ' -f3-
	} | trace run
	"$POVTRACE" report --json run.pov >got
}

# call PID FROM TO FUNCTION ARGS [FIELDS]
call() {
	echo "call ts=$((1000000 * $3)) dur=$((1000000 * ($3 - $2))) tid=$1 tgid=$1 func=${!4} cpu=$(($1 - 100)) lib=1 site=0x1000 args=$5${6:+ $6}"
}
announced() { # … which makes a communicator: it is recorded as it begins, too.
	echo "unshown ts=$((1000000 * $2)) dur=0 tid=$1 tgid=$1 func=${!4} cpu=$(($1 - 100)) lib=1 args=$5 flags=open"
	call "$@"
}
spawn() { announced "$1" "$2" "$3" Comm_spawn "0,0,${4-3},0,${5-0},${6-$world},16,0" "out=6:i$inter"; } # PID FROM TO [MAXPROCS ROOT COMM]
parent() { call "$1" "$2" "$3" Comm_get_parent 16 "out=0:i$inter"; }
merge() { announced "$1" "$2" "$3" Intercomm_merge "$inter,0,16" "out=2:i$merged comm=2:9,i$4,i$5"; } # PID FROM TO RANK SIZE
send() { call "$1" "$2" "$3" Send "16,1,$int,$4,$5,${6-$inter}" tsize=2:4; }	# PID FROM TO DEST TAG [COMM]
recv() { call "$1" "$2" "$3" Recv "16,1,$int,$4,$5,${6-$inter},1" tsize=2:4; }	# PID FROM TO SOURCE TAG [COMM]
allreduce() { call "$1" "$2" "$3" Allreduce "16,32,1,$int,5,${4-$merged}" tsize=3:4; }
barrier() { call "$1" "$2" "$3" Barrier $inter; }
bcast() { call "$1" "$2" "$3" Bcast "16,1,$int,$4,$inter" tsize=2:4; } # PID FROM TO ROOT

# Two parents; the root's call, and the three children that it starts.
family() {
	job j 100 2 2
	spawn 100 10 40
	spawn 101 12 41
	job k 200 3 20 "${1-\"spawned_by\":{\"job\":\"j\",\"rank\":0\}}"
	for pid in 200 201 202; do parent $pid 42 43; done
}

# Matched sends and receives, and those of which the other end is unknown.
matched() { jq -c '[.matching.sends.matched, .matching.receives.matched, .matching.sends.peer_unknown, .matching.receives.peer_unknown]' got; }
texts() { jq -r '.findings[].text' got; }
unknown() { jq -c '.peers.unknown | with_entries(select(.value > 0))' got; }

@test "spawn: messages between the jobs, both ways, and within each job" {
	{
		family
		send 100 44 45 2 7
		recv 202 44 46 0 7
		send 201 44 45 1 8
		recv 101 44 46 1 8
		send 101 47 48 0 7
		recv 200 90 91 1 7
		send 200 50 51 1 3 $world
		recv 201 50 52 0 3 $world
	} | recording
	[ "$(matched)" = '[4,4,0,0]' ]
	[ "$(unknown)" = '{}' ]
	[ -z "$(texts)" ]
}

@test "spawn: a message to a child that has not asked for its parents yet" {
	{
		job j 100 1 2
		spawn 100 10 40 1
		job k 200 1 20 '"spawned_by":{"job":"j","rank":0}'
		send 100 41 42 0 7
		parent 200 50 51
		recv 200 52 53 0 7
	} | recording
	[ "$(matched)" = '[1,1,0,0]' ]
	"$POVTRACE" report run.pov | grep -q '→ Have the launcher start the spawned processes, too, instead of MPI_Comm_spawn\.$'
}

@test "spawn: the rank that a rank of the other job waits for" {
	{
		family
		recv 100 45 95 1 7
		send 201 94 95 0 7
	} | recording
	texts >text
	grep '^ranks waited 49.000 ms for messages that rank 1:1 had not sent yet: rank 0:0 49.000 ms ' text
	[ "$(wc -l <text)" = 1 ]
}

@test "spawn: a merged communicator and its copy, with a child that is late to both" {
	{
		family
		for pid in 100 101; do merge $pid 44 50 $((pid - 100)) 5; done
		for pid in 200 201 202; do merge $pid 44 50 $((pid - 198)) 5; done
		for pid in 100 101 200 202; do allreduce $pid 51 101; done
		allreduce 201 100 101
		for pid in 100 101 200 201 202; do announced $pid 102 103 Comm_dup $merged,16 "out=1:i$dup"; done
		for pid in 100 101 200 202; do allreduce $pid 104 134 $dup; done
		allreduce 201 133 134 $dup
		send 202 140 141 0 5 $dup
		recv 100 140 142 4 5 $dup
	} | recording
	[ "$(matched)" = '[1,1,0,0]' ]
	texts >text
	cat text
	grep '^rank 1:1 was late to collective calls; others waited 312.000 ms for it, .*(last to 2 of 4)' text
	[ "$(wc -l <text)" = 1 ]
}

@test "spawn: collectives between the jobs, of all ranks and from a root of either job" {
	{
		family
		for pid in 100 101 200 202; do barrier $pid 44 94; done
		barrier 201 93 94
		bcast 100 95 97 $root
		bcast 101 98 98 $null # beside the root, so nobody waits for it
		for pid in 200 201 202; do bcast $pid 95 97 0; done
		bcast 100 120 121 $null
		bcast 101 160 161 $root
		for pid in 200 201 202; do bcast $pid 120 161 1; done
	} | recording
	texts >text
	grep '^rank 1:1 was late to collective calls; others waited 196.000 ms for it, .*(last to 1 of 3)' text
	grep '^rank 0:1 was late to collective calls; others waited 120.000 ms for it, .*(last to 1 of 2)' text
	[ "$(wc -l <text)" = 2 ]
}

# Two parents spawn two children each at the same time. The arguments are members of the jobs k (pids 200, 201) and l (210, 211).
two_at_once() {
	{
		job j 100 2 2
		spawn 100 10 40 2 0 $self
		spawn 101 11 41 2 0 $self
		job k 200 2 20 "$1"
		job l 210 2 21 "$2"
		for pid in 200 201 210 211; do parent $pid 42 43; done
		send 100 44 45 1 7 # to a child of rank 0 …
		send 101 44 45 1 8 # … and of rank 1
		recv 201 44 45 0 8
		recv 211 44 45 0 7
	} | recording
}

@test "spawn: two calls at the same time are matched only if the callers are known" {
	two_at_once '"spawned_by":{}' '"spawned_by":{}'
	[ "$(matched)" = '[0,0,2,2]' ]
	[ "$(unknown)" = '{"other_program":4}' ]
	two_at_once '"spawned_by":{"job":"j","rank":1}' '"spawned_by":{"job":"j","rank":0}'
	[ "$(matched)" = '[2,2,0,0]' ]
	# Nor are they if the parents are not in the trace.
	two_at_once '"spawned_by":{"job":"x","rank":1}' '"spawned_by":{"job":"x","rank":0}'
	[ "$(matched)" = '[0,0,2,2]' ]
}

# Children name the job of a single parent as the launcher named it. If it had no launcher, they are known as the parent's descendants.
@test "spawn: the children's name for their parent's job differs from that job's own" {
	lone() { # MEMBERS-OF-PARENT STARTER-OF-CHILDREN
		{
			job j 100 1 2 "$1"
			spawn 100 10 40 1
			starter=$2 job k 200 1 20 '"spawned_by":{"job":"x","rank":0}'
			parent 200 42 43
			send 100 44 45 0 7
			recv 200 44 45 0 7
			cat
		} | recording
		matched
	}
	[ "$(lone '"launcher_job":"x"' 50 </dev/null)" = '[1,1,0,0]' ]
	[ "$(lone '"launcher":"singleton"' 100 </dev/null)" = '[1,1,0,0]' ]
	[ "$(lone '"launcher_job":"y"' 50 </dev/null)" = '[0,0,1,1]' ]
	[ "$(lone '"launcher":"singleton"' 50 </dev/null)" = '[0,0,1,1]' ]
	# Another process has inherited the name.
	[ "$(job l 300 1 30 '"launcher_job":"x"' | lone '"launcher_job":"x"' 50)" = '[0,0,1,1]' ]
}

@test "spawn: jobs that the call has not spawned do not belong to it" {
	local members
	# A job that was not spawned; one spawned by a rank that made no such call; one with another number of processes.
	for members in '"started":{}' '"spawned_by":{"job":"j","rank":1}' '"spawned_by":{},"size":4'; do
		{
			family "$members"
			send 100 44 45 2 7
			recv 202 44 46 0 7
		} | recording
		[ "$(matched)" = '[0,0,1,1]' ]
		[ "$(unknown)" = '{"other_program":2}' ]
	done
}

@test "spawn: one after the other, by the same handle; the first one failed" {
	{
		job j 100 1 2
		announced 100 5 9 Comm_spawn "0,0,1,0,0,$world,16,0" ret=1
		spawn 100 10 40 1
		job k 200 1 20 '"spawned_by":{}'
		call 100 60 70 Comm_disconnect 48 "in=0:i$inter"
		announced 100 80 120 Comm_spawn_multiple "1,0,0,0,0,0,$world,16,0" "out=7:i$inter"
		job l 210 1 90 '"spawned_by":{"job":"j","rank":0}'
		for i in 1 2 3; do send 100 4$i 5$i 0 7; done
		parent 200 42 43
		for i in 1 2 3; do recv 200 4$i 5$i 0 7; done
		parent 210 122 123
		send 100 130 131 0 7
		recv 210 130 131 0 7
	} | recording
	[ "$(matched)" = '[4,4,0,0]' ]
}

stuck() { # PID FROM FUNCTION ARGS [FIELDS]: when the recording ends
	call "$1" "$2" 1000 "$3" "$4" "$5" | sed "s/ts=1000000000/ts=999999999/; s/dur=[0-9]*/dur=$((999999999 - 1000000 * $2))/; s/\$/ flags=open/"
}
said() { jq -r '.at_end.sentences[].text' got; }

@test "spawn: a deadlock of ranks of two jobs, and a child that does not enter a collective call" {
	{
		family
		stuck 100 50 Recv "16,1,$int,1,7,$inter,1" tsize=2:4
		stuck 201 50 Recv "16,1,$int,0,7,$inter,1" tsize=2:4
	} | recording
	said | grep '^Deadlock: rank 0:0 in MPI_Recv at 0x1000 waits for a message from rank 1:1, .*; rank 1:1 in MPI_Recv .* from rank 0:0, '
	{
		family
		for pid in 100 101; do merge $pid 44 50 $((pid - 100)) 5; done
		for pid in 200 201 202; do merge $pid 44 50 $((pid - 198)) 5; done
		for pid in 100 101 200 202; do stuck $pid 60 Allreduce "16,32,1,$int,5,$merged" tsize=3:4; done
	} | recording
	said | grep '^Ranks 0:0, 0:1, 1:0, 1:2 are in MPI_Allreduce at 0x1000, call 1 on communicator 5 of 5 ranks; rank 1:1 has not called it: '
}
