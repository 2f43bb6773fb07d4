#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The first screen's account, efficiencies and causes, on made-up runs of which the truth is known.

load lib
load made_run
needs jq

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

# parts_hold JSON: of each phase and region, no factor is above 1, and they multiply to what they are factors of.
parts_hold() {
	jq -e '.region_efficiency | all(
		(.load_balance == null or (.load_balance * .communication_efficiency - .parallel_efficiency | fabs < 1e-12)) and
		(.transfer_efficiency == null or (.serialisation_efficiency * .transfer_efficiency - .communication_efficiency | fabs < 1e-12)) and
		([.load_balance, .serialisation_efficiency, .transfer_efficiency, .parallel_efficiency, .inside, .had_core] | all(. == null or (. >= 0 and . <= 1 + 1e-12))) and
		(.inside * .ranks * .span_ns - .inside_ns | fabs < 0.5) and
		.outside_ns <= .inside_ns)' "$1" >/dev/null
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

@test "screen: each loss once, at its root: a stranger on a rank's core" {
	bystander | ranks 2 802200 | screen run
	same_as "$data/screen_bystander.out" got
	[ "$(wc -l <got)" -le 30 ]
	no '.\{101\}' <(LC_ALL=C.UTF-8 sed 's/[^ -~]/?/g' got)
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .pid == 2745 and .own_ns == 400000000 and .waited_ns == 400000000 and
		.shorter_by == "replay" and .shorter_low_ns == 400000000 and .shorter_high_ns == 400000000' json
	jq -e '.efficiency[0].had_core - 0.5 | fabs < 0.01' json
}

@test "screen: the place of a cause is where most was waited, not that of the longest wait" {
	{
		barrier 0 5000 10
		barrier 1 2010 3000
		for i in 0 1 2 3 4; do
			send 0 $((7010 + 2100 * i)) 10 1
			recv 1 $((5020 + 2100 * i)) 2000 0
		done
	} | ranks 2 15600 | screen places
	grep -q '^  1  Rank 0 computes while rank 1 waits (MPI_Recv) ' got
	grep -q 'Most waiting ended when it called MPI_Send' got
}

# Each rank computes for 10 ms in a round, one after the other: rank 1 receives what rank 0 sent after its computing, and the other way round.
@test "screen: ranks that take turns are one cause, and nobody takes over another's work" {
	local i at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 20100 * i))
		send 0 $((at + 10000)) 2 1
		recv 1 $((at + 10)) 9994 0
		send 1 $((at + 20050)) 2 0
		recv 0 $((at + 10010)) 10046 1
	done | ranks 2 204000 | screen turns
	jq -e '[.reasons[] | select(.kind == "computed")] | length == 1 and .[0].rank == null and
		(.[0].cost_ns - 200e6 | fabs < 3e6) and (.[0].shorter_high_ns - 100e6 | fabs < 2e6)' json
	grep -q '^  1  Ranks take turns: some compute while others wait (MPI_Recv) ' got
	grep -q 'The longest waiting was for rank [01], then for rank [01], mostly until they called MPI_Send\.' line
	grep -q '→ Send what goes by MPI_Send earlier, or in parts, so that ranks compute at the same time\.' line
}

# Rank 0 prepares a task for 5 ms, with which rank 1 computes for 20 ms. Without rank 0's part, the run would be 50 ms shorter; with 7.5 ms
# of rank 1's done by rank 0 meanwhile, 75 ms.
@test "screen: two ranks take turns, and one computes longer: both are named" {
	local i at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 25100 * i))
		send 0 $((at + 5000)) 2 1
		recv 1 $((at + 10)) 4994 0
		send 1 $((at + 25050)) 2 0
		recv 0 $((at + 5010)) 20046 1
	done | ranks 2 253020 | screen tasks
	grep -q '^  1  Rank 1 computes while rank 0 waits (MPI_Recv) .* 200\.4 *7[56] ms$' got
	grep -q '^  2  Rank 0 computes while rank 1 waits (MPI_Recv) .* 49\.9 *≤ 50 ms$' got
	grep -q 'Rank 0 computed 51 ms, rank 1 0\.20 s\.' line
	grep -q '→ Send what goes by MPI_Send earlier, or in parts, so that ranks compute at the same time\.' line
}

@test "screen: two ranks of four compute longer: they do not take turns" {
	{
		for i in 0 1; do barrier $i 12000 20010; done
		for i in 2 3; do barrier $i 32000 10; done
	} | ranks 4 32020 | screen uneven
	grep -q '^  1  Some ranks compute longer, and the others wait (MPI_Barrier) .*  10 ms$' got
	grep -q '→ Share the work before MPI_Barrier among the ranks\.' got
}

# Rank 0 computes for 2 ms in a round, for which the others wait, and sleeps while they compute for 20 ms.
@test "screen: a rank that is late without computing more" {
	local i at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 22000 * i))
		send 0 $((at + 2004)) 2 1
		send 0 $((at + 2008)) 19992 2
		recv 1 $((at + 10)) 2000 0
		recv 2 $((at + 10)) 2004 0
	done | ranks 3 222020 | screen late
	jq -e '[.reasons[] | select(.kind == "computed")][0] | .rank == 0 and (.shorter_high_ns - 20e6 | fabs < 1e6)' json
	grep -q 'Rank 0 computed 20 ms, the others 0.20 s on average\. Most waiting ended when it called MPI_Send\.' line
}

# In a round, rank 0 sleeps for 20 ms, computes for 2 ms and sends; the others wait for these 2 ms. In the first round it does not sleep.
@test "screen: a rank is late because it slept before others waited for it" {
	local i n at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 22000 * i))
		for n in 1 2; do
			send 0 $((at + 2000 + 4 * n)) 2 $n
			recv $n $((at + 10)) $((1996 + 4 * n)) 0
		done
		sleeps_at 0 $((at + 2020)) $((at + 21990))
	done | ranks 3 222020 | screen slept --all
	# 9 rounds: two ranks wait 2 ms; the first round has 2 ms of computing
	jq -e '[.reasons[] | select(.kind == "slept")][0] | .rank == 0 and (.waited_ns - 36e6 | fabs < 0.2e6)' json
	jq -e '[.reasons[] | select(.kind == "computed")][0].waited_ns - 4e6 | fabs < 0.1e6' json
	grep -q '1 Rank 0 sleeps outside MPI .* 18 ms Rank 0 slept 0.20 s, .*; others waited 36 ms for it (MPI_Recv)' line
}

