#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace diff: runs made up so that every difference between them is known, in both forms.

load lib

setup() {
	begin
	need jq
	job before.pov 2 5000 19000 <<-END
		stream 1
		call ts=16010000 dur=10000 tid=201 tgid=201 func=4 cpu=1 args=0,0,0
	END
	job after.pov 2 8000 22000 <<-END
		stream 1
		waking ts=8990000 cpu=1 tid=201 target=7 target_cpu=1
		switch ts=9000000 cpu=1 prev=201 next=7 flags=preempted
		switch ts=12000000 cpu=1 prev=7 next=201 state=1
		call ts=15100000 dur=100000 tid=201 tgid=201 func=2 cpu=1 args=0x7f00,1,0x1000,0,8,0x2000 tsize=2:8
	END
}

# job FILE RANKS SEND_US END_US: ranks with pids 200 + rank, each on its own CPU, live from 1100 us to END_US. From 3000 us on, rank 0 waits
# for a message of 8 bytes, which rank 1 sends at SEND_US, in 100 us. stdin has more lines.
job() {
	local ranks=$2 send=$3 end=$4 i
	{
		echo 'meta {"type":"recording","abi":1,"start_ns":1000000,"config":{"sched":"all","rings":2,"cpus_per_ring":1,"groups":"default"}}'
		echo 'meta {"type":"host","hostname":"n","kernel":"6.1","machine":"x86_64","cpus":4}'
		grep '"type":"functions"\|"type":"library"' "$data/report_run.txt"
		for ((i = 0; i < ranks; i++)); do
			echo "meta {\"type\":\"process\",\"ts_ns\":1100000,\"pid\":$((200 + i)),\"exe\":\"/bin/app\",\"rank\":$i,\"size\":$ranks,\"job\":\"j\",\"libs\":[{\"id\":0,\"bias\":\"0x0\"}]}"
		done
		echo 'task ts=1000000 tid=50 tgid=50 state=1 cpu=3 comm=mpirun'
		echo 'task ts=1000000 tid=7 tgid=7 state=1 cpu=1 comm=daemon'
		for ((i = 0; i < ranks; i++)); do
			echo "fork ts=1100000 tid=50 child=$((200 + i)) tgid=$((200 + i)) parent_tgid=50 comm=app"
			echo "stream $i"
			echo "waking ts=1110000 tid=50 target=$((200 + i)) cpu=$i target_cpu=$i flags=new"
			echo "switch ts=1200000 cpu=$i prev=0 next=$((200 + i))"
			echo "call ts=1500000 dur=300000 tid=$((200 + i)) tgid=$((200 + i)) func=1 cpu=$i args=0,0"
		done
		echo 'stream 0'
		echo "call ts=$((send + 100))000 dur=$((send + 100 - 3000))000 tid=200 tgid=200 func=3 cpu=0 args=0x7f00,1,0x1000,1,7,0x2000,0x7ffe tsize=2:8"
		echo 'stream 1'
		echo "call ts=$((send + 100))000 dur=100000 tid=201 tgid=201 func=2 cpu=1 args=0x7f00,1,0x1000,0,7,0x2000 tsize=2:8"
		cat
		for ((i = 0; i < ranks; i++)); do
			echo "exit ts=${end}000 tid=$((200 + i)) tgid=$((200 + i)) code=0"
			echo "stream $i"
			echo "switch ts=${end}100 cpu=$i prev=$((200 + i)) next=0 state=128"
		done
		echo "end ts=$((end + 1000))000 reason=test"
	} | trace "${1%.pov}"
}

diff_of() { "$POVTRACE" diff "$@"; }

# two_hosts RUN RANKS: RUN1.pov with rank 0, and RUN2.pov with these, of another host.
two_hosts() {
	need python3
	sed -i '/"type":"host"/a meta {"type":"clocks","monotonic_ns":1000000,"boottime_ns":1000000,"realtime_ns":1700000000001000000}' $1.txt
	"$make" $1.txt $1.pov
	"$POVTRACE" info --dump $1.pov >all.txt
	"$tool/split_trace" 0 <all.txt | trace ${1}1
	"$tool/split_trace" "$2" node8 <all.txt | trace ${1}2
}

# A table by the beginning of its title; several blanks become one.
table() { awk -v t="$1" '!NF { on = 0 } index($0, t) == 1 || index($0, "  " t) == 1 { on = 1 } on' | tr -s ' '; }

