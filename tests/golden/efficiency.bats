#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The first screen's account, efficiencies and causes, on made-up runs of which the truth is known.

load lib

setup() {
	begin
	need jq
}

# A job of $1 ranks, pids 100, 200, …, each on a CPU of its own; MPI_Init ends at 1 ms. Their calls are on stdin, the end at $2 us.
ranks() { # RANKS END_US <SCRIPT
	local i
	cat <<-E
		meta {"type":"recording","abi":1,"start_ns":1000000,"argv":["mpiexec","./app"],"config":{"sched":"all","irq":false,"rings":$1,"cpus_per_ring":1}}
		meta {"type":"host","hostname":"n","kernel":"6.1","machine":"x86_64","cpus":$1}
		meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Init","group":"init","attrs":"INIT","sig":"argc:ptr argv"},{"id":2,"name":"MPI_Send","group":"p2p","attrs":"WAIT","sig":"buf count dtype dest tag comm"},{"id":3,"name":"MPI_Recv","group":"p2p","attrs":"WAIT","sig":"buf count dtype source tag comm >status"},{"id":5,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"},{"id":6,"name":"MPI_Bcast","group":"coll","attrs":"WAIT","sig":"buf count dtype root comm"},{"id":9,"name":"MPI_Finalize","group":"init","attrs":"FINAL","sig":""}]}
		meta {"type":"library","id":1,"path":"/nowhere/libmpich.so.12","build_id":"00","dev":1,"ino":7,"flavour":"mpich","version":"4.0.2","layout":{"handle_bytes":4,"status_bytes":20,"type_in_handle":true,"undefined":-32766},"named":[["MPI_COMM_WORLD","0x44000000",0],["MPI_CHAR","0x4c000101",1]],"link":"uprobe_multi","attached":8,"missing":[],"failed":[],"emulated":8,"stepped":0}
	E
	for ((i = 0; i < $1; i++)); do
		echo "meta {\"type\":\"process\",\"ts_ns\":1000000,\"pid\":$((100 * i + 100)),\"exe\":\"/bin/app\",\"cmdline\":[\"./app\"],\"rank\":$i,\"size\":$1,\"job\":\"j\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}"
	done
	for ((i = 0; i < $1; i++)); do
		echo "fork ts=$((1000100 + i)) tid=1 child=$((100 * i + 100)) tgid=$((100 * i + 100)) parent_tgid=1 comm=app"
	done
	for ((i = 0; i < $1; i++)); do
		echo "stream $i"
		echo "switch ts=$((1000200 + i)) cpu=$i prev=0 next=$((100 * i + 100))"
		call 1 "$i" 1900 100
	done
	cat
	for ((i = 0; i < $1; i++)); do
		call 9 "$i" "$2" 10
	done
	echo "end ts=$((($2 + 20) * 1000)) reason=test"
}

# call FUNCTION RANK BEGIN_US DURATION_US [ARGUMENTS]
call() {
	echo "stream $2"
	echo "call ts=$((($3 + $4) * 1000)) dur=$(($4 * 1000)) tid=$((100 * $2 + 100)) tgid=$((100 * $2 + 100)) func=$1 cpu=$2 lib=1 args=${5-0,0}"
}
barrier() { call 5 "$1" "$2" "$3" 0x44000000; }                       # RANK BEGIN_US DURATION_US
bcast() { call 6 "$1" "$2" "$3" 0x7f00,8,0x4c000101,0,0x44000000; }   # the root is rank 0
send() { call 2 "$1" "$2" "$3" "0x7f00,8,0x4c000101,$4,7,0x44000000"; } # … TO
recv() { call 3 "$1" "$2" "$3" "0x7f00,8,0x4c000101,$4,7,0x44000000,1"; }

# is FILE LOAD_BALANCE SERIALISATION TRANSFER PARALLEL: within a hundredth
is() {
	"$POVTRACE" report --json "$1" >got
	jq -c '.efficiency[0]' got
	jq -e --argjson w "[$2,$3,$4,$5]" '.efficiency[0] | .path_is_whole and
		([[.load_balance, .serialisation_efficiency, .transfer_efficiency, .parallel_efficiency], $w] | transpose |
		all(.[0] - .[1] | fabs < 0.01)) and
		(.load_balance * .serialisation_efficiency * .transfer_efficiency - .parallel_efficiency | fabs < 0.000001)' got
	adds_up got
}

# adds_up JSON: classes to each rank's time, ranks to all of it, causes to all that was lost.
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

@test "efficiency: ranks that compute alike" {
	{ barrier 0 12000 10; barrier 1 12000 10; } | ranks 2 12020 | trace two
	is two.pov 1 1 1 1
}

@test "efficiency: rank r computes 1 + 2 r units" {
	local n i
	for n in 2 4; do
		for ((i = 0; i < n; i++)); do
			barrier $i $((2000 + 10000 * (1 + 2 * i))) $((10000 * 2 * (n - 1 - i) + 1))
		done | ranks $n $((2000 + 10000 * (2 * n - 1) + 10)) | trace imbalance
		case $n in
		2) is imbalance.pov 0.6667 1 1 0.6667 ;;
		4) is imbalance.pov 0.5714 1 1 0.5714 ;;
		esac
	done
}