# In a round, rank 0 computes for 10 ms before a broadcast, for which rank 1 waits; then both compute for 10 ms.
@test "screen: only the part that others wait for is shared" {
	local i at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 20020 * i))
		bcast 0 $((at + 10000)) 10
		bcast 1 $((at + 10)) 10000
		for n in 0 1; do barrier $n $((at + 20010)) 10; done
	done | ranks 2 202210 | screen part
	# 100 ms shared alike are 50 ms less for rank 0, all before the broadcast
	grep -q '1 Rank 0 computes while rank 1 waits (MPI_Bcast) 99\.9 50 ms ' line
}

# In a round, rank 0 computes for 10 ms, rank 1 for 20 ms. Both write for 2 ms: together, or each at its own time.
writes_apart() { # DURATION_US, of rank 0 and of rank 1
	local i at
	for ((i = 0; i < 2; i++)); do file_open $i 2010 10; done
	for ((i = 0; i < 10; i++)); do
		at=$((2020 + 22000 * i))
		file_write 0 $((at + 10000)) "$1"
		file_write 1 $((at + 20000)) 2000
	done
}

@test "screen: a rank waits in a collective write for one that computes" {
	writes_apart 12000 | ranks 2 222020 | screen writes
	grep -q '1 Rank 1 computes while rank 0 waits (MPI_File_write_all) 100\.0 50 ms ' line
	grep -q '2 Ranks read and write files 40\.' line
	# who leaves before the last one has come did not wait for it
	writes_apart 2000 | ranks 2 222020 | screen apart
	jq -e '.account.waiting_ns < 1e6 and (.account.file_io_ns - 40e6 | fabs) < 1e6' json
}

# In a round, ranks 0 and 2 compute for 10 ms, rank 3 for 12 ms. Rank 1 sleeps for 5 ms after 10 ms: without that, all would wait for rank 3.
@test "screen: a rank sleeps before a barrier, and another one computes longer" {
	local i n at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 15010 * i))
		sleeps_at 1 $((at + 10000)) $((at + 14999))
		for n in "0 10000" "1 15000" "2 10000" "3 12000"; do
			barrier ${n% *} $((at + ${n#* })) $((15010 - ${n#* }))
		done
	done | ranks 4 152200 | screen fsync
	grep -q '^  1  Rank 1 sleeps outside MPI .* 160\.0 *30 ms$' got
}

# Rank 0 sleeps for 10 ms before it sends to rank 2. Rank 1 computes for 50 ms and enters MPI_Finalize.
@test "screen: who waits in MPI_Finalize would leave it earlier" {
	local i at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 10010 * i))
		sleeps_at 0 $at $((at + 9999))
		send 0 $((at + 10000)) 5 2
		recv 2 $((at + 2)) 10004 0
	done | { cat; call 9 1 52000 50120; } | ranks 3 102110 | sed '/tid=200 .*func=9 /{/dur=10000 /d;}' | screen early
	grep -q '1 Rank 0 sleeps outside MPI 200\.0 50 ms ' line
}

# Rank 0 waits for rank 1, which makes 20 calls, 100 us apart. Recording one takes 90 us.
@test "screen: who waits for a rank that records its calls waits for the recording" {
	local i
	for ((i = 0; i < 20; i++)); do call 10 1 $((2100 + 100 * i)) 1; done |
		{ cat; barrier 0 2001 2100; barrier 1 4100 1; } | ranks 2 4110 |
		sed '1a meta {"type":"probe_cost","call_ns":90000,"spin_ns":0,"stepped_ns":0,"samples":9}' | screen recorded
	jq -e '[.reasons[] | {(.kind): .waited_ns}] | add | .computed < 0.4e6 and .tracing > 1.6e6' json
	jq -e '[.reasons[] | select(.kind == "computed") | .cost_ns] | add < 0.4e6' json
}

# Rank 1 calls MPI_Init $1 ms after rank 0.
init_after() { # MS
	{ barrier 0 $((3000 + 1000 * $1)) 10; barrier 1 $((3000 + 1000 * $1)) 10; } | ranks 2 $((13000 + 1000 * $1)) |
		sed "s/^call ts=2000000 dur=100000 tid=100 /call ts=$((2000000 + 1000000 * $1)) dur=$((100000 + 1000000 * $1)) tid=100 /
			s/^call ts=2000000 dur=100000 tid=200 /call ts=$((2000000 + 1000000 * $1)) dur=100000 tid=200 /"
}

@test "screen: a rank calls MPI_Init long after the others" {
	init_after 150 | screen late
	grep -q 'Before these times, ranks waited in MPI_Init for rank 1, which called it up to 0\.15 s after others: look at what it does before\.' line
	init_after 90 | screen soon
	no 'Before these times' line
}

# In a round, rank 0 sleeps for 10 ms, and ranks 1 and 2 for 2 ms of these.
@test "screen: ranks that sleep, but for one with a cause of its own" {
	local i n at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 10010 * i))
		sleeps_at 0 $at $((at + 9998))
		barrier 0 $((at + 9999)) 10
		for n in 1 2; do
			sleeps_at $n $at $((at + 1999))
			barrier $n $((at + 2000)) 8009
		done
	done | ranks 3 102110 | screen alone
	grep -q '1 Rank 0 sleeps outside MPI 260\.0 80 ms ' line
	# without the others' sleep, all would still wait for rank 0
	jq -e '[.reasons[] | select(.kind == "slept" and .rank == null)][0] | .cost_ns > 39e6 and .shorter_high_ns < 1e6' json
}

# Rank $1 falls asleep at $2 us, and a timer wakes it at $3 us.
sleeps_at() {
	local pid=$((100 * $1 + 100))
	echo "stream $1"
	echo "switch ts=$(($2 * 1000)) cpu=$1 prev=$pid next=0 state=2"
	echo "waking ts=$(($3 * 1000)) tid=0 target=$pid cpu=$1 target_cpu=$1 flags=2"
	echo "switch ts=$(($3 * 1000 + 1)) cpu=$1 prev=0 next=$pid"
}

# Rank 0 falls asleep at $1 us with task state $2. Thread $4, with flags $5 in the record, wakes it at $3 us.
sleeps() {
	echo "stream 0"
	echo "switch ts=$(($1 * 1000)) cpu=0 prev=100 next=0 state=$2"
	echo "waking ts=$(($3 * 1000)) tid=$4 target=100 cpu=0 target_cpu=0${5:+ flags=$5}"
	echo "switch ts=$(($3 * 1000 + 1)) cpu=0 prev=0 next=100"
}