@test "diff: changes in all tables, the largest first" {
	diff_of before.pov after.pov >got
	head -2 got | diff - <(cat <<-END
	  before  before.pov: recorded for 19.000 ms, 17.500 ms from MPI_Init to MPI_Finalize, 2 ranks, 4 CPUs
	  after   after.pov: recorded for 22.000 ms, 20.500 ms from MPI_Init to MPI_Finalize, 2 ranks, 4 CPUs
	END
	)
	diff <(table 'all ranks' <got) - <<-END
	 all ranks (ms) before after change %
	 wall, longest 17.90 20.90 +3.00 +16.8%
	 threads' lives 35.80 41.80 +6.00 +16.8%
	 running 35.60 38.60 +3.00 +8.4%
	 runnable 0.18 3.18 +3.00 +1667%
	 blocked 0.02 0.02 .
	 MPI 2.81 5.90 +3.09 +110%
	 polling 2.20 5.30 +3.10 +141%
	END
	diff <(table 'main threads' <got) - <<-END
	 main threads, Init to Finalize (ms) before after change %
	 time 35.00 41.00 +6.00 +17.1%
	 compute 32.79 32.70 -0.09 -0.3%
	 MPI work 0.01 0.00 -0.01 gone
	 MPI wait 2.20 5.30 +3.10 +141%
	 no core 0.00 3.00 +3.00 new
	 asleep 0.00 0.00 .
	END
	diff <(table Findings <got | head -4) - <<-END
	Findings: what ranks lost by waiting (ms)
	 kind cost before after change %
	 core_held_by_others - 3.000 +3.000 new
	 late_sender 2.000 5.000 +3.000 +150%
	END
	table Findings <got | grep -q '^ ! daemon (pid 7) held cores'
	diff <(table Ranks <got) - <<-END
	Ranks: main threads between MPI_Init and MPI_Finalize (ms after, and change)
	 rank time change compute change MPI work change MPI wait change no core change asleep change
	 0 20.50 +3.00 15.40 . 0.00 . 5.10 +3.00 0.00 . 0.00 .
	 1 20.50 +3.00 17.30 -0.09 0.00 -0.01 0.20 +0.10 3.00 +3.00 0.00 .
	END
	diff <(table Functions <got) - <<-END
	Functions (ms)
	 function calls before after change % total before after change %
	 MPI_Recv 1 1 . 2.100 5.100 +3.000 +143%
	 MPI_Send 1 2 +1 +100% 0.100 0.200 +0.100 +100%
	 MPI_Test 1 - -1 gone 0.010 - -0.010 gone
	 3 of 4 shown; nothing changed in the others.
	END
	diff <(table Messages <got) - <<-END
	Messages sent
	 class operations before after change % bytes before after change %
	 p2p 1 2 +1 +100% 8 B 16 B +8 B +100%
	END
}

@test "diff: JSON" {
	diff_of --json before.pov after.pov >got
	[ "$(jq -c '[.schema_version, .before.traces, .after.wall_ns, .ranks_compared]' got)" = '[1,["before.pov"],22000000,2]' ]
	[ "$(jq -c '[.all.change[]]' got)" = '[3000000,6000000,3000000,3000000,0,0,3090000,3100000]' ]
	[ "$(jq '.all.percent.polling_ns * 100 | round' got)" = 14091 ]
	[ "$(jq -c '[.findings[] | [.kind, .before.cost_ns, .after.cost_ns, .change.cost_ns, .percent.cost_ns]]' got)" = \
		'[["core_held_by_others",null,3000000,3000000,null],["late_sender",2000000,5000000,3000000,150]]' ]
	[ "$(jq -c '[.ranks[] | [.job, .rank, .before.pid, .change.mpi_ns, .change.runnable_ns]]' got)" = \
		'[[0,0,200,3000000,0],[0,1,201,90000,3000000]]' ]
	[ "$(jq -c '.between_init_and_finalize | [[.all.change[]], [.ranks[] | [.rank, .change.compute_ns, .change.no_core_ns]]]' got)" = \
		'[[6000000,-90000,-10000,3100000,0,3000000,0,0,0,0,0,0,3090000],[[0,0,0],[1,-90000,3000000]]]' ]
	[ "$(jq -c '[.functions[] | [.name, .layer, .change.calls, .change.total_ns]]' got)" = \
		'[["MPI_Recv","mpi",0,3000000],["MPI_Send","mpi",1,100000],["MPI_Test","mpi",-1,-10000],["MPI_Init","mpi",0,0]]' ]
	[ "$(jq -c '.functions[2].after' got)" = null ]
	[ "$(jq -c '[.messages[] | [.class, .change.count, .change.bytes]]' got)" = '[["p2p",1,8]]' ]
}

