# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Made-up runs with a known truth, as scripts for povmake. Loaded after lib.

# A job of $1 ranks with pids 100, 200, …, each on its own CPU; MPI_Init ends at 2 ms. stdin has the ranks' calls, and the run ends at $2
# us. $regions: names of regions. $early: prints what rank $1 does before MPI_Init. For one node of a job on several: $node is its name,
# $first the number of its first rank, $world the number of all ranks.
ranks() { # RANKS END_US <SCRIPT
	local i
	cat <<-E
		meta {"type":"recording","abi":1,"start_ns":1000000,"argv":["mpiexec","./app"],"config":{"sched":"all","irq":false,"rings":$1,"cpus_per_ring":1,"regions":[${regions-}]}}
		meta {"type":"clocks","monotonic_ns":1000000,"boottime_ns":1000000,"realtime_ns":1700000000001000000}
		meta {"type":"host","hostname":"${node-n}","kernel":"6.1","machine":"x86_64","cpus":$1}
		meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Init","group":"init","attrs":"INIT","sig":"argc:ptr argv"},{"id":2,"name":"MPI_Send","group":"p2p","attrs":"WAIT","sig":"buf count dtype dest tag comm"},{"id":3,"name":"MPI_Recv","group":"p2p","attrs":"WAIT","sig":"buf count dtype source tag comm >status"},{"id":5,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"},{"id":6,"name":"MPI_Bcast","group":"coll","attrs":"WAIT","sig":"buf count dtype root comm"},{"id":11,"name":"MPI_Irecv","group":"p2p","attrs":"NONE","sig":"buf count dtype source tag comm >req"},{"id":12,"name":"MPI_Test","group":"req","attrs":"POLL","sig":"<>req >flag >status"},{"id":8,"name":"MPI_Iprobe","group":"p2p","attrs":"POLL","sig":"source tag comm >flag >status"},{"id":15,"name":"MPI_Neighbor_alltoall","group":"neigh","attrs":"WAIT","sig":"sendbuf scount sdtype recvbuf rcount rdtype comm"},{"id":13,"name":"MPI_File_open","group":"io","attrs":"WAIT","sig":"comm filename amode info >file"},{"id":14,"name":"MPI_File_write_all","group":"io","attrs":"WAIT","sig":"file buf count dtype >status"},{"id":16,"name":"MPI_Waitall","group":"req","attrs":"WAIT","sig":"count <>req[count] >status[count]"},{"id":17,"name":"MPI_Comm_dup","group":"comm","attrs":"WAIT|COPY","sig":"comm >newcomm"},{"id":9,"name":"MPI_Finalize","group":"init","attrs":"FINAL","sig":""},{"id":10,"name":"MPI_Pcontrol","group":"init","attrs":"NONE","sig":"level mark mark2 mark3 mark4"}]}
		meta {"type":"library","id":1,"path":"/nowhere/libmpich.so.12","build_id":"00","dev":1,"ino":7,"flavour":"mpich","version":"4.0.2","layout":{"handle_bytes":4,"status_bytes":20,"type_in_handle":true,"undefined":-32766},"named":[["MPI_COMM_WORLD","0x44000000",0],["MPI_CHAR","0x4c000101",1]],"link":"uprobe_multi","attached":8,"missing":[],"failed":[],"emulated":8,"stepped":0}
	E
	for ((i = 0; i < $1; i++)); do
		echo "meta {\"type\":\"process\",\"ts_ns\":1000000,\"pid\":$((100 * i + 100)),\"exe\":\"/bin/app\",\"cmdline\":[\"./app\"],\"rank\":$((i + ${first-0})),\"size\":${world-$1},\"job\":\"j\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}"
	done
	for ((i = 0; i < $1; i++)); do
		echo "fork ts=$((1000100 + i)) tid=1 child=$((100 * i + 100)) tgid=$((100 * i + 100)) parent_tgid=1 comm=app"
	done
	for ((i = 0; i < $1; i++)); do
		echo "stream $i"
		echo "switch ts=$((1000200 + i)) cpu=$i prev=0 next=$((100 * i + 100))"
		[ -z "${early-}" ] || "$early" "$i"
		call 1 "$i" 1900 100
	done
	cat
	for ((i = 0; i < $1; i++)); do
		call 9 "$i" "$2" 10
	done
	echo "end ts=$((($2 + 20) * 1000)) reason=test"
}