@test "screen: how a rank slept, by the kernel's state and by who woke it" {
	local state waker flags how
	while read -r state waker flags how; do
		{
			echo "fork ts=1900000 tid=100 child=101 tgid=100 parent_tgid=100 comm=helper"
			echo "task ts=1900000 tid=900 tgid=900 state=1 cpu=1 comm=stranger"
			sleeps 3000 "$state" 12000 "$waker" "$flags"
			# in a call: not counted
			echo "switch ts=12600000 cpu=0 prev=100 next=0 state=64"
			echo "waking ts=12700000 tid=0 target=100 cpu=0 target_cpu=0 flags=2"
			echo "switch ts=12700001 cpu=0 prev=0 next=100"
			barrier 0 12500 1000
			barrier 1 2010 11490
		} | ranks 2 13600 | screen asleep
		grep -q "1 Rank 0 sleeps outside MPI .* Rank 0 slept 9.0 ms, $how" line
		jq -r '[.reasons[] | select(.kind == "slept").slept_mostly] | unique[]' json >>names
	done <<-'E'
		2 0 2 in uninterruptible sleep (file I/O, paging); rank 1 waited .* → Look for file I/O and paging before MPI_Barrier\.
		4 900 0 stopped by a signal or a debugger; rank 1 .* → Find out who stopped it (kill -STOP, a debugger, the batch system)\.
		1 101 0 until another of its threads woke it; rank 1 .* → Look for locks and joins of threads before MPI_Barrier\.
		1 900 0 until another process woke it; rank 1 .* → Look for pipes, sockets and child processes before MPI_Barrier\.
		1 0 2 until a timer or a device woke it; rank 1 .* → Look for sleep calls and reads from a network before MPI_Barrier\.
	E
	[ "$(tr '\n' ' ' <names)" = "device stopped own_thread other_process interrupt " ]
}

@test "screen: many small messages are what takes time" {
	local i
	for ((i = 0; i < 300; i++)); do
		send 0 $((2000 + 30 * i)) 20 1
		recv 1 $((2000 + 30 * i)) 21 0
	done | ranks 2 11020 | screen storm
	grep -q 'Messages and collectives take time.* Rank 0 sent rank 1 300 messages of 8 B on average, one right after another\. → Pack what goes to one rank into one message' line
}

@test "screen: jobs have causes, means and limits of their own" {
	{
		barrier 0 42000 2
		barrier 1 2002 40000
		barrier 2 12000 20002
		barrier 3 32000 2
	} | ranks 4 42010 | sed 's/"rank":2,"size":4,"job":"j"/"rank":0,"size":2,"job":"k"/; s/"rank":3,"size":4,"job":"j"/"rank":1,"size":2,"job":"k"/; s/"size":4/"size":2/' | screen jobs
	jq -e '[.reasons[] | select(.kind == "computed") | .shorter_high_ns / 1e6 | round] == [20,10]' json
	grep -q '^  1  Rank 0:0 computes while rank 0:1 waits (MPI_Barrier) ' got
	grep -q '^  2  Rank 1:1 computes while rank 1:0 waits (MPI_Barrier) ' got
	grep -q 'Rank 1:1 computed 40 ms, rank 1:0 20 ms\.' got
}

# In a round, rank 1 computes for $1 us, the others for 10 ms, before a call in which nobody is known to be late.
neighbours_after() { # DURATION_US [RANK…]
	local i at n
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 20000 * i))
		for n in "${@:2}"; do neighbours "$n" $((at + 10000)) 10000; done
		neighbours 1 $((at + $1)) $((20000 - $1))
	done
}

@test "screen: nobody is known to be late, but a rank computes longer than the one in calls" {
	neighbours_after 19990 0 | ranks 2 202010 | screen uneven
	# 200 ms and 100 ms shared alike
	grep -q '1 Rank 1 computes longer; rank 0 may wait for it 100\.1 ≤ 50 ms (MPI_Neighbor_alltoall) Rank 1 computed 0\.20 s, rank 0 0\.10 s\. Meanwhile rank 0 was in MPI; whom it waited for is unknown\. → Share the work among the ranks\.' line
	jq -e '.reasons[0] | .kind == "transfer" and .mostly_in.function == "MPI_Neighbor_alltoall" and .mostly_in.calls == 20' json
	neighbours_after 19990 0 2 | ranks 3 202010 | screen three
	grep -q '1 Rank 1 computes longer; others may wait for it .* ≤ 67 ms .* Rank 1 computed 0\.20 s, the others 0\.10 s on average\. Meanwhile the others were in MPI; whom they waited for is unknown\.' line
	neighbours_after 10000 0 | ranks 2 202010 | screen alike
	grep -q '1 Messages and collectives take time, no rank known to be late 200\.0 ≤ 0\.10 s ' line
}

@test "screen: time in polls that found nothing is called polling" {
	{
		echo "stream 0"
		echo "spin at=2000000..12000000 tid=100 tgid=100 cpu=0 funcs=8:50021:9000000:0:1"
		send 0 12000 10 1
		recv 1 11990 100 0
	} | ranks 2 12200 | screen polls
	grep -q '^  1  Ranks poll for messages, and nobody is known to be late ' got
	grep -q '50,021 polls' got
}

@test "screen: computing between polls that found nothing" {
	{
		echo "stream 0"
		echo "spin at=2000000..12000000 tid=100 tgid=100 cpu=0 funcs=8:500:50000:0:1"
		barrier 0 12000 10
		barrier 1 12000 10
	} | ranks 2 12200 | screen between
	grep -q 'Rank 0 computed for 10 ms, 98 % of its time, between 500 polls that found nothing (--functions)\. If it only waits there, that time is lost, too\.' line
	sed 's/:500:50000:/:50021:9000000:/' between.txt | trace polls
	"$POVTRACE" report polls.pov | no 'only waits there'
}

# spin RANK BEGIN_US END_US FUNCTION: polls that found nothing, one after the other
spin() {
	echo "stream $1"
	echo "spin at=$(($2 * 1000))..$(($3 * 1000)) tid=$((100 * $1 + 100)) tgid=$((100 * $1 + 100)) cpu=$1 funcs=$4:50000:$((($3 - $2) * 900)):0:1"
}

