#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Findings, and sentences about what was not found, on made-up runs with a known truth.

load lib
load two_ranks
needs jq

job() { two_ranks "$@"; }
barrier() { call 5 "$1" "$2" "$3" 0x44000000; } # PID BEGIN_US DURATION_US
kinds() { "$POVTRACE" report --json "$1" | jq -c '[.findings[].kind] | sort'; }
text_of() { "$POVTRACE" report --json "$2" | jq -r --arg k "$1" '.findings[] | select(.kind == $k) | .text'; } # KIND FILE

# Rank 0 polls every 0.5 ms for a message that rank 1 never sends; both compute for 100 ms and meet in a barrier.
polls() { # CNT
	echo "stream 0"
	echo "spin ts=102000000 dur=100000000 tid=100 tgid=100 cpu=0 funcs=4:$1:$(($1 * 300)):0:1"
	barrier 100 102000 100
	barrier 200 102000 100
	finalize 103000
}

@test "findings: time between polls that are far apart is computation, in the table and in findings" {
	polls 200 | job | trace apart
	[ "$(kinds apart.pov)" = '[]' ]
	"$POVTRACE" report --json apart.pov | jq -e '[.ranks[].between_init_and_finalize.compute_ns] | (.[0] - .[1] | fabs) < 100000'
	# 4 us apart: rank 0 waits, and computed 0.7 ms in all
	polls 25000 | job | trace near
	text_of compute_imbalance near.pov | grep '^rank 1 computed 101.600 ms, 1.97 times the mean .*; rank 0 least: 1.600 ms)'
	[ "$("$POVTRACE" report --json near.pov | jq -c '[.ranks[].between_init_and_finalize.compute_ns]')" = '[1600000,101600000]' ]
}

@test "findings: what a late rank did meanwhile is shown as a share of the waiting" {
	{
		echo "task ts=1200000 tid=300 tgid=300 state=1 cpu=1 comm=hog"
		echo "stream 1"
		echo "waking ts=31300000 tid=200 target=300 cpu=1 target_cpu=1"
		echo "switch ts=31300000 cpu=1 prev=200 next=300 flags=preempted"
		echo "switch ts=41300000 cpu=1 prev=300 next=200 state=1"
		barrier 100 1300 40100
		barrier 200 41300 100
		finalize 42000
	} | job | trace late
	text_of late_in_collective late.pov |
		grep "^rank 1 was late .* 40.000 ms.*; meanwhile it computed: 75 %, had no core: 25 % (hog (pid 300) had it)$"
}

# Rank 1 sends 8 bytes and then waits in a collective that rank 0, which computes or sleeps, never calls.
hangs() { # [SCRIPT_LINE…]
	barrier 100 1300 100
	barrier 200 1300 100
	printf '%s\n' "$@"
	call 6 200 1500 98500 0x7f00,0x7f10,8,0x4c000101,0x58000003,0x44000000 flags=open
	ends 100000
}

@test "findings: calls that have not returned have no balance" {
	hangs "stream 0" "switch ts=1600000 cpu=0 prev=100 next=0 state=1" | job | trace asleep
	[ "$(kinds asleep.pov)" = '[]' ]
	hangs | job | trace computing
	[ "$(kinds computing.pov)" = '[]' ]
	# the same call, if it returned
	hangs | sed 's/ flags=open//' | job | trace returned
	[ "$(kinds returned.pov)" = '["compute_imbalance"]' ]
}

# Rank 1 makes a thousand calls of MPI_Allreduce with BYTES, 100 us each; rank 0 makes none.
one_way() { # BYTES
	echo "repeat 1000 step=200000 {"
	call 6 200 2000 100 "0x7f00,0x7f10,$1,0x4c000101,0x58000003,0x44000000"
	echo "}"
	finalize 202000
}

@test "findings: few bytes do not explain a rank's time in MPI" {
	one_way 65536 | job | trace many
	text_of communication_imbalance many.pov | grep '^rank 1 sent and received 125 MiB, 2.00 times the mean'
	one_way 8 | job | trace few
	[ "$(kinds few.pov)" = '["compute_imbalance"]' ]
}

