#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The first screen's account, efficiencies and causes, on made-up runs with a known truth.

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

@test "efficiency: all ranks compute the same time" {
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

@test "efficiency: each rank computes after it received from the one before" {
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

@test "efficiency: a leaf of a broadcast is late: only the library made the root wait" {
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

@test "screen: each loss counts once, at its root cause: another program on a rank's core" {
	bystander | ranks 2 802200 | screen run
	same_as "$data/screen_bystander.out" got
	[ "$(wc -l <got)" -le 30 ]
	no '.\{101\}' <(LC_ALL=C.UTF-8 sed 's/[^ -~]/?/g' got)
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .pid == 2745 and .own_ns == 400000000 and .waited_ns == 400000000 and
		.shorter_by == "replay" and .shorter_low_ns == 400000000 and .shorter_high_ns == 400000000' json
	jq -e '.efficiency[0].had_core - 0.5 | fabs < 0.01' json
}

@test "screen: the place of a cause is the one with most waiting in all, not the one with the longest wait" {
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

# In a round, the ranks compute for 10 ms each, one after the other: each receives what the other one sends after computing.
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

# Rank 0 prepares a task for 5 ms, on which rank 1 then computes for 20 ms. Without rank 0's part, the run would be 50 ms shorter. If rank 0
# did 7.5 ms of rank 1's work meanwhile, it would be 75 ms shorter.
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
	grep -q '^  2  At other times, rank 0 computes while rank 1 waits (MPI_Recv) .* 49\.9 *≤ 50 ms$' got
	grep -q 'Rank 0 computed 51 ms in all, rank 1 0\.20 s\.' line
	grep -q '→ Send what goes by MPI_Send earlier, or in parts, so that ranks compute at the same time\.' line
}

# Rank 0 computes before a broadcast, then rank 1 before a barrier.
@test "screen: ranks take turns before collectives: the advice names the call of the longest waiting" {
	local i at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 30000 * i))
		bcast 0 $((at + 16000)) 2
		bcast 1 $((at + 10)) 15994
		barrier 0 $((at + 16010)) 13986
		barrier 1 $((at + 29990)) 6
	done | ranks 2 302010 | screen steps
	grep -q '^  1  Ranks take turns: some compute while others wait (MPI_Bcast) ' got
	grep -q '→ Balance each step before MPI_Bcast, not only the total of all steps\.' line
}

# Rank 1 computes for 22 ms, rank 0 for 14 ms, because another program has rank 0's core for 10 ms. Yet rank 1 waits for 6 ms, and rank 0
# for 4 ms.
@test "screen: the longest waiting is for the rank that computes less: they take turns" {
	{
		echo "task ts=1900000 tid=2745 tgid=2745 state=1 cpu=0 comm=bystander"
		echo "stream 0"
		bcast 0 8000 4
		echo "waking ts=10000000 tid=100 target=2745 cpu=0 target_cpu=0"
		echo "switch ts=10000001 cpu=0 prev=100 next=2745 flags=preempted"
		echo "switch ts=20000000 cpu=0 prev=2745 next=100 state=1"
		barrier 0 26000 4010
		bcast 1 2010 5994
		barrier 1 30000 10
	} | ranks 2 30020 | screen less
	grep -q 'Ranks take turns: some compute while others wait (MPI_Bcast) ' got
	grep -q 'Rank 1 computed most: 22 ms, rank 0 14 ms\. The longest waiting was for rank 0, ' line
}

@test "screen: two ranks of four compute longer: they do not take turns" {
	{
		for i in 0 1; do barrier $i 12000 20010; done
		for i in 2 3; do barrier $i 32000 10; done
	} | ranks 4 32020 | screen uneven
	grep -q '^  1  Some ranks compute longer, and the others wait (MPI_Barrier) .*  10 ms$' got
	grep -q '→ Share the work before MPI_Barrier among the ranks\.' got
}

# Another program has the core of rank 1 for 10 ms. The root of a broadcast does not wait for rank 1 then, but later.
@test "screen: a late rank's delays count until somebody has waited for it" {
	{
		echo "task ts=1900000 tid=2745 tgid=2745 state=1 cpu=1 comm=bystander"
		echo "stream 1"
		echo "switch ts=2100000 cpu=1 prev=200 next=2745 flags=preempted"
		echo "switch ts=12100000 cpu=1 prev=2745 next=200 state=1"
		bcast 0 12000 2
		bcast 1 22100 2
		barrier 0 22002 10200
		barrier 1 32200 2
	} | ranks 2 32210 | screen delays
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .own_ns == 10000000 and (.waited_ns - 10e6 | fabs < 1e5)' json
}

# Rank 0 waits for twelve ranks, which other programs delayed before it began to wait: each of them is charged with a twelfth.
@test "screen: many late ranks' delays count, though one rank waited" {
	local i
	{
		for i in {1..12}; do
			echo "task ts=1900000 tid=$((2745 + i)) tgid=$((2745 + i)) state=1 cpu=$i comm=bystander"
			echo "stream $i"
			echo "switch ts=2100000 cpu=$i prev=$((100 * i + 100)) next=$((2745 + i)) flags=preempted"
			echo "switch ts=12100000 cpu=$i prev=$((2745 + i)) next=$((100 * i + 100)) state=1"
		done
		barrier 0 12000 10102
		for i in {1..12}; do barrier $i 22100 2; done
	} | ranks 13 22110 | screen delays
	jq -e '.reasons[0] | .kind == "core_held_by_other" and .own_ns == 120000000 and (.waited_ns - 10e6 | fabs < 2e5)' json
}

# Both ranks wait 5 ms for 100 messages of $1 bytes each, which were all sent before.
many_messages() { # BYTES
	local k r all=""
	for ((k = 0; k < 100; k++)); do
		all+=,i$((738197505 + k))
		for r in 0 1; do
			call 11 $r $((2010 + 10 * k)) 1 "0x7f00,$1,0x4c000101,$((1 - r)),7,0x44000000,0x7e00" "out=6:i$((738197505 + k))"
			call 2 $r $((2015 + 10 * k)) 1 "0x7f00,$1,0x4c000101,$((1 - r)),7,0x44000000"
		done
	done
	for r in 0 1; do call 16 $r 4000 5000 100,0x7e00,1 "in=1/100:${all#,}"; done
}

@test "screen: many small messages that one call waits for" {
	many_messages 8 | ranks 2 20000 | screen small
	grep -q '[0-9]* % of it was in MPI_Waitall: 2 calls of 5\.0 ms on average; each completed at least 100 messages of 8 B\. → Put the messages that MPI_Waitall completes into fewer, larger ones\.' line
	many_messages 8192 | ranks 2 20000 | screen large
	no 'fewer, larger\|at least 100' <got
	grep -q '→ .*MPI_Test' got
}

# Rank 0 polls without success, and then sends what rank 1 waits for.
@test "screen: waiting for a rank that polled does not count as work of MPI" {
	{
		spin 0 2010 10000 800
		send 0 10010 10 1
		recv 1 2010 8010 0
	} | ranks 2 10100 | screen polled
	jq -e '[.reasons[] | select(.waited_ns > 7e6).kind] == ["transfer"]' json
	grep -q 'others waited 8\.0 ms for ranks that polled (MPI_Recv)\. Ranks polled for 8\.0 ms in all: 50,000 polls found nothing\. → See which functions polled' line
}

# Each MPI_Waitall takes 8 us, little of which computation could hide.
@test "screen: short waits, and many of them" {
	local k r request
	for ((k = 0; k < 100; k++)); do
		request=i$((738197505 + k))
		for r in 0 1; do
			call 11 $r $((2010 + 40 * k)) 1 "0x7f00,64,0x4c000101,$((1 - r)),7,0x44000000,0x7e00" "out=6:$request"
			call 2 $r $((2015 + 40 * k)) 1 "0x7f00,64,0x4c000101,$((1 - r)),7,0x44000000"
			call 16 $r $((2020 + 40 * k)) 8 1,0x7e00,1 "in=1:$request"
		done
	done | ranks 2 6010 | screen short
	grep -q '% of it was in MPI_Waitall: 200 calls of 8\.0 us on average\. → Call MPI_Waitall less often, for more or larger messages each time\.' line
}

# Rank 1 has nothing to do after 10 ms.
@test "screen: a rank that finishes before the other" {
	{
		barrier 0 2000 10
		barrier 1 2000 10
	} | ranks 2 52000 | trace together
	sed '/func=9 cpu=1/d; /^end/i stream 1\ncall ts=52010000 dur=40000000 tid=200 tgid=200 func=9 cpu=1 lib=1 args=' together.txt | screen early
	grep -q '^  1  Rank 1 is done before rank 0 .* ≤ 20 ms$' got
	grep -q 'Rank 1 was in MPI_Finalize, or had ended, for 40 ms while rank 0 still ran\. → Give rank 1 a part of rank 0.s work: it was done first\.' line
}

# In a round, ranks 0 and 1 compute for 3 ms each, one after the other, and then rank 2 for 10 ms with the result of rank 1.
@test "screen: ranks take turns, and another one computes longer: the sentences leave it out" {
	local i at
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 16100 * i))
		send 0 $((at + 3000)) 2 1
		recv 1 $((at + 10)) 2994 0
		send 1 $((at + 6010)) 2 2
		recv 2 $((at + 10)) 6004 1
		for r in 0 1 2; do barrier $r $((at + (r ? r * 6000 + 20 : 3010) + (r == 2 ? 4000 : 0))) $((16050 - (r ? r * 6000 + 20 : 3010) - (r == 2 ? 4000 : 0))); done
	done | ranks 3 163100 | screen rounds
	grep -q '^  1  Rank 2 computes while others wait (MPI_Barrier) ' got
	grep -q '^  2  Ranks take turns: some compute while others wait (MPI_Recv) .* ≤ ' got
	grep -q 'Apart from rank 2, rank [01] computed most: 3[01] ms\. The longest waiting was for rank [01]' line
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
	grep -q 'Rank 0 computed 20 ms in all, the others 0.20 s on average\. Most waiting ended when it called MPI_Send\.' line
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
	# a rank that leaves before the last one arrives did not wait for it
	writes_apart 2000 | ranks 2 222020 | screen apart
	jq -e '.account.waiting_ns < 1e6 and (.account.file_io_ns - 40e6 | fabs) < 1e6' json
}