@test "screen: polls until a message came wait for its sender" {
	local late='^  1  Rank 1 computes while rank 0 waits (MPI_'
	# a request is tested, while its sender computes for 10 ms
	{
		call 11 0 2005 5 0x7f00,8,0x4c000101,1,7,0x44000000,0x7e00
		echo " out=6:i738197505"
		spin 0 2100 11990 12
		call 12 0 11995 15 0x7e00,0x7e08,1
		echo " in=0:i738197505 out=1:i1"
		send 1 11900 100 0
	} | sed ':a; N; $!ba; s/\n / /g' | ranks 2 12200 | trace tested
	# a probe is repeated, then the message received
	{
		spin 0 2100 11990 8
		call 8 0 11995 5 1,7,0x44000000,0x7e08,1
		echo " out=3:i1"
		recv 0 12005 5 1
		send 1 11900 100 0
	} | sed ':a; N; $!ba; s/\n / /g' | ranks 2 12200 | trace probed
	for run in tested probed; do
		"$POVTRACE" report $run.pov >got
		cat got
		grep -q "$late" got
		account_of $run.pov
		jq -e '.reasons[0] | .kind == "computed" and .rank == 1 and .waited_ns == 9800000' json
		jq -e '.ranks[0].waits | .polled_ns == 9895000 and .late_sender_ns == 9800000 and
			.calls_ns + .polled_ns == .late_sender_ns + .without_core_ns + .rest_ns' json
	done
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
	} | ranks 2 802200 | screen run
	grep '^  1  `cc1` (2 processes) had cores that ranks needed  *0.80  *0.40 s$' got
	grep '^     Rank 0 had no core for 0.40 s, mostly while `cc1` (pid 2746) ran on CPU 0' got
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .pid == null and .processes == 2 and .own_ns == 400000000 and
		.waited_ns == 400000000 and .shorter_low_ns == 400000000 and .shorter_high_ns == 400000000' json
}

# Four programs, none of which cost more than the others together: one cause.
@test "screen: several programs are to blame together" {
	{
		for at in 1:lint 2:cc1 3:ld 4:tar; do
			echo "task ts=1900000 tid=300${at%:*} tgid=300${at%:*} state=1 cpu=0 comm=${at#*:}"
		done
		echo "stream 0"
		echo "switch ts=202000000 cpu=0 prev=100 next=3001 flags=preempted"
		echo "switch ts=242000000 cpu=0 prev=3001 next=3002 state=1"
		echo "switch ts=402000000 cpu=0 prev=3002 next=3003 state=1"
		echo "switch ts=522000000 cpu=0 prev=3003 next=3004 state=1"
		echo "switch ts=602000000 cpu=0 prev=3004 next=100 state=1"
		send 0 802000 100 1
		recv 1 2010 800100 0
	} | ranks 2 802200 | screen run
	grep '^  1  `cc1` and 3 other programs had cores that ranks needed  *0.80  *0.40 s$' got
	sed -n '/^  1/,/→/p' got | tr -s ' \n' ' ' | grep -F 'Rank 0 had no core for 0.40 s; rank 1 waited' |
		grep -F '`cc1` cost 0.32 s, `ld` 0.24 s, `tar` 0.16 s, 1 other 80 ms. →'
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .pid == null and
		.programs == [{"name":"cc1","cost_ns":320000000},{"name":"ld","cost_ns":240000000},{"name":"tar","cost_ns":160000000}]' json
}

@test "screen: the CPUs that are left for a stranger" {
	# rank 1 waits nearly all the time: its CPU will do
	bystander | ranks 2 802200 | trace waits
	"$POVTRACE" report waits.pov | grep '→ Keep it off CPU 0: taskset -acp 1 2745, or a cpuset'
	# it computes: no CPU is left
	{ bystander | sed '/^call.*tid=200/d'; recv 1 702010 100100 0; } | ranks 2 802200 | trace computes
	"$POVTRACE" report computes.pov | grep '→ Every CPU has a busy rank: run other work elsewhere or at another time'
	# there are more CPUs than ranks
	sed 's/"cpus":2/"cpus":4/' computes.txt | trace more
	"$POVTRACE" report more.pov | grep '→ Keep it off CPU 0: taskset -acp 1-3 2745, or a cpuset'
}

# Another one has the core of rank 0 for 0.7 ms before MPI_Init.
before_init() { # RANK
	[ "$1" = 0 ] || return 0
	echo "task ts=1000300 tid=3000 tgid=3000 state=1 cpu=0 comm=early"
	echo "stream 0"
	echo "waking ts=1000400 tid=100 target=3000 cpu=0 target_cpu=0"
	echo "switch ts=1000500 cpu=0 prev=100 next=3000 flags=preempted"
	echo "switch ts=1700500 cpu=0 prev=3000 next=100 state=1"
}

@test "screen: who had a core before MPI_Init is not to blame" {
	bystander | early=before_init ranks 2 802200 | trace run
	account_of run.pov
	jq -e '[.reasons[] | select(.kind == "core_held_by_other")] | length == 1 and .[0].pid == 2745 and .[0].own_ns == 400000000' json
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
	account_of open.pov
	jq -e '.account.open_ns == 17000000 and (.reasons[] | select(.kind == "open_call") | .cost_ns) == 17000000' json
}

@test "account: adds up on whatever a recording has" {
	local seed script
	for script in "$data"/report_run.txt "$data"/traffic_run.txt "$data"/export_*.txt; do
		"$make" "$script" run.pov
		"$POVTRACE" report --json run.pov >got
		adds_up got
		parts_hold got
	done
	for seed in $(seq ${POV_RANDOM_FROM:-1} ${POV_RANDOM_TO:-6}); do
		echo "seed $seed"
		"$tool/random_trace" "$seed" | trace run
		"$POVTRACE" report --json run.pov >got
		adds_up got
		parts_hold got
	done
}

# ---- several runs ----

# Three runs of one program of which all is known, to the microsecond:
#   one.pov   1 rank computes 80 ms and is in a barrier for 20 ms
#   two.pov   2 ranks compute 40 and 60 ms; the barrier ends at 80 ms
#   four.pov  4 ranks compute 20 ms each, one after the other: messages take 10 us each
three_runs() {
	barrier 0 82000 20000 | ranks 1 102000 | trace one
	{ barrier 0 42000 40000; barrier 1 62000 20000; } | ranks 2 82000 | trace two
	for i in 0 1 2 3; do
		[ $i = 0 ] || recv $i 2000 $((20010 * i)) $((i - 1))
		[ $i = 3 ] || send $i $((22000 + 20010 * i)) 10 $((i + 1))
		barrier $i $((22000 + 20010 * i + (i < 3 ? 10 : 0))) $((82040 - 22000 - 20010 * i - (i < 3 ? 10 : 0)))
	done | ranks 4 82040 | trace four
}