# Rank 1 puts something into the memory of rank 0 at 2 ms, and synchronises by $1 from 3 ms until $2 us. Rank 0 calls MPI at $3 us.
passive() { # SYNCHRONISE UNTIL_US CALLS_US [LOCK]
	call 10 100 1400 100 0,64,8,0,0x44000000,0x9200 out=5:i1610612736
	call 10 200 1400 100 0,64,8,0,0x44000000,0x9200 out=5:i1610612736
	if [ "$1" = flush_all ]; then
		call 12 200 2000 1 0,0x60000000
	else
		call 11 200 2000 1 "${4-235},0,0,0x60000000"
	fi
	call 13 200 2100 1 0x7f00,8,0x4c000101,0,0,8,0x4c000101,0x60000000
	case $1 in
	flush) call 14 200 3000 $(($2 - 3000)) 0,0x60000000 ;;
	flush_all) call 15 200 3000 $(($2 - 3000)) 0x60000000 ;;
	unlock) call 16 200 3000 $(($2 - 3000)) 0,0x60000000 ;;
	esac
	barrier 100 "$3" $((104000 - $3))
	barrier 200 103900 100
	finalize 105000
}

@test "findings: an access that waits for its target to call MPI, by each synchronisation of passive targets" {
	for how in flush flush_all unlock; do
		passive $how 103010 103000 | job | trace passive
		text_of late_progress passive.pov | tee text
		grep -q "^ranks waited 100.000 ms to access memory of rank 0, which was outside MPI until then: rank 1 100.000 ms (1 time, most 100.000 ms in MPI_Win_$how at 0.002 s); meanwhile it computed: 100 %$" text
		[ "$("$POVTRACE" report --json passive.pov | jq -c '[.ranks[].waits.late_progress_ns]')" = '[0,100000000]' ]
	done
	"$POVTRACE" report --json passive.pov | jq -r '.findings[].advice' | grep -q 'call MPI_Iprobe now and then .*MPIR_CVAR_ASYNC_PROGRESS=1'
	# rank 0 also computes longer, but sharing its work would not help
	"$POVTRACE" report --json passive.pov | jq -e '.reasons[0] | (.text | test("^Rank 0 computes while rank 1 waits to access its memory .MPI_Win_unlock.$")) and
		(.action | test("^Call MPI_Iprobe now and then")) and .shorter_by == "limit"'
	# rank 1's call lasted long after the target had called; it returned before that; the target was in MPI all the time
	for times in "120000 60000" "50000 103000" "103010 2500"; do
		passive flush $times | job | trace not
		[ "$(kinds not.pov | grep -c late_progress)" = 0 ]
	done
	# perhaps it waited for rank 0 nevertheless
	passive flush 50000 103000 | job | trace perhaps
	"$POVTRACE" report --json perhaps.pov | jq -e '.reasons[0] | (.text | test("^Rank 0 computes longer; rank 1 may wait for it .MPI_Win_flush.$")) and
		(.action | test("^Call MPI_Iprobe now and then"))'
}

# Sentences that say that nothing was found: they speak only of what was examined.
first() { "$POVTRACE" report --findings "$@" | tr -s ' \n' ' '; }

@test "findings: none, with the list of what was examined and what was not" {
	quiet() {
		barrier 100 2000 100
		barrier 200 2000 100
	}
	{ quiet; finalize 50000; } | job | trace quiet
	first quiet.pov >got
	grep -q 'No finding of 1.000 ms or more.' got
	grep -q ' · nothing lost' got
	no 'Not examined\|Lateness unknown' <got
	# the scheduler
	sed 's/"sched":"all"/"sched":"off"/; /^switch\|^waking/d' quiet.txt | trace off
	first off.pov | grep -q 'Not examined: who had cores, because the scheduler was not recorded\.'
	sed 's/"sched":"all"/"sched":"ranks"/' quiet.txt | trace some
	first some.pov | grep -q 'Not examined: who had cores, because only switches of recorded processes were recorded\.'
	# records
	sed '/^end/i lost ts=30000000 since=20000000 cnt=7 ring=0 class=call' quiet.txt | trace lost
	first lost.pov >got
	grep -q 'Not examined, because records are missing: load balance, and progress of one-sided' got
	grep -q ' · records lost' got
	# a message that nobody receives, and a call that has not returned
	{
		quiet
		call 2 100 3000 10 0x7f00,8,0x4c000101,1,7,0x44000000
		call 5 200 4000 46000 0x44000000 flags=open
		ends 50000
	} | job | trace hang
	first hang.pov >got
	grep -q 'Lateness unknown: 1 of 1 send or receive, which were not matched (--messages)\.' got
	grep -q 'Not examined: 46.000 ms in calls that had not returned at the end\.' got
}