# In a round, ranks 0 and 2 compute for 10 ms, and rank 3 for 12 ms. Rank 1 sleeps for 5 ms after computing for 10 ms; otherwise all would
# wait for rank 3.
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
@test "screen: a rank that waits in MPI_Finalize would leave it earlier" {
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
@test "screen: waiting for a rank whose calls are recorded is a cost of the recording" {
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
	grep -q 'Before these times, ranks waited in MPI_Init for rank 1, which called it up to 0\.15 s later than others: look at what it does before\.' line
	init_after 90 | screen soon
	no 'Before these times' line
}

# In a round, rank 0 sleeps for 10 ms, and ranks 1 and 2 for 2 of these.
@test "screen: ranks that sleep, except for one with another cause" {
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

@test "screen: the kind of sleep follows from the kernel's state and from the waker" {
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

@test "screen: a rank that sleeps between polls: what helps depends on whether others wait for it" {
	polite() {
		spin 0 2500 2600 8
		sleeps 3000 1 12000 0 2
		spin 0 12100 12200 8
		barrier 0 12500 1000
		barrier 1 ${1-2010} $((13500 - ${1-2010}))
	}
	polite 9000 | ranks 2 13600 | screen alone
	grep -q 'Rank 0 slept 9\.0 ms, between polls that found nothing; rank 1 waited 3\.. ms .* → See whom it polls for: it may only wait there\.' line
	polite | ranks 2 13600 | screen polls
	grep -q 'Rank 0 slept 9\.0 ms, between polls that found nothing; rank 1 waited .* → Sleep less between polls, or wait in MPI (MPI_Probe, MPI_Wait) instead, if messages come meanwhile\.' line
	jq -e '[.reasons[] | select(.kind == "slept").slept_mostly] == ["polling"]' json
	# a poll afterwards does not make it polling
	polite | sed "/^spin at=2500000/d" | ranks 2 13600 | screen once
	jq -e '[.reasons[] | select(.kind == "slept").slept_mostly] == ["interrupt"]' json
}

@test "screen: many small messages take the time" {
	local i
	for ((i = 0; i < 300; i++)); do
		send 0 $((2000 + 30 * i)) 20 1
		recv 1 $((2000 + 30 * i)) 21 0
	done | ranks 2 11020 | screen storm
	grep -q 'Messages and collectives take time.* Rank 0 sent rank 1 300 messages of 8 B on average, one right after another\. → Pack what goes to one rank into one message' line
}

@test "screen: each job has its own causes, means and limits" {
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

# In a round, rank 1 computes for $1 us and the others for 10 ms, before a call for which it is unknown who was late.
neighbours_after() { # DURATION_US [RANK…]
	local i at n
	for ((i = 0; i < 10; i++)); do
		at=$((2000 + 20000 * i))
		for n in "${@:2}"; do neighbours "$n" $((at + 10000)) 10000; done
		neighbours 1 $((at + $1)) $((20000 - $1))
	done
}

@test "screen: a place without a line is named once" {
	{ barrier 0 12000 10; barrier 1 2000 10010; barrier 0 22020 10; barrier 1 12020 10010; } |
		sed '/func=5/s/$/ site=0x10000123/' | ranks 2 22040 >made.txt
	{
		grep -E '^(meta|task)' made.txt
		echo 'meta {"type":"image","dev":8,"ino":77,"path":"/none/app"}'
		echo "image ts=1100 tid=100 tgid=100 dev=8 ino=77 start=0x10000000 len=0x10000 off=0"
		echo "image ts=1100 tid=200 tgid=200 dev=8 ino=77 start=0x10000000 len=0x10000 off=0"
		grep -vE '^(meta|task)' made.txt
	} | screen place
	grep -q '1 Rank 0 computes .* (MPI_Barrier in app+0x123)' line
	grep -q 'Most waiting ended when it called MPI_Barrier\.' line
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
	grep -q 'Rank 0 computed for 10 ms, 98 % of its time, between 500 polls that found nothing (see --functions)\. If it only waits there, that time is lost, too\.' line
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
	# a request is tested while its sender computes for 10 ms
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

# The same, but two processes of one program have the core, one after the other.
@test "screen: many processes of one program are one cause" {
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

# The first process of the program never had the core.
@test "screen: title and advice name the process that had the core" {
	{
		for tid in 2744 2745; do echo "task ts=1900000 tid=$tid tgid=$tid state=1 cpu=1 comm=cc1"; done
		bystander | sed '/^task/d'
	} | ranks 2 802200 | screen run
	grep '^  1  `cc1` (pid 2745) ran on CPU 0, which rank 0 needed  *0.80  *0.40 s$' got
	grep -q '→ Keep it off CPU 0: taskset -acp 1 2745,' got
	jq -e '.reasons[0] | .pid == 2745 and .processes == 1' json
}

# Four programs have the core. None costs more than the others together, so they are one cause.
@test "screen: several programs are one cause" {
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

@test "screen: the CPUs that are left for another program" {
	# rank 1 waits nearly all the time, so its CPU is free for the other program
	bystander | ranks 2 802200 | trace waits
	"$POVTRACE" report waits.pov | grep '→ Keep it off CPU 0: taskset -acp 1 2745, or a cpuset'
	# rank 1 computes, so no CPU is free
	{ bystander | sed '/^call.*tid=200/d'; recv 1 702010 100100 0; } | ranks 2 802200 | trace computes
	"$POVTRACE" report computes.pov | grep '→ Every CPU has a busy rank: run other work elsewhere or at another time'
	# there are more CPUs than ranks
	sed 's/"cpus":2/"cpus":4/' computes.txt | trace more
	"$POVTRACE" report more.pov | grep '→ Keep it off CPU 0: taskset -acp 1-3 2745, or a cpuset'
}

# Another program has the core of rank 0 for 0.7 ms before MPI_Init.
before_init() { # RANK
	[ "$1" = 0 ] || return 0
	echo "task ts=1000300 tid=3000 tgid=3000 state=1 cpu=0 comm=early"
	echo "stream 0"
	echo "waking ts=1000400 tid=100 target=3000 cpu=0 target_cpu=0"
	echo "switch ts=1000500 cpu=0 prev=100 next=3000 flags=preempted"
	echo "switch ts=1700500 cpu=0 prev=3000 next=100 state=1"
}

@test "screen: a process that had a core before MPI_Init is no cause" {
	bystander | early=before_init ranks 2 802200 | trace run
	account_of run.pov
	jq -e '[.reasons[] | select(.kind == "core_held_by_other")] | length == 1 and .[0].pid == 2745 and .[0].own_ns == 400000000' json
}

@test "screen: --min sets the least cost shown, --all shows all" {
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

@test "account: adds up for every recording" {
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