@test "diff: JSON has the same about each run as the report" {
	diff_of --json before.pov after.pov >got
	local rank='{wall_ns, thread_ns, running_ns, runnable_ns, blocked_ns, mpi_ns, polling_ns}'
	local main='{window_ns, compute_ns, mpi_work_ns, mpi_wait_ns, no_core_ns, asleep_ns}'
	for run in before after; do
		diff <(jq -S "{ranks: ([.ranks[] | [.rank, (.$run | $rank)]] | sort),
			main: ([.between_init_and_finalize.ranks[] | [.rank, (.$run | $main)]] | sort),
			functions: ([.functions[] | select(.$run) | [.name, .$run.calls, .$run.total_ns]] | sort),
			findings: ([.findings[] | select(.$run) | [.kind, .$run.cost_ns, .$run.text]] | sort)}" got) \
			<("$POVTRACE" report --json $run.pov | jq -S "{ranks: [.ranks[] | [.rank, $rank]],
			main: [.ranks[] | [.rank, (.between_init_and_finalize | $main)]],
			functions: ([.functions[] | [.name, .calls, .total_ns]] | sort),
			findings: ([.findings[] | [.kind, .cost_ns, .text]] | sort)}")
	done
}

@test "diff: the other way round all changes are the opposite" {
	diff_of --json before.pov after.pov | jq -S '[.. | objects | .change? // empty | .[]? | if . then . + 0 else . end]' >there
	diff_of --json after.pov before.pov | jq -S '[.. | objects | .change? // empty | .[]? | if . then 0 - . else . end]' >back
	[ "$(jq 'length > 20' there)" = true ]
	diff there back
	diff_of after.pov before.pov | grep -q '^  core_held_by_others *3.000 *- *-3.000 *gone$'
	diff_of after.pov before.pov | grep -q '^  gone: daemon (pid 7) held cores'
}

@test "diff: a run compared with itself" {
	diff_of before.pov before.pov >got
	[ "$(grep -c '^  nothing changed$' got)" = 2 ]
	no '[+-][0-9]' <got
	[ "$(diff_of --json before.pov before.pov | jq -c '[.. | objects | .change? // empty | .[]?] | unique')" = '[0]' ]
}

@test "diff: ranks that only one run has are left out, with a note" {
	job more.pov 4 8000 22000 </dev/null
	diff_of before.pov more.pov >got
	grep -q '^  Compared are the 2 ranks in both runs; left out: 0 ranks before, 2 ranks after\.$' got
	table 'all ranks' <got | grep -q "^ threads' lives 35.80 41.80 "
	table Functions <got | grep -q '^ 2 of 4 shown' # MPI_Init: two calls in both
	diff_of --json before.pov more.pov >got
	[ "$(jq -c '[.ranks_compared, .before.ranks, .after.ranks, .before.ranks_left_out, .after.ranks_left_out]' got)" = '[2,2,4,0,2]' ]
	[ "$(jq -c '[.ranks[].rank] | sort' got)" = '[0,1]' ]
	fails 1 'none of the ranks of --rank is in both runs: 0 only in before.pov, 1 only in more.pov' diff_of --rank 3 before.pov more.pov
	[ "$(diff_of --json --rank 1-3 before.pov more.pov | jq -c '[.ranks_compared, .after.ranks_left_out, .ranks[].rank]')" = '[1,2,1]' ]
}

@test "diff: runs without MPI" {
	for run in before after; do
		sed '/"type":"process"/d; /^call/d; s/^fork .*tid=50/meta {"type":"target","ts_ns":1000000,"pid":50,"cmdline":["x"]}\n&/' \
			$run.txt >none.txt
		"$make" none.txt none-$run.pov
	done
	diff_of none-before.pov none-after.pov >got
	grep -q '^  Neither run has an MPI process, so all recorded processes are compared\.$' got
	table 'all processes' <got | grep -q ' running 35.60 38.60 '
	fails 1 'no rank is in both runs: 2 only in before.pov, 0 only in none-after.pov' diff_of before.pov none-after.pov
}