@test "report: processes shown without any recorded call have a note" {
	{ ends 50000; } | job | sed '/^call.* tid=100 /d' | trace one
	"$POVTRACE" report --callsite --functions --rank 0 one.pov >got
	grep -q '^Functions: no MPI call of the ranks shown was recorded$' got
	grep -q '^  No MPI call of the processes shown was recorded\.$' got
	"$POVTRACE" report --functions one.pov | no 'no MPI call'
}

advised() { "$POVTRACE" advise --no-ask "$@" | tr -s ' \n' ' '; }

@test "advise: it denies only what it has examined" {
	passive flush 103010 103000 | job | trace passive
	advised passive.pov >got
	grep -q 'No advice: no setting is sure to gain 1 % of the run\.' got
	grep -q 'progress Ranks waited 100.000 ms to access memory of ranks that were outside MPI. What avoiding this gains is not computed. .* call MPI_Iprobe' got
	grep -q 'progress Once both sides had posted a message, no rank waited because its peer was outside MPI.' got
	grep -q 'threshold No message was sent, or none was matched with its receive' got
	grep -q 'mapping With fewer than three ranks, exchanging their places changes nothing' got
	grep -q 'threads No rank had more computing threads than CPUs (counted if they computed for 1/4 of the run)' got
	# where nothing was recorded, nothing is denied
	sed 's/"sched":"all"/"sched":"off"/; /^switch\|^waking/d' passive.txt | trace off
	advised off.pov >got
	grep -q 'threads Which threads computed is unknown: the scheduler was not recorded (record --sched)' got
	grep -q 'The scheduler was not recorded: who had cores is unknown\.' got
	sed '/"process"/d; /^call/d' passive.txt | trace nobody
	[ "$(advised nobody.pov)" = 'No MPI process was recorded, so there is nothing to advise. ' ]
}

# Both ranks are on CPU 0, where they alternate every 2 ms; CPU 1 is idle. The launcher gave them CPUs $1 and $2; from 1.31 ms on they may
# use CPU 0 only.
turns() { # CPUS CPUS SED_SCRIPT
	{
		echo "stream 1"
		echo "switch ts=1140000 cpu=1 prev=9 next=0 state=1"
		echo "affinity ts=1150000 tid=100 tgid=100 cpus=$1"
		echo "affinity ts=1150000 tid=200 tgid=200 cpus=$2"
		echo "affinity ts=1310000 tid=100 tgid=100 cpus=0"
		echo "affinity ts=1310000 tid=200 tgid=200 cpus=0"
		echo "stream 0"
		echo "repeat 10 step=4000000 {"
		echo "switch ts=3200000 cpu=0 prev=100 next=200 flags=preempted"
		echo "switch ts=5200000 cpu=0 prev=200 next=100 flags=preempted"
		echo "}"
		finalize 43000
	} | job | sed 's/target=200 cpu=0 target_cpu=1/target=200 cpu=0 target_cpu=0/; /^switch ts=1130000/d; '"${3-}" | trace turns
}
advice_of() { "$POVTRACE" report --json --top 0 turns.pov | jq -r --arg k "$1" '.findings[] | select(.kind == $k) | .advice'; } # KIND