# scaled JSON WANTED: WANTED has, for each run, what it should be, and it is that; the factors' products are what they must be.
scaled() {
	jq -c '.runs[] | [.name, (.efficiency | .parallel_efficiency, .load_balance, .serialisation_efficiency, .transfer_efficiency, .had_core),
		.computation_scaling, .global_efficiency, .speedup]' "$1"
	jq -e --argjson w "$2" 'def same($a; $b): $a - $b | fabs < 1e-12;
		([.runs[] | [.name, .efficiency.ranks, .efficiency.span_ns / 1000, .efficiency.outside_ns / 1000]] == ($w | map(.[:4]))) and
		([[.runs[] | [(.efficiency | .parallel_efficiency, .load_balance, .serialisation_efficiency, .transfer_efficiency, .had_core),
			.computation_scaling, .global_efficiency, .speedup]], ($w | map(.[4:]))] | map(flatten) | transpose | all(same(.[0]; .[1]))) and
		(.runs[0] as $first | .runs | all(.efficiency as $e |
			same($e.load_balance * $e.communication_efficiency; $e.parallel_efficiency) and
			same($e.serialisation_efficiency * $e.transfer_efficiency; $e.communication_efficiency) and
			same($e.parallel_efficiency * .computation_scaling; .global_efficiency) and
			same(.global_efficiency / $first.global_efficiency * $e.ranks / $first.efficiency.ranks; .speedup)))' "$1" >/dev/null
}

@test "scaling: three runs, by their ranks" {
	three_runs
	"$POVTRACE" report --scaling four.pov one.pov two.pov >got
	diff -u - got <<-'END'
		Scaling of app: 3 runs, relative to one.pov
		  Strong scaling: all runs are assumed to do the same work. If the work grows with the number of
		  ranks, use --weak.

		                          one.pov   two.pov  four.pov
		  ranks                         1         2         4
		  time                   100.0 ms  80.00 ms  80.04 ms
		  speedup                    1.00      1.25      1.25
		  global efficiency          80 %      50 %      25 %
		    parallel efficiency      80 %      62 %      25 %
		      load balance          100 %      83 %     100 %
		      communication          80 %      75 %      25 %
		        serialisation       100 %     100 %      25 %
		        transfer             80 %      75 %     100 %
		    computation scaling     100 %      80 %     100 %
		  on a core                 100 %     100 %     100 %
	END
	"$POVTRACE" report --scaling --json four.pov one.pov two.pov >json
	[ "$(jq -c '[.scaling, .same_program, .runs[0].traces, .runs[2].job, .runs[2].program, .runs[2].command]' json)" = '["strong",true,["one.pov"],0,"app","./app"]' ]
	[ "$(jq -c '[.runs[] | .unknown, .efficiency.path_unknown, .efficiency.path_is_whole, .distorted, .incomplete[]] | unique' json)" = '[null,false,true]' ]
	scaled json '[["one.pov",1,100000,80000, 0.8,1,1,0.8,1, 1,0.8,1],
		["two.pov",2,80000,100000, 0.625,'"$(jq -n '5/6')"',1,0.75,1, 0.8,0.5,1.25],
		["four.pov",4,80040,80000, '"$(jq -n -c '[80/320.16,1,0.25,80/80.04,1, 1,80/320.16,100/80.04]' | tr -d '[]')"']]'
	# the efficiencies are those of each report
	for run in one two four; do
		diff <("$POVTRACE" report --json $run.pov | jq -S '.efficiency[0] | del(.job)') \
			<(jq -S --arg run $run.pov '.runs[] | select(.name == $run).efficiency' json)
	done
}

@test "scaling: --weak: the work grows with the ranks" {
	three_runs
	"$POVTRACE" report --scaling --weak --json one.pov two.pov four.pov >json
	[ "$(jq -r .scaling json)" = weak ]
	scaled json '[["one.pov",1,100000,80000, 0.8,1,1,0.8,1, 1,0.8,1],
		["two.pov",2,80000,100000, 0.625,'"$(jq -n '5/6')"',1,0.75,1, 1.6,1,2.5],
		["four.pov",4,80040,80000, '"$(jq -n -c '[80/320.16,1,0.25,80/80.04,1, 4,320/320.16,400/80.04]' | tr -d '[]')"']]'
	"$POVTRACE" report --scaling --weak one.pov two.pov four.pov | grep -q '^  Weak scaling: the work is assumed to grow with the number of ranks\.$'
}

@test "scaling: a picture, whose points are the table's" {
	need python3
	three_runs
	"$POVTRACE" report --scaling --output scaling.svg --json one.pov two.pov four.pov >json 2>err
	grep -q 'wrote scaling.svg: efficiencies of 3 runs' err
	! command -v xmllint >/dev/null || xmllint --noout scaling.svg
	no -E '<script|href|@import|url\(' scaling.svg
	grep -oE '<title>[^<]*%</title>' scaling.svg | sed 's/<[^>]*>//g' | sort >points
	jq -r '.runs[] | .name as $name | {"global efficiency": .global_efficiency, "parallel efficiency": .efficiency.parallel_efficiency,
		"load balance": .efficiency.load_balance, "serialisation": .efficiency.serialisation_efficiency,
		"transfer": .efficiency.transfer_efficiency, "computation scaling": .computation_scaling, "on a core": .efficiency.had_core} |
		to_entries[] | [.key, $name, .value] | @tsv' json |
		python3 -c 'import sys
for l in sys.stdin:
    name, run, v = l.rstrip().split("\t")
    print(f"{name}, {run}: {100 * float(v):.1f} %")' | sort | diff - points
	# each line has its own pattern or width, and its own marks
	[ "$(grep -oE "<path style='stroke:#[0-9a-f]*;stroke-width:[0-9.]*;stroke-dasharray:[0-9a-z ]*' d='M[0-9.]+ [0-9.]+L" scaling.svg |
		sed 's/.*\(stroke-width.*\). d=.*/\1/' | sort -u | wc -l)" = 7 ]
	[ "$(grep -oE "translate\([^)]*\)' d='[^']*'" scaling.svg | sed "s/.* d=//" | sort -u | wc -l)" = 7 ]
	# labels do not lie on each other
	grep -oE "<text x='[0-9]+' y='[0-9.]+'>[^<]* %<" scaling.svg | sed "s/.* y='\([0-9.]*\)'.*/\1/" | sort -n |
		awk 'NR > 1 && $1 - last < 17.9 { exit 1 } { last = $1 } END { exit NR != 7 }'
	no 'White marks' scaling.svg
}