@test "diff: values that losses affect are marked" {
	sed '/^end/i lost ts=20000000 since=19500000 cnt=3 ring=0 class=call' after.txt | trace lost
	diff_of before.pov lost.pov >got
	grep -q '^  LOST (after): records are missing' got
	table 'all ranks' <got | grep -q '^ MPI 2.81 ≥5.90 ~+3.09 ~+110%$'
	table 'all ranks' <got | grep -q '^ running 35.60 38.60 +3.00 +8.4%$'
	table Functions <got | grep -q '^ MPI_Test 1 - ~-1 gone ~\?'
	table Messages <got | grep -q '^ p2p 1 ≥2 ~+1 ~+100% 8 B ~16 B ~+8 B ~+100%$'
	[ "$(diff_of --json before.pov lost.pov | jq -c '[.before.incomplete, .after.incomplete, .ranks[0].before.incomplete, .ranks[0].after.incomplete]')" = \
		'[[],["call"],[],["call"]]' ]
	head -c $(($(stat -c %s after.pov) - 60)) after.pov >cut.pov
	diff_of before.pov cut.pov 2>/dev/null | grep -q '^  INCOMPLETE (after): the file is cut off'
	[ "$(diff_of --json before.pov cut.pov 2>/dev/null | jq .after.complete)" = false ]
}

@test "diff: runs that were not recorded alike" {
	sed 's/"sched":"all"/"sched":"off"/; s/"groups":"default"/"groups":"p2p"/; /^switch\|^waking/d' after.txt | trace off
	diff_of before.pov off.pov >got
	grep -q 'Recorded differently: --mpi was "default" before and "p2p" after' got
	grep -q 'Recorded differently: --sched was "all" before and "off" after' got
	table 'all ranks' <got | grep -q '^ running 35.60 - -$'
	[ "$(diff_of --json before.pov off.pov | jq -c '[.all.before.running_ns, .all.after.running_ns, .all.change.running_ns, .all.percent.running_ns]')" = \
		'[35600200,null,null,null]' ]
}

@test "diff: runs of several hosts" {
	two_hosts after 1
	diff_of before.pov -- after1.pov after2.pov >got
	grep -q '^  after   after1.pov after2.pov: ' got
	table Ranks <got | grep -q '^ 0 20.50 +3.00 15.40 . 0.00 . 5.10 +3.00 '
	run -2 diff_of before.pov after1.pov after2.pov
	run -2 diff_of before.pov -- after1.pov after1.pov
}

@test "diff: wrong usage, and files that are no traces" {
	run -2 diff_of
	fails 2 'diff: give two runs' diff_of before.pov
	run -2 diff_of -- before.pov after.pov
	run -2 diff_of before.pov --
	run -2 diff_of --rank x before.pov after.pov
	fails 1 'absent.pov' diff_of before.pov absent.pov
	run -1 diff_of absent.pov after.pov
	echo junk >junk.pov
	fails 1 'junk.pov' diff_of before.pov junk.pov
	run -1 bash -c '"$POVTRACE" diff before.pov after.pov >/dev/full'
}

@test "diff: one screen even with many ranks" {
	job many.pov 60 8000 22000 </dev/null
	job many2.pov 60 9000 23000 </dev/null
	diff_of many.pov many2.pov >got
	[ "$(wc -l <got)" -le 55 ]
	[ -z "$(sed 's/≥/>/g' got | awk 'length > 120')" ]
	table Ranks <got | grep -q '^ 6 of 60 shown, those that changed most; --top 0 shows all\.$'
	table Ranks <got | sed -n 3p | grep -q '^ 0 ' # waited for longest
	[ "$(diff_of --top 0 many.pov many2.pov | table Ranks | wc -l)" = 62 ]
}

diff_said() { # what the example in $line must have printed
	[ -s said ]
	case $line in
	*mpi_ns*) [ "$(cat said)" = 3090000 ] ;;
	*--rank*) [ "$(table Ranks <said | grep -c '^ [0-9]')" = 1 ] ;;
	esac
}

@test "diff: the examples in the help work" {
	for run in a b; do
		job $run.pov 6 8000 22000 </dev/null
		two_hosts $run 1,2,3,4,5
	done
	each_example diff diff_said
}