@test "findings: advice can be followed, and is not in force already" {
	local openmpi='s/"flavour":"mpich","version":"4.0.2"/"flavour":"openmpi","version":"4.1.4"/; s/"launcher":"hydra"/"launcher":"openmpi","settings":{SET}/'
	turns 0-1 0-1
	advice_of ranks_share_cores | grep -x 'give each rank 1 core of its own (mpiexec -bind-to core:1)'
	advice_of oversubscribed | grep -x 'give each rank 1 core of its own (mpiexec -bind-to core:1), or start fewer threads (OMP_NUM_THREADS) or ranks'
	# more ranks than the machine has cores: one CPU, or two of one core
	for cpus in '"cpus":1' '"cpus":2,"topology":[{"cpu":0,"core":0,"package":0},{"cpu":1,"core":0,"package":0}]'; do
		turns 0-1 0-1 "s/\"cpus\":2/$cpus/"
		advice_of ranks_share_cores | grep -x 'there are more ranks than cores: start fewer, or use more hosts'
		advice_of oversubscribed | grep -x 'start fewer threads (OMP_NUM_THREADS) or ranks'
	done
	# a rank with a second thread that computes needs two cores; if there are not enough, each rank gets what there is
	local thread='/^affinity ts=1310000 tid=200/a fork ts=1311000 tid=100 child=101 tgid=100 parent_tgid=100 comm=app\nwaking ts=1312000 tid=100 target=101 cpu=1 target_cpu=1 flags=new\nswitch ts=1313000 cpu=1 prev=0 next=101'
	turns 0-1 0-1 "s/\"cpus\":2/\"cpus\":4/; $thread"
	advice_of ranks_share_cores | grep -x 'give each rank 2 cores of its own (mpiexec -bind-to core:2)'
	turns 0-1 0-1 "$thread"
	advice_of ranks_share_cores | grep -x 'give each rank 1 core of its own (mpiexec -bind-to core:1)'
	# the launcher gave each rank a CPU, but the program bound both to one
	turns 0 1
	advice_of ranks_share_cores | grep "^remove the program's own binding of these ranks to one CPU (sched_setaffinity): the launcher gave each its own CPUs\$"
	advice_of oversubscribed | grep "^remove the program's own binding of these ranks to one CPU "
	# Open MPI yields by itself if it has more ranks than slots, unless a setting forbids it
	turns 0-1 0-1 "${openmpi/SET/}"
	advice_of oversubscribed | grep 'leave the core to others: mpirun --mca mpi_yield_when_idle 1$'
	turns 0-1 0-1 "${openmpi/SET/\"OMPI_MCA_mpi_oversubscribe\":\"1\"}"
	advice_of oversubscribed | no yield
	turns 0-1 0-1 "${openmpi/SET/\"OMPI_MCA_mpi_oversubscribe\":\"1\",\"OMPI_MCA_mpi_yield_when_idle\":\"0\"}"
	advice_of oversubscribed | grep yield
}

@test "advise: does not ask for more cores than there are" {
	turns 0-1 0-1 's/"cpus":2/"cpus":1/'
	advised turns.pov >got
	no 'No advice' got
	grep -q '→ There are more ranks than cores: start fewer, or use more hosts\.' got
}

# Rank 1 polls in a barrier on the core that rank 0 needs to get there.
@test "a cause explains how waiting ranks leave the core, if there are too few cores" {
	local openmpi='s/"flavour":"mpich","version":"4.0.2"/"flavour":"openmpi","version":"4.1.4"/; s/"launcher":"hydra"/"launcher":"openmpi","settings":{SET}/' calls
	calls='/^call ts=43100000 .*tid=100 /i call ts=42490000 dur=390000 tid=100 tgid=100 func=5 cpu=0 lib=1 args=0x44000000\ncall ts=42500000 dur=40000000 tid=200 tgid=200 func=5 cpu=0 lib=1 args=0x44000000'
	turns 0-1 0-1 "s/\"cpus\":2/\"cpus\":1/; ${openmpi/SET/}; $calls"
	advised turns.pov | tee got
	grep -q '→ There are more ranks than cores: start fewer, or use more hosts, or let waiting ranks leave the core to others: mpirun --mca mpi_yield_when_idle 1\.' got
	# not if yielding is set, nor if each rank has a core
	turns 0-1 0-1 "s/\"cpus\":2/\"cpus\":1/; ${openmpi/SET/\"OMPI_MCA_mpi_yield_when_idle\":\"1\"}; $calls"
	advised turns.pov | tee got | no yield
	grep -q 'or use more hosts\. ' got
	turns 0-1 0-1 "${openmpi/SET/}; $calls"
	advised turns.pov | tee got | no yield
	grep -q '→ Give each rank 1 core of its own (mpirun --map-by slot:PE=1 --bind-to core)\.' got
}

