#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace advise, on made-up runs of two ranks for which the gain of each setting can be calculated.

load lib
load two_ranks
needs jq

job() { # [one] [SETTINGS] <SCRIPT: with "one", both are on CPU 0
	local cpu=1 settings='{}'
	[ "${1-}" = one ] && cpu=0 && shift
	[ $# = 0 ] || settings=$1
	two_ranks
}
message() { echo "0x7f00,$1,0x4c000101,$2,7,0x44000000"; } # BYTES PEER

# Twenty rounds of 10 ms: rank 0 sends from 0 to 4.1 ms and enters the barrier at 8.1 ms; rank 1 receives from $1 us on and enters the
# barrier at 4.2 ms. Both leave it at 8.2 ms.
rounds() { # RECEIVE_US
	for ((i = 0; i < 20; i++)); do
		at=$((2000 + i * 10000))
		call 2 100 $at 4100 "$(message 65536 1)"
		call 5 100 $((at + 8100)) 100 0x44000000
		call 3 200 $((at + $1)) $((4100 - $1)) "$(message 65536 0),1"
		call 5 200 $((at + 4200)) 4000 0x44000000
	done
	finalize 202000
}

advise() { "$POVTRACE" advise --no-ask "$@"; }
of() { jq -c --arg s "$1" ".advice[] | select(.strategy == \$s) | $2" out.json; } # STRATEGY JQ

@test "sends that wait for their receives: the current limit, the exact gain, the setting that is advised" {
	{
		echo 'meta {"type":"image","dev":1,"ino":70,"path":"/usr/lib/libucp.so.0.0.0","build_id":"02"}'
		rounds 4000
	} | job '{"UCX_RNDV_THRESH":"8192"}' | trace run
	advise --json run.pov >out.json
	cat out.json
	# each round gains 3.9 ms, and 0.1 ms of the transfer, which goes on while rank 1 computes
	[ "$(of threshold '[.gain_high_ns, .evidence.messages, .evidence.waited_ns, .evidence.advised_bytes]')" = "[80000000,20,80000000,65536]" ]
	# less one more copy of 0.1 ms on both sides of each message
	[ "$(of threshold .gain_low_ns)" = 76000000 ]
	of threshold .setting | grep UCX_RNDV_THRESH
	advise run.pov | grep -F "! threshold: expected gain 0.076 to 0.080 s (38 to 40 % of the run)"
}

@test "receives that are posted first: no advice, and the list of what was examined" {
	rounds 0 | job | trace run
	advise run.pov >out
	cat out
	grep "No advice" out
	grep "threshold .*Messages above the eager limit made no rank wait" out
	grep "progress .*Once both sides had posted a message, no rank waited" out
	grep "^What to change instead (evidence: povtrace report)" out
	grep -A1 "^  2  Rank 0 computes while rank 1 waits (MPI_Barrier)" out | grep "→ Share the work before MPI_Barrier among the ranks\."
}

# Rank 0 posts a receive, computes for 4 ms and waits for it. Rank 1 is in its send all the time, and then computes for 4 ms before the
# barrier.
@test "a transfer that makes no progress while one side computes" {
	{
		for ((i = 0; i < 20; i++)); do
			at=$((2000 + i * 10000))
			call 21 100 $at 10 "$(message 1048576 1),0x7f40" "out=6/1:i738197505"
			call 2 200 $((at + 20)) 4080 "$(message 1048576 0)"
			call 22 100 $((at + 4000)) 100 0x7f40,1 "in=0/1:i738197505"
			call 5 100 $((at + 4200)) 4000 0x44000000
			call 5 200 $((at + 8100)) 100 0x44000000
		done
		finalize 202000
	} | job | trace run
	advise --json run.pov >out.json
	cat out.json
	[ "$(of progress '[.evidence.messages, .evidence.waited_ns]')" = "[20,79600000]" ]
	# In each round, rank 0 reaches the barrier 3.9 ms earlier (at 4.2 ms instead of 8.1), so that is the gain, not the 3.98 ms that
	# rank 1 waits.
	[ "$(of progress .gain_low_ns)" = 78000000 ]
	of progress .setting | grep MPI_Test
}

# Both ranks are on CPU 0, where they alternate every 2 ms; CPU 1 is idle. The launcher gave them CPUs $1 and $2; from 1.25 ms on they may
# use CPU 0 only.
turns() {
	echo "stream 1"
	echo "switch ts=1140000 cpu=1 prev=9 next=0 state=1"
	echo "affinity ts=1150000 tid=100 tgid=100 cpus=$1"
	echo "affinity ts=1150000 tid=200 tgid=200 cpus=$2"
	echo "affinity ts=1310000 tid=100 tgid=100 cpus=0"
	echo "affinity ts=1310000 tid=200 tgid=200 cpus=0"
	echo "stream 0"
	for ((i = 1; i <= 20; i++)); do
		from=100 to=200
		[ $((i % 2)) = 0 ] && from=200 to=100
		echo "switch ts=$((1200000 + i * 2000000)) cpu=0 prev=$from next=$to flags=preempted"
	done
	finalize 42000
}

@test "two ranks share a core while another core is idle" {
	turns 0 0 | job one | trace run
	advise --json run.pov >out.json
	cat out.json
	jq -e '.causes[0] | .kind == "core_held_by_rank" and .number == 1 and .by_setting and .cost_ns > 30e6 and .shorter_high_ns > 15e6' out.json
	jq -r '.causes[0].action' out.json | grep -- "-bind-to core:1"
}

@test "two ranks that moved to the same core without being bound" {
	turns 0 1 | job one | trace run
	advise run.pov >out
	cat out
	grep "No advice" out
	grep -A1 "^  1  Ranks took cores from each other" out | grep "→ Remove the program's own binding of these ranks to one CPU"
}

@test "where records are missing, no strategy gives advice, and causes are marked" {
	{
		echo "lost ts=30000000 since=20000000 cnt=7 ring=0 class=call"
		turns 0 0
	} | job one | trace run
	advise run.pov >out
	cat out
	grep "^Records are missing: .*\. No strategy gives advice" out
	grep -E "^  1  Ranks took cores from each other +~[0-9.]+ " out
	[ "$(advise --json run.pov | jq -c '[.advice, .distorted]')" = "[[],false]" ]
	advise --json run.pov | jq -e '.missing | length > 0'
}

# Two threads of each rank on two CPUs; three samples of four are in libgomp, an OpenMP runtime.
@test "more threads than cores, which wait busily" {
	{
		echo 'meta {"type":"image","dev":1,"ino":77,"path":"/usr/lib/libgomp.so.1.0.0","build_id":"01"}'
		for pid in 100 200; do
			cpu=$((pid / 200))
			echo "fork ts=1310000 tid=$pid child=$((pid + 1)) tgid=$pid parent_tgid=$pid comm=app"
			echo "image ts=1305000 tid=$pid tgid=$pid dev=1 ino=77 start=0x7f0000000000 len=0x10000 off=0"
			echo "affinity ts=1320000 tid=$pid tgid=$pid cpus=0-1"
			echo "affinity ts=1320000 tid=$((pid + 1)) tgid=$pid cpus=0-1"
			echo "stream $cpu"
			echo "waking ts=1311000 tid=$pid target=$((pid + 1)) cpu=$cpu target_cpu=$cpu flags=new"
			for ((i = 1; i <= 100; i++)); do
				from=$pid to=$((pid + 1))
				[ $((i % 2)) = 0 ] && from=$((pid + 1)) to=$pid
				echo "sample ts=$((1200000 + i * 2000000 - 1000)) tid=$from tgid=$pid ip=$([ $((i % 4)) = 0 ] && echo 0x1000 || echo 0x7f0000000100)"
				echo "switch ts=$((1200000 + i * 2000000)) cpu=$cpu prev=$from next=$to flags=preempted"
			done
		done
		finalize 202000
	} | job '{"OMP_NUM_THREADS":"2"}' | trace run
	advise --json run.pov >out.json
	cat out.json
	[ "$(of threads '[.evidence.threads, .evidence.ranks, .evidence.cpus, .evidence.samples, .evidence.samples_in_runtime]')" = "[4,2,2,200,150]" ]
	# 95 % of 150 of 200: 68.6 to 80.5 % (Wilson), of a run of 200.7 ms in which both CPUs computed
	jq -e '.run_ns as $run | .advice[] | select(.strategy == "threads") | (.gain_low_ns / $run * 1000 | round) == 686 and (.gain_high_ns / $run * 1000 | round) == 805' out.json
	of threads .setting | grep "OMP_NUM_THREADS=1 (it was 2)"
	# the strategy is printed with the cause that it removes, and nowhere else
	jq -e '.causes[0].kind == "core_held_by_own_thread" and (.advice | map(.cause)) == [1]' out.json
	advise run.pov >out
	cat out
	[ "$(grep -c OMP_NUM_THREADS=1 out)" = 1 ]
	sed -n '/^  1  Other threads of a rank/,/^$/p' out | grep "set: OMP_NUM_THREADS=1"
	no "^ ! threads" out
	no "^   threads " out
	advise --only threads run.pov | grep "^ ! threads: expected gain 0.138 to "
}

# Rank 1 computes with four more threads, on the core of its communicating thread, for which rank 0 waits. No sample lies in an OpenMP
# runtime.
@test "threads that take the core of the communicating thread: report and advise agree" {
	{
		for i in 1 2 3 4; do
			echo "fork ts=$((1310000 + i)) tid=200 child=$((200 + i)) tgid=200 parent_tgid=200 comm=app"
		done
		echo "stream 1"
		for i in 1 2 3 4; do
			echo "waking ts=$((1311000 + i)) tid=200 target=$((200 + i)) cpu=1 target_cpu=1 flags=new"
		done
		for ((i = 0; i < 50; i++)); do
			echo "sample ts=$((1200000 + i * 2000000 + 1000000)) tid=$((200 + i % 5)) tgid=200 ip=0x1000"
			echo "switch ts=$((3200000 + i * 2000000)) cpu=1 prev=$((200 + i % 5)) next=$((200 + (i + 1) % 5)) flags=preempted"
		done
		call 2 200 101300 100 "$(message 1024 0)"
		call 3 100 2000 99500 "$(message 1024 1),1"
		finalize 102000
	} | job | trace run
	advise run.pov >out
	"$POVTRACE" report run.pov >report
	cat out report
	no "No advice" out
	grep "^  1  Other threads of a rank took its main thread's core" out
	grep "→ Start fewer threads (OMP_NUM_THREADS): there are not two cores for each rank\." out
	# word for word
	[ "$(sed -n '/^  1  /,/→/p' out)" = "$(sed -n '/^  1  /,/→/p' report)" ]
	no "^   threads " out
}

# The advice on the report's first screen, as JSON.
first_screen() {
	"$POVTRACE" report --json "$1" | jq -c '([.efficiency[].span_ns] | max) as $run | ([.account.ranks | length, 1] | max) as $ranks |
		[.reasons[] | (.cost_ns / $ranks | floor) as $share |
		 select((if .kind | IN("transfer", "mpi_work", "file_io") then $share else .shorter_high_ns // $share end) * 100 >= $run)][:5]'
}
same_causes() {
	first_screen run.pov >want
	advise --json run.pov | jq -c '.causes | map(del(.number))' >got
	diff want got
	n=$((n + $(jq length got)))
}

@test "advise has the causes of the report's first screen, with the same members, for every recording" {
	local seed script n=0
	for script in "$data"/report_run.txt "$data"/export_*.txt; do
		echo "$script"
		"$make" "$script" run.pov
		same_causes
	done
	for seed in $(seq ${POV_RANDOM_FROM:-1} ${POV_RANDOM_TO:-6}); do
		echo "seed $seed"
		"$tool/random_trace" "$seed" | trace run
		same_causes
	done
	echo "$n causes"
	[ $n -gt 5 ]
}

@test "a single strategy; unknown strategies, and missing files" {
	rounds 4000 | job | trace run
	[ "$(advise --only mapping --json run.pov | jq -c '[.causes, .advice[].strategy, .none[].strategy]')" = '[[],"mapping"]' ]
	run -2 advise --only nothing run.pov
	[[ "$output" == *'no strategy is called "nothing"; these exist:'* && "$output" == *mapping* ]]
	advise --only mapping run.pov >out
	no "cause" out
	run -1 advise missing.pov
	[[ "$output" == *missing.pov* ]]
	run -2 advise
	[[ "$output" == *"give a trace file"* ]]
}

@test "without the scheduler, and without messages" {
	sed 's/"sched":"all"/"sched":"off"/' <(rounds 0 | job) | grep -v ^switch | trace run
	advise run.pov | grep "^The scheduler was not recorded: who had cores is unknown\.$"
	{ finalize 202000; } | job | trace run
	advise run.pov | grep "threshold .*No message was sent, or none was matched"
}