@test "scaling: what is not known, and why" {
	three_runs
	# no MPI; no scheduler; a lost record; a message whose send is not recorded: the path is three ranks long, not four
	sed '/"type":"process"/d; /^call/d' one.txt | trace none
	sed 's/"sched":"all"/"sched":"off"/; /^switch/d' two.txt | trace off
	grep -v 'tgid=300 func=2 ' four.txt >unmatched.txt
	"$make" unmatched.txt unmatched.pov
	sed '/^end/i lost ts=20000000 since=19500000 cnt=3 ring=0 class=call' two.txt | trace lost
	"$POVTRACE" report --scaling none.pov one.pov off.pov unmatched.pov lost.pov -o s.svg >got 2>/dev/null
	cat got
	sed -n '/one.pov/,/on a core/p' got | tr -s ' ' >table
	grep -q '^ one.pov off.pov lost.pov unmatched.pov none.pov$' table
	grep -q '^ ranks 1 2 2 4 unknown$' table
	grep -q '^ serialisation 100 % 100 % ~100 % ≤33 % unknown$' table
	grep -q '^ transfer 80 % 75 % ~75 % ≥75 % unknown$' table
	grep -q '^ on a core 100 % unknown ~100 % 100 % unknown$' table
	grep -q '^ computation scaling 100 % 80 % ~80 % ' table
	tr '\n' ' ' <got | tr -s ' ' >words
	grep -qF 'none.pov: unknown, because no process called MPI.' words
	grep -qF 'off.pov: whether ranks were on a core is unknown, because the scheduler was not recorded.' words
	grep -qF '≤, ≥: not all messages and collectives are matched in unmatched.pov: serialisation is at most, and transfer at least, what is printed.' words
	grep -qF '~: records are missing in lost.pov, so these figures may be too low or too high.' words
	grep -q 'White marks: limits, or in doubt' s.svg
	[ "$(stat -c %a s.svg)" = "$(stat -c %a one.pov)" ] # it tells of the recording
	"$POVTRACE" report --scaling --json none.pov one.pov off.pov unmatched.pov lost.pov >json
	[ "$(jq -c '[.runs[] | [.name, .unknown, .efficiency.path_is_whole, .efficiency.had_core, .incomplete]]' json)" = \
		'[["one.pov",null,true,1,[]],["off.pov",null,true,null,[]],["lost.pov",null,false,1,["call"]],["unmatched.pov",null,false,1,[]],["none.pov","no_mpi",null,null,[]]]' ]
	[ "$(jq -c '.runs[4] | [.efficiency, .program, .computation_scaling, .global_efficiency, .speedup]' json)" = '[null,null,null,null,null]' ]
}

@test "scaling: another program, other work" {
	three_runs
	sed 's,/bin/app,/bin/other,' two.txt | trace other
	sed 's,"cmdline":\["./app"\],"cmdline":["./app"\,"200"],' two.txt | trace more
	"$POVTRACE" report --scaling one.pov other.pov four.pov | tr '\n' ' ' | tr -s ' ' |
		grep -qF 'other.pov is a run of another program (other, not app): comparing it with the others means nothing.'
	[ "$("$POVTRACE" report --scaling --json one.pov other.pov | jq .same_program)" = false ]
	"$POVTRACE" report --scaling one.pov more.pov >got
	sed -n '/^  The command lines differ/,$p' got | diff -u - /dev/fd/3 3<<-'END'
		  The command lines differ, so the work may differ, too:
		    one.pov: ./app
		    more.pov: ./app 200
	END
	"$POVTRACE" report --scaling --weak one.pov more.pov | no 'command lines'
}

@test "scaling: runs of several files, and several jobs of one file" {
	need python3
	three_runs
	sed -i '/"type":"host"/a meta {"type":"clocks","monotonic_ns":1000000,"boottime_ns":1000000,"realtime_ns":1700000000001000000}' two.txt
	"$make" two.txt two.pov
	"$POVTRACE" info --dump two.pov >all.txt
	"$tool/split_trace" 0 <all.txt | trace two_a
	"$tool/split_trace" 1 node8 <all.txt | trace two_b
	"$POVTRACE" report --scaling --json one.pov -- two_a.pov two_b.pov -- four.pov >json
	[ "$(jq -c '[.runs[] | [.name, .traces, .efficiency.ranks]]' json)" = '[["one.pov",["one.pov"],1],["two_a.pov",["two_a.pov","two_b.pov"],2],["four.pov",["four.pov"],4]]' ]
	[ "$(jq -c '.runs[1].efficiency | [.load_balance, .transfer_efficiency]' json)" = "$("$POVTRACE" report --scaling --json one.pov two.pov | jq -c '.runs[1].efficiency | [.load_balance, .transfer_efficiency]')" ]
	# two jobs beside each other
	{
		sed '/^end/d; s/"cpus":1}/"cpus":4}/; s/"rings":1/"rings":4/' one.txt
		grep -E '"type":"process"|^(fork|stream|switch|call)' two.txt |
			sed -E 's/(=|":)(100|200)\b/\1\20/g; s/"job":"j"/"job":"k"/; s/^stream 0/stream 2/; s/^stream 1/stream 3/; s/cpu=0/cpu=2/; s/cpu=1/cpu=3/'
		echo "end ts=102020000 reason=test"
	} | trace jobs
	"$POVTRACE" report --scaling --json jobs.pov >json
	scaled json '[["jobs.pov:0",1,100000,80000, 0.8,1,1,0.8,1, 1,0.8,1],
		["jobs.pov:1",2,80000,100000, 0.625,'"$(jq -n '5/6')"',1,0.75,1, 0.8,0.5,1.25]]'
}

@test "scaling: wrong usage, and files that cannot be compared" {
	three_runs
	fails 1 'compares runs, and one.pov is one' "$POVTRACE" report --scaling one.pov
	fails 1 'absent.pov' "$POVTRACE" report --scaling one.pov absent.pov
	echo junk >junk.pov
	fails 1 'junk.pov' "$POVTRACE" report --scaling one.pov junk.pov
	sed '/"type":"process"/d; /^call/d' one.txt | trace none
	fails 1 'is known; of 2, only one has it' "$POVTRACE" report --scaling one.pov none.pov
	fails 2 'are the same file' "$POVTRACE" report --scaling one.pov -- two.pov two.pov
	fails 2 'one run has none' "$POVTRACE" report --scaling one.pov -- -- two.pov
	fails 2 'one run has none' "$POVTRACE" report --scaling one.pov two.pov --
	fails 2 'must end in .svg' "$POVTRACE" report --scaling -o x.png one.pov two.pov
	fails 2 '--weak needs --scaling' "$POVTRACE" report --weak one.pov
	fails 2 'so FILE must end in .html' "$POVTRACE" report -o x.svg one.pov
	fails 2 'a table of its own' "$POVTRACE" report --scaling --rank 0 one.pov two.pov
	fails 2 'a table of its own' "$POVTRACE" report --scaling --functions one.pov two.pov
	fails 1 'cannot create absent/x.svg' "$POVTRACE" report --scaling -o absent/x.svg one.pov two.pov
	disk_is_full 1 "$POVTRACE" report --scaling one.pov two.pov
	run -2 "$POVTRACE" report --scaling
}