@test "efficiency: each rank computes when it has received from the one before" {
	local n i
	for n in 2 4; do
		for ((i = 0; i < n; i++)); do
			[ $i = 0 ] || recv $i 2000 $((10000 * i + 2)) $((i - 1))
			[ $i = $((n - 1)) ] || send $i $((2000 + 10000 * (i + 1))) 2 $((i + 1))
			barrier $i $((2000 + 10000 * (i + 1) + 4)) $((10000 * (n - 1 - i) + 1))
		done | ranks $n $((2000 + 10000 * n + 10)) | trace chain
		case $n in
		2) is chain.pov 1 0.5 1 0.5 ;;
		4) is chain.pov 1 0.25 1 0.25 ;;
		esac
	done
}

@test "efficiency: a broadcast's root is late: ranks compute one after the other" {
	{
		bcast 0 12000 2
		bcast 1 2000 10002
		barrier 0 12003 10000
		barrier 1 22002 1
	} | ranks 2 22010 | trace root
	is root.pov 1 0.5 1 0.5
}

@test "efficiency: a broadcast's leaf is late: the library made the root wait, nothing else did" {
	{
		bcast 0 2000 10002
		bcast 1 12000 2
		barrier 0 22002 2
		barrier 1 12003 10001
	} | ranks 2 22010 | trace blocks
	is blocks.pov 1 1 0.5 0.5
	{
		bcast 0 2000 2
		bcast 1 12000 2
		barrier 0 12002 2
		barrier 1 12003 1
	} | ranks 2 12010 | trace goes_on
	is goes_on.pov 1 1 1 1
}

# A stranger takes the core of rank 0 for half of the 0.8 s that it needs until it sends.
bystander() {
	echo "task ts=1900000 tid=2745 tgid=2745 state=1 cpu=0 comm=bystander"
	echo "stream 0"
	echo "waking ts=2100000 tid=100 target=2745 cpu=0 target_cpu=0"
	echo "switch ts=202000000 cpu=0 prev=100 next=2745 flags=preempted"
	echo "switch ts=602000000 cpu=0 prev=2745 next=100 state=1"
	send 0 802000 100 1
	recv 1 2010 800100 0
}

@test "screen: each loss once, at its root: a stranger on a rank's core" {
	bystander | ranks 2 802200 | trace run
	"$POVTRACE" report run.pov >got
	cat got
	same_as "$data/screen_bystander.out" got
	[ "$(wc -l <got)" -le 30 ]
	no '.\{101\}' <(LC_ALL=C.UTF-8 sed 's/[^ -~]/?/g' got)
	"$POVTRACE" report --json run.pov >json
	adds_up json
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .pid == 2745 and .own_ns == 400000000 and .waited_ns == 400000000 and
		.shorter_by == "replay" and .shorter_low_ns == 400000000 and .shorter_high_ns == 400000000' json
	jq -e '.efficiency[0].had_core - 0.5 | fabs < 0.01' json
}

# The same by two processes of one program, one after the other.
@test "screen: many processes of a program are to blame together" {
	{
		for tid in 2745 2746; do echo "task ts=1900000 tid=$tid tgid=$tid state=1 cpu=0 comm=cc1"; done
		echo "stream 0"
		echo "waking ts=2100000 tid=100 target=2745 cpu=0 target_cpu=0"
		echo "waking ts=2200000 tid=100 target=2746 cpu=0 target_cpu=0"
		echo "switch ts=202000000 cpu=0 prev=100 next=2745 flags=preempted"
		echo "switch ts=302000000 cpu=0 prev=2745 next=2746 state=1"
		echo "switch ts=602000000 cpu=0 prev=2746 next=100 state=1"
		send 0 802000 100 1
		recv 1 2010 800100 0
	} | ranks 2 802200 | trace run
	"$POVTRACE" report run.pov >got
	grep '^  1  `cc1` (2 processes) had cores that ranks needed  *0.80  *0.40 s$' got
	grep '^     Rank 0 had no core for 0.40 s, most while `cc1` (pid 2746) ran on CPU 0' got
	"$POVTRACE" report --json run.pov >json
	adds_up json
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .pid == null and .processes == 2 and .own_ns == 400000000 and
		.waited_ns == 400000000 and .shorter_low_ns == 400000000 and .shorter_high_ns == 400000000' json
}

@test "screen: --min chooses, --all shows all" {
	bystander | ranks 2 802200 | trace run
	"$POVTRACE" report --min 30 run.pov >got
	[ "$(grep -c '^  [0-9]  ' got)" = 1 ]
	"$POVTRACE" report --all run.pov >got
	grep -q '^Findings: ' got
	grep -q '^Main threads ' got
	no 'smaller cause' <got
	"$POVTRACE" report --findings run.pov | grep '! .*bystander (pid 2745) held cores that ranks wanted'
}

@test "account: a call that had not returned at the end has a class of its own" {
	{
		recv 1 3000 17000 0 | sed 's/$/ flags=open/; s/^\(stream.*\) flags=open/\1/'
	} | ranks 2 20000 | sed '/func=9 /d' | trace open
	"$POVTRACE" report --json open.pov >json
	adds_up json
	jq -e '.account.open_ns == 17000000 and (.reasons[] | select(.kind == "open_call") | .cost_ns) == 17000000' json
}

@test "account: adds up on whatever a recording has" {
	local seed script
	for script in "$data"/report_run.txt "$data"/traffic_run.txt "$data"/export_*.txt; do
		"$make" "$script" run.pov
		"$POVTRACE" report --json run.pov >got
		adds_up got
	done
	for seed in $(seq ${POV_RANDOM_FROM:-1} ${POV_RANDOM_TO:-6}); do
		echo "seed $seed"
		"$tool/random_trace" "$seed" | trace run
		"$POVTRACE" report --json run.pov >got
		adds_up got
	done
}