@test "report: MPI calls that failed are on the first screen, with function, place, error class and rank" {
	{
		for pid in 100 200; do
			echo "image ts=1305000 tid=$pid tgid=$pid dev=1 ino=70 start=0x400000 len=0x1000 off=0"
			echo "repeat $((22 - pid / 200)) step=100000 {"
			call 2 $pid 2000 10 0x7f00,1,0x4c000101,7,0,0x44000000 'ret=0x2a4e6106 site=0x400123'
			echo "}"
		done
		call 5 200 5000 10 0x44000000 "ret=99"
		barrier 100 8000 1000
		barrier 200 8000 1000
		finalize 9500
	} | job '{"type":"image","dev":1,"ino":70,"path":"/home/u/app","build_id":"02"}' | trace failed
	"$POVTRACE" report failed.pov | tr -s ' \n' ' ' >got
	grep -q 'MPI calls that failed ! 1 call of MPI_Barrier returned error 99: rank 1 1; the first at 0.004 s ! 43 calls of MPI_Send in app+0x123 returned MPI_ERR_RANK: rank 0 22, rank 1 21; the first at 0.001 s' got
	"$POVTRACE" report --rank 1 failed.pov | tr -s ' \n' ' ' | grep -q '! 21 calls of MPI_Send in app+0x123 returned MPI_ERR_RANK: rank 1 21;'
	[ "$("$POVTRACE" report --json failed.pov | jq -c '[.failed_calls[] | [.function, .error, .code, .called_from, .rank, .calls, .first_ns]]')" = \
		'[["MPI_Barrier",null,99,"?",1,1,4010000],["MPI_Send","MPI_ERR_RANK",709779718,"app+0x123",0,22,1010000],["MPI_Send","MPI_ERR_RANK",709779718,"app+0x123",1,21,1010000]]' ]
	# no rank failed: nothing is printed
	sed 's/ ret=[^ ]*//' failed.txt | trace good
	"$POVTRACE" report good.pov | no 'failed'
}

# Both ranks open a file for 10 ms, write BYTES 20 times for 5 ms each, rank 1 asleep for 1 ms of each, and close it for 10 ms.
writes() { # BYTES
	for pid in 100 200; do
		call 17 $pid 2000 10000 0x44000000,0x7f00,5,0
		echo "repeat 20 step=5000000 {"
		if [ $pid = 200 ]; then
			echo "stream 1"
			echo "switch ts=13000000 cpu=1 prev=200 next=0 state=1"
			echo "waking ts=14000000 tid=100 target=200 cpu=0 target_cpu=1"
			echo "switch ts=14000000 cpu=1 prev=0 next=200"
		fi
		call 18 $pid 12000 5000 0x7000,0,0x7f00,$1,0x4c000101
		echo "}"
		call 19 $pid 112000 10000 0x7000
	done
	barrier 100 123000 100
	barrier 200 123000 100
	finalize 124000
}

@test "findings: time in MPI_File calls is file I/O, with bytes and bandwidth" {
	writes 8388608 | job | trace io
	text_of file_io io.pov | grep "^ranks were in MPI's file calls for 240.000 ms, most rank 0 120.000 ms (longest MPI_File_open 10.000 ms at 0.001 s); wrote 320 MiB by 40 calls, at 1.6 GiB/s a rank while in them$"
	[ "$("$POVTRACE" report --json io.pov | jq -c '[.ranks[].between_init_and_finalize | .file_io_ns, .mpi_wait_ns, .mpi_work_ns, .asleep_ns]')" = \
		'[120000000,100000,0,0,120000000,100000,0,0]' ]
	[ "$("$POVTRACE" report --json io.pov | jq -c '[.findings[] | select(.kind == "file_io") | .cost_ns, .advice]')" = '[240000000,null]' ]
	"$POVTRACE" report --times io.pov | section Main | sed -n 2p | grep -q 'MPI wait  file I/O  no core'
	writes 512 | job | trace small
	"$POVTRACE" report --json small.pov | jq -r '.findings[] | select(.kind == "file_io") | .advice' | grep '^write more at once, or by collective calls (MPI_File_write_all)'
	# without such calls the table has no such column, and there is no finding
	hangs | job | trace none
	"$POVTRACE" report --times --findings none.pov | no 'file I/O\|file calls'
}

# Rank 1 is 4 ms late to the first of two Allreduces of that many bytes, which take 6 ms each.
reduces() { # BYTES
	job <<-E
		$(call 6 100 2000 10000 "0x7f00,0x7f10,$1,0x4c000101,0x58000003,0x44000000")
		$(call 6 200 6000 6000 "0x7f00,0x7f10,$1,0x4c000101,0x58000003,0x44000000")
		$(call 6 100 13000 6000 "0x7f00,0x7f10,$1,0x4c000101,0x58000003,0x44000000")
		$(call 6 200 13000 6000 "0x7f00,0x7f10,$1,0x4c000101,0x58000003,0x44000000")
		$(barrier 100 20000 100)
		$(barrier 200 20000 100)
		$(finalize 21000)
	E
}