@test "diff: efficiencies, as the reports have them" {
	three_runs
	"$POVTRACE" diff two.pov four.pov >got
	sed -n '/^  efficiency/,/^$/p' got | diff -u - /dev/fd/3 3<<-'END'
		  efficiency           before  after  points
		  parallel efficiency    62 %   25 %   -37.5
		  load balance           83 %  100 %   +16.7
		  serialisation         100 %   25 %   -75.0
		  transfer               75 %  100 %   +25.0
		  on a core             100 %  100 %       .
		  Efficiencies are those of all ranks of each run.

	END
	"$POVTRACE" diff --json two.pov four.pov >json
	for run in before:two after:four; do
		diff <("$POVTRACE" report --json ${run#*:}.pov | jq -S '.efficiency[0] | del(.job)') \
			<(jq -S ".efficiency[0].${run%:*} | del(.incomplete)" json)
	done
	jq -e '.efficiency[0] as $p | $p.job == 0 and ($p.change | length == 6 and (to_entries | all(.value == $p.after[.key] - $p.before[.key])))' json
	# what is a limit, lost or not known in one run is so in both
	grep -v 'tgid=300 func=2 ' four.txt >unmatched.txt
	"$make" unmatched.txt unmatched.pov
	"$POVTRACE" diff four.pov unmatched.pov | tr -s ' ' >got
	grep -q '^ serialisation 25 % ≤33 % ~+8.3$' got
	grep -q '^ transfer 100 % ≥75 % ~-25.0$' got
	grep -q '^ load balance 100 % 100 % \.$' got
	sed 's/"sched":"all"/"sched":"off"/; /^switch/d' two.txt | trace off
	"$POVTRACE" diff two.pov off.pov | tr -s ' ' | grep -q '^ on a core 100 % - -$'
	[ "$("$POVTRACE" diff --json two.pov off.pov | jq -c '.efficiency[0] | [.before.had_core, .after.had_core, .change.had_core]')" = '[1,null,null]' ]
	sed '/^end/i lost ts=20000000 since=19500000 cnt=3 ring=0 class=call' two.txt | trace lost
	"$POVTRACE" diff lost.pov two.pov | tr -s ' ' | grep -q '^ load balance ~83 % 83 % \.$'
	[ "$("$POVTRACE" diff --json lost.pov two.pov | jq -c '.efficiency[0].before | [.incomplete, .path_is_whole]')" = '[["call"],false]' ]
}

# ---- phases and regions ----

# A rank is in the phase A, B, … at LEVEL from then on, or its phase at LEVEL ends; calls take no time.
phase() { call 10 "$1" "$2" 0 "$(printf '0x504f56%02x,0x%02x,0,0,0' "${4-0}" "'$3")"; } # RANK AT_US NAME [LEVEL]
phase_end() { call 10 "$1" "$2" 0 "$(printf '0x504f56%02x,0,0,0,0' $((16 + ${3-0})))"; } # RANK AT_US [LEVEL]
region() { # RANK AT_US REGION [end [SP]]
	echo "stream $1"
	echo "region ts=${2}000 tid=$((100 * $1 + 100)) tgid=$((100 * $1 + 100)) cpu=$1 region=$3 sp=${5-0x800}${4:+ flags=$4}"
}

main_begins() { region "$1" 1500 0; }

# parts FILE: a line for each phase and region: name, ranks, T in us, ΣU in us, and inside, load balance, serialisation, transfer, parallel efficiency and
# on core, rounded to thousandths.
parts() {
	"$POVTRACE" report --json "$1" >json
	parts_hold json
	jq -r 'def r: if . == null then "-" else . * 1000 | round / 1000 end; .region_efficiency[] |
		[.name, .ranks, .span_ns / 1000, .outside_ns / 1000, (.inside, .load_balance, .serialisation_efficiency, .transfer_efficiency, .parallel_efficiency, .had_core | r)] | join(" ")' json
}

@test "phases: one without loss, one with imbalance" {
	{
		phase 0 2000 A; phase 0 12000 B; barrier 0 22000 30000; phase_end 0 52000
		phase 1 2000 A; phase 1 12000 B; barrier 1 42000 10000; phase_end 1 52000
	} | ranks 2 60000 | trace run
	parts run.pov >got
	diff -u - got <<-'END'
		B 2 40000 40000 1 0.667 1 0.75 0.5 1
		A 2 10000 20000 1 1 1 1 1 1
	END
	"$POVTRACE" report --regions run.pov | sed -n '/^Efficiency/,$p' | diff -u - /dev/fd/3 3<<-'END'
		Efficiency in phases
		  phase  ranks      time  inside  parallel  balance  serial.  transfer  on core
		  B          2  40.00 ms   100 %      50 %     67 %    100 %      75 %    100 %
		  A          2  10.00 ms   100 %     100 %    100 %    100 %     100 %    100 %
	END
	"$POVTRACE" report run.pov | grep -q '^  The program marked 2 phases: povtrace report --regions prints the efficiency of each\.$'
}

@test "phases and regions: one that lasts all the time has the job's efficiencies" {
	local n i
	for n in 2 4; do
		for ((i = 0; i < n; i++)); do
			phase $i 2000 A
			[ $i = 0 ] || recv $i 2000 $((10000 * i + 2)) $((i - 1))
			[ $i = $((n - 1)) ] || send $i $((2000 + 10000 * (i + 1))) 2 $((i + 1))
			barrier $i $((2000 + 10000 * (i + 1) + 4)) $((10000 * (n - 1 - i) + 1))
		done | early=main_begins regions='"main"' ranks $n $((2000 + 10000 * n + 10)) | trace whole
		"$POVTRACE" report --json whole.pov >json
		[ "$(jq -c '[.region_efficiency[].name]' json)" = '["main","A"]' ]
		jq -e '.efficiency[0] as $job | .region_efficiency | all((. | del(.name, .kind, .entered, .inside_ns, .inside)) == $job and .inside == 1 and .entered == .ranks)' json
	done
	bystander | early=main_begins regions='"main"' ranks 2 802200 | trace held
	"$POVTRACE" report --json held.pov | jq -e '.efficiency[0] as $job | .region_efficiency[0] | (. | del(.name, .kind, .entered, .inside_ns, .inside)) == $job and (.had_core - 0.5 | fabs < 0.01)'
}

@test "regions: ranks in it one after the other, through a message or without one; one rank alone" {
	{
		region 0 2000 0; region 0 12000 0 end; send 0 12000 10 1; region 0 13000 1; region 0 18000 1 end; barrier 0 32000 10
		recv 1 2000 10010 0; region 1 12010 0; region 1 22010 0 end; barrier 1 32000 10
	} | regions='"solve","io","absent"' ranks 2 32010 | trace run
	parts run.pov >got
	diff -u - got <<-'END'
		solve 2 20000 20000 0.5 1 0.5 1 0.5 1
		io 1 5000 5000 1 1 1 1 1 1
	END
	# nobody waited for anybody: the path is one rank's, and all else is the other ranks' absence
	{
		region 0 2000 0; region 0 12000 0 end; barrier 0 32000 10
		region 1 12000 0; region 1 22000 0 end; barrier 1 32000 10
	} | regions='"solve"' ranks 2 32010 | trace apart
	[ "$(parts apart.pov)" = 'solve 2 20000 20000 0.5 1 1 0.5 0.5 1' ]
	# all together again and again, one of them late: stretches add up
	{
		for k in 0 1 2; do
			region 0 $((2000 + 10000 * k)) 0; barrier 0 $((3000 + 10000 * k)) 3000; region 0 $((6000 + 10000 * k)) 0 end
			region 1 $((2000 + 10000 * k)) 0; barrier 1 $((6000 + 10000 * k)) 0; region 1 $((6000 + 10000 * k)) 0 end
		done
	} | regions='"solve"' ranks 2 32010 | trace again
	[ "$(parts again.pov)" = 'solve 2 12000 15000 1 0.625 1 1 0.625 1' ]
	"$POVTRACE" report again.pov | sed -n '/^Efficiency in/,/^$/p' | diff -u - /dev/fd/3 3<<-'END'
		Efficiency in regions
		  region  ranks      time  inside  parallel  balance  serial.  transfer  on core
		  solve       2  12.00 ms   100 %      62 %     62 %    100 %     100 %    100 %

	END
}

@test "regions: recursion counts once, phases of two levels end together, and only what lies between MPI_Init and MPI_Finalize counts" {
	{
		region 0 3000 0 '' 0x700; region 0 4000 0 end 0x700; region 0 6000 0 end
		phase 0 6000 A; phase 0 7000 B 1; phase 0 8000 A 2; phase 0 9000 C; phase_end 0 11000
		phase 0 12000 D; barrier 0 13000 1000
	} | early=main_begins regions='"main"' ranks 1 20000 | trace run
	parts run.pov >got
	diff -u - got <<-'END'
		main 1 4000 4000 1 1 1 1 1 1
		D 1 8000 7000 1 1 1 0.875 0.875 1
		A 1 3000 3000 1 1 1 1 1 1
		B 1 2000 2000 1 1 1 1 1 1
		C 1 2000 2000 1 1 1 1 1 1
	END
}

@test "regions: time without a core, and what is not known" {
	{ region 0 102000 0; bystander | sed '/^call.*func=2 /,$d'; region 0 702000 0 end; bystander | sed -n '/^call.*func=2 /,$p'; } | regions='"work"' ranks 2 802200 | trace held
	[ "$(parts held.pov)" = 'work 1 600000 600000 1 1 1 1 1 0.333' ]
	sed 's/"sched":"all"/"sched":"off"/; /^switch/d; /^waking/d; /^task/d' held.txt | trace off
	[ "$(parts off.pov)" = 'work 1 600000 600000 1 1 1 1 1 -' ]
	no 'on core' <("$POVTRACE" report --regions off.pov)
	# not all messages are matched
	{ region 0 2000 0; recv 0 12000 10 1; region 0 22000 0 end; barrier 0 32000 10; barrier 1 32000 10; } | regions='"work"' ranks 2 32010 | trace unmatched
	"$POVTRACE" report --regions unmatched.pov | tr -s ' ' | grep -q '^ work 1 20.00 ms 100 % 100 % 100 % ≤100 % ≥100 % 100 %$'
	sed '/^end/i lost ts=20000000 since=19500000 cnt=3 ring=0 class=call' held.txt | trace lost
	"$POVTRACE" report --regions lost.pov | tr -s ' ' | grep -q '^ work ≥1 ~600.0 ms ~100 % ~100 % ~100 % ~100 % ~100 % ~33 %$'
	ranks 1 5000 </dev/null | trace none
	"$POVTRACE" report --regions none.pov | tr -s ' \n' ' ' | grep -q 'The program marked no phases (MPI_Pcontrol), and no region was recorded (record --region)\.'
	[ "$("$POVTRACE" report --json none.pov | jq -c .region_efficiency)" = '[]' ]
}

@test "phases: many, of which the largest have a path" {
	for i in 0 1; do
		for ((k = 0; k < 20; k++)); do
			phase $i $((2000 + 100 * k + k * k)) "$(printf "\\x$(printf %x $((65 + k)))")"
		done
		phase_end $i 5000
	done | ranks 2 5000 | trace many
	parts many.pov >got
	[ "$(wc -l <got)" = 20 ]
	[ "$(grep -c ' 2 .* 1 1 1 1 1 1$' got)" = 16 ]
	[ "$(grep -c ' 2 .* 1 1 - - 1 1$' got)" = 4 ]
	[ "$(head -1 got)" = 'T 2 739 1478 1 1 1 1 1 1' ]
	"$POVTRACE" report --regions --top 3 many.pov >text
	grep -q 'Serialisation and transfer are known only for the 16 phases and regions' text
}

# A token goes round 4 ranks 10 times. Whoever gets it computes 30 us and sends it on, which takes 2 us. Recording a call
# takes 12 us: 4 as it begins, 8 after its end. So a rank spends 24 of 176 us on it in each round, and the token 48.
@test "tracing cost: ranks that wait for ranks that are recorded" {
	local hop rank got=2000 last=(2001 2001 2001 2001)
	for ((hop = 0; hop < 40; hop++)); do
		rank=$((hop % 4))
		[ $hop = 0 ] || recv $rank "${last[rank]}" $((got - last[rank])) $(((rank + 3) % 4))
		[ $hop = 39 ] || send $rank $((got + 38)) 5 $(((rank + 1) % 4))
		last[rank]=$((got + 38 + 5 + 8))
		got=$((got + 44))
	done | ranks 4 3800 | sed '1a meta {"type":"probe_cost","call_ns":12000,"spin_ns":0,"stepped_ns":0,"samples":9}' | trace token
	"$POVTRACE" report --json token.pov >got
	jq -c .distortion got
	jq -e '.distortion | (.run_share - 39 * 12 / 1800 | fabs < 0.02) and (.share - 24 / 176 | fabs < 0.02)' got
	jq -e '.distortion.text | startswith("about 25 % of the run is due to tracing, which held up ranks that others waited for. It took 13 %")' got
	sed s/12000/0/ token.txt | trace free
	"$POVTRACE" report --json free.pov | jq -e '.distortion.run_share // 0 == 0'
}