# call FUNCTION RANK BEGIN_US DURATION_US [ARGUMENTS] [OUTPUTS]
call() {
	echo "stream $2"
	echo "call ts=$((($3 + $4) * 1000)) dur=$(($4 * 1000)) tid=$((100 * $2 + 100)) tgid=$((100 * $2 + 100)) func=$1 cpu=$2 lib=1 args=${5-0,0}${6:+ $6}"
}
barrier() { call 5 "$1" "$2" "$3" 0x44000000; }                       # RANK BEGIN_US DURATION_US
bcast() { call 6 "$1" "$2" "$3" 0x7f00,8,0x4c000101,0,0x44000000; }   # the root is rank 0
send() { call 2 "$1" "$2" "$3" "0x7f00,8,0x4c000101,$4,7,0x44000000"; } # … TO
neighbours() { call 15 "$1" "$2" "$3" 0x7f00,8,0x4c000101,0x7e00,8,0x4c000101,0x44000000; }
file_open() { call 13 "$1" "$2" "$3" 0x44000000,0x7f00,1,0,0x7e00 out=4:0x7c00; }
file_write() { call 14 "$1" "$2" "$3" 0x7c00,0x7f00,8,0x4c000101,1; }
recv() { call 3 "$1" "$2" "$3" "0x7f00,8,0x4c000101,$4,7,0x44000000,1"; }

# adds_up JSON: the classes add up to each rank's time, the ranks to all of it, the causes to all that was lost.
adds_up() {
	jq -e 'def classes: with_entries(select(.key | endswith("_ns") and . != "total_ns")) | add;
		(.account | del(.ranks)) as $all | $all.total_ns == ($all | classes) and
		all(.account.ranks[]; .total_ns == classes) and
		([.account.ranks[].total_ns] | add // 0) == $all.total_ns and
		([.account.ranks[] as $r | .ranks[] | select(.pid == $r.pid) | .between_init_and_finalize.window_ns == $r.total_ns - $r.apart_ns] | all) and
		([.reasons[].cost_ns] | add // 0) == $all.total_ns - $all.computing_ns - $all.outside_ns and
		all(.reasons[]; .cost_ns == .own_ns + .waited_ns) and
		([.reasons[].waited_ns] | add // 0) == $all.waiting_ns' "$1" >/dev/null
}

# parts_hold JSON: in each phase and region, no factor is above 1, and the product of the factors is right.
parts_hold() {
	jq -e '.region_efficiency | all(
		(.load_balance == null or (.load_balance * .communication_efficiency - .parallel_efficiency | fabs < 1e-12)) and
		(.transfer_efficiency == null or (.serialisation_efficiency * .transfer_efficiency - .communication_efficiency | fabs < 1e-12)) and
		([.load_balance, .serialisation_efficiency, .transfer_efficiency, .parallel_efficiency, .inside, .had_core] | all(. == null or (. >= 0 and . <= 1 + 1e-12))) and
		(.inside * .ranks * .span_ns - .inside_ns | fabs < 0.5) and
		.outside_ns <= .inside_ns)' "$1" >/dev/null
}

# account_of FILE: leaves its report in json. It adds up, and no call took more than all calls together.
account_of() {
	"$POVTRACE" report --json "$1" >json
	adds_up json
	jq -e 'all(.reasons[]; .mostly_in == null or .mostly_in.ns <= .own_ns)' json >/dev/null
}

# screen NAME [OPTION…]: NAME.pov, made from stdin. Its report is in got, and without line breaks in line; its JSON is in json, and adds up.
screen() {
	trace "$1"
	"$POVTRACE" report "${@:2}" "$1.pov" >got
	cat got
	tr -s ' \n' ' ' <got >line
	account_of "$1.pov"
}

# Another program has the core of rank 0 for half of the 0.8 s that rank 0 needs before it sends.
bystander() {
	echo "task ts=1900000 tid=2745 tgid=2745 state=1 cpu=0 comm=bystander"
	echo "stream 0"
	echo "waking ts=2100000 tid=100 target=2745 cpu=0 target_cpu=0"
	echo "switch ts=202000000 cpu=0 prev=100 next=2745 flags=preempted"
	echo "switch ts=602000000 cpu=0 prev=2745 next=100 state=1"
	send 0 802000 100 1
	recv 1 2010 800100 0
}