@test "a cause names the calls that took time although no rank was late, and the bytes that they moved" {
	local reason='.reasons[] | select(.kind == "transfer")'
	reduces 1048576 | trace large
	"$POVTRACE" report --json large.pov | jq -c "$reason | .mostly_in" >got
	echo '{"function":"MPI_Allreduce","file":null,"line":null,"calls":4,"ns":24000000,"bytes":4194304}' >wanted
	same_as wanted got
	"$POVTRACE" report --json large.pov | jq -r "$reason | .evidence, .action" >got
	printf '%s\n' 'Rank 0 was in such calls for 12 ms (all ranks: 24 ms). 99 % of it was in MPI_Allreduce: 4 calls of 6.0 ms and 1 MiB on average, at 167 MiB/s.' \
		'Send less by MPI_Allreduce, or compute meanwhile (nonblocking calls).' >wanted
	same_as wanted got
	reduces 8 | trace small
	"$POVTRACE" report --json small.pov | jq -r "$reason | .action" | grep -x 'Call MPI_Allreduce less often, with more data each time.'
}

# process RANK PID STDOUT: repeats the rank's meta object, with the target of its standard output.
process() {
	echo "{\"type\":\"process\",\"ts_ns\":1200000,\"pid\":$2,\"ppid\":50,\"exe\":\"/home/u/app\",\"cmdline\":[\"./app\"],\"rank\":$1,\"size\":2,\"job\":\"j\",\"launcher\":\"hydra\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}],\"stdout\":\"$3\"}"
}

# prints STDOUT HOLDER CALLS LAUNCHER_CALLS: thread HOLDER takes the core of rank 0 for 20 ms; rank 0 writes 100 bytes a call, rank 1
# nothing. The records of rank 0 come twice, as if a thread exited while the recording ended.
prints() {
	job "$(process 0 100 "$1")" "$(process 1 200 "$1")" <<-E
		task ts=1000000 tid=60 tgid=60 kthread=1 comm="kworker/u8:1"
		task ts=1000000 tid=70 tgid=70 comm=cron
		written ts=1000000 tid=50 tgid=50 bytes=500 calls=5 flags=begin
		stream 0
		waking ts=9000000 tid=0 target=$2 cpu=0 target_cpu=0 flags=irq
		switch ts=10000000 cpu=0 prev=100 next=$2 state=0 flags=preempted
		switch ts=30000000 cpu=0 prev=$2 next=100 state=1
		$(barrier 100 32000 8000)
		$(barrier 200 10000 30000)
		written ts=41190000 tid=100 tgid=100 bytes=100 calls=1
		written ts=41200000 tid=100 tgid=100 bytes=$(($3 * 100)) calls=$3
		written ts=41200000 tid=200 tgid=200 bytes=0 calls=0
		written ts=41300000 tid=50 tgid=50 bytes=$(($4 * 100 + 500)) calls=$(($4 + 5))
		$(finalize 41000)
	E
}

@test "findings: the launcher or the kernel's workers hold cores while ranks print" {
	local wrote='; in all, files and sockets included, rank 0 wrote 195 KiB by 2,000 calls of write (its standard output is a'
	prints pipe 50 2000 1500 | trace pipe
	text_of core_held_by_others pipe.pov | grep -x "mpiexec (pid 50) held cores that ranks wanted, for 20.000 ms, most on cpu 0: rank 0 20.000 ms$wrote pipe); mpiexec (pid 50) wrote 147 KiB by 1,500 calls of write"
	"$POVTRACE" report --json pipe.pov | jq -r '.findings[] | select(.kind == "core_held_by_others") | .advice' |
		grep -F "if this is what ranks print: print less often, or let each rank write a file of its own (mpiexec sh -c 'exec APP >FILE.\$PMI_RANK'), and compare"
	[ "$("$POVTRACE" report --json pipe.pov | jq -c '[.ranks[], .other_processes[] | .written_bytes, .write_calls, .stdout]')" = \
		'[200000,2000,"pipe",0,0,"pipe",150000,1500,null]' ]
	prints terminal 60 2000 1500 | trace worker
	text_of core_held_by_others worker.pov | grep "^kernel threads (most kworker/u8:1 (pid 60)) held .*$wrote terminal); mpiexec (pid 50) wrote"
}

@test "findings: no finding about printing if ranks wrote little, wrote to files, or others held the cores" {
	prints pipe 50 900 1500 | trace little
	prints file 50 2000 1500 | trace files
	prints pipe 60 2000 1500 | trace worker   # no terminal: these move something else
	prints pipe 70 2000 1500 | trace stranger
	prints pipe 50 2000 90 | trace launcher   # it wrote too little for 20 ms
	for run in little files worker stranger launcher; do
		text_of core_held_by_others $run.pov >text
		grep 'held cores' text
		no 'wrote' text
		"$POVTRACE" report --json $run.pov | no 'if this is what ranks print'
	done
	# Older traces lack the counts, and if records are missing, they are unknown.
	prints pipe 50 2000 1500 | grep -v '^written' | sed 's/,"stdout":"pipe"//' | trace old
	[ "$("$POVTRACE" report --json old.pov | jq -c '[.ranks[0] | .written_bytes, .write_calls, .stdout]')" = '[null,null,null]' ]
	prints pipe 50 2000 1500 | sed '1i lost ts=20000000 since=15000000 cnt=1 ring=0 class=task' | trace lost
	[ "$("$POVTRACE" report --json lost.pov | jq -c '.ranks[0].written_bytes')" = null ]
}

# Two ranks share one core, alternating every 100 us, for 20 ms. Recording a switch takes 20 us: a fifth of the core, and a tenth of each
# rank's time.
@test "tracing cost: a core for which ranks wait" {
	cpu=0 two_ranks '{"type":"probe_cost","call_ns":1,"spin_ns":1,"stepped_ns":0,"counted_ns":0,"samples":9}' < <(
		for ((i = 1; i <= 200; i++)); do
			echo "switch ts=$((1300000 + i * 100000)) cpu=0 prev=$((200 - 100 * (i % 2))) next=$((100 + 100 * (i % 2))) flags=preempted"
		done
		finalize 21400
	) | sed 's/^end .*/meta {"type":"end","ts_ns":21600000,"reason":"command ended","stats":{"switches_timed":9,"switch_ns":180000}}/' | trace turns
	"$POVTRACE" report --json turns.pov >json
	jq -c .distortion json
	jq -e '.distortion | (.run_share - 0.2 | fabs < 0.01) and (.share - 0.1 | fabs < 0.01)' json
	jq -e '.distortion.text | startswith("perhaps 20 % of the run is due to tracing, which used cores that ranks waited for. It took 10 %")' json
	jq -e '[.ranks[].overhead | .switch_hits >= 100 and (.cost_ns - 20000 * .switch_hits | . >= 0 and . < 10)] | all' json
	# each rank on its own core: none waits for a core
	two_ranks < <(finalize 21400) | sed 's/^end .*/meta {"type":"end","ts_ns":21600000,"reason":"command ended","stats":{"switches_timed":9,"switch_ns":180000}}/' | trace apart
	"$POVTRACE" report --json apart.pov | jq -e '.distortion.run_share // 0 == 0'
}

# Recording calls costs more of both ranks' time than povtrace itself, which had rank 1's core. Rank 1 decides.
@test "tracing cost: cause and warning advise the same" {
	two_ranks '{"type":"probe_cost","call_ns":10000,"spin_ns":1,"stepped_ns":0,"counted_ns":0,"samples":9}' < <(
		echo "task ts=1300000 tid=77 tgid=77 state=1 cpu=1 comm=povtrace-record"
		for ((i = 0; i < 100; i++)); do
			for pid in 100 200; do call 13 $pid $((1500 + i * 100)) 20 0,0,0,0,0,0,0,0; done
		done
		echo "stream 1"
		echo "switch ts=15000000 cpu=1 prev=200 next=77 flags=preempted"
		echo "switch ts=16600000 cpu=1 prev=77 next=200 state=1"
		finalize 21400
	) | sed 's/"type":"host",/&"recorder":77,/' | trace both
	"$POVTRACE" report both.pov >got
	cat got
	grep -q "DISTORTED" got
	[ "$(tr -s ' \n' ' ' <got | grep -o '[Kk]eep one CPU free of ranks, or record less' | wc -l)" = 2 ]
}
