#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The first screen on waits: whom ranks waited for, and what is said where that is known only in part, as in calls that make communicators,
# in locks, and in jobs that ran before the recording.

load lib
load made_run
needs jq

dup() { call 17 "$1" "$2" "$3" 0x44000000,0x7f00 out=1:i0x84000001; } # RANK BEGIN_US DURATION_US

@test "screen: a rank that comes late to MPI_Comm_dup" {
	{ dup 0 2100 400000; dup 1 402000 100; barrier 0 402200 100; barrier 1 402200 100; } | ranks 2 402400 | screen run
	grep -q '1 Rank 1 computes while rank 0 waits (MPI_Comm_dup)' line
	jq -e '.account | .waiting_ns == 399900000 and .transfer_ns < 1000000' json
}

# A rank that leaves before the last one arrives did not wait for it.
@test "screen: MPI_Comm_dup that did not wait" {
	{ dup 0 2100 200000; dup 1 402000 100; } | ranks 2 402200 | screen run
	jq -e '.account.waiting_ns == 0' json
}

# For each argument a barrier of seven ranks, to which this rank comes 10 ms after the others.
barriers() { # RANK…
	local i last at=2010
	for last; do
		for i in {0..6}; do
			if [ "$i" = "$last" ]; then barrier "$i" $((at + 10000)) 10; else barrier "$i" $at 10010; fi
		done
		at=$((at + 10020))
	done
}

@test "screen: the rank that a rank waited for longest in collectives" {
	local losses='/^Ranks/,/^$/ { if (match($0, /waited for .*/)) print $1, substr($0, RSTART) }'
	barriers 6 5 6 | ranks 7 32080 | screen run
	awk "$losses" got | diff - <(printf '%s\n' "5 waited for rank 6" "6 waited for rank 5" {0..4}" waited for rank 6" | sort)
	# nobody was last for half of the time
	barriers 1 2 3 4 5 6 | ranks 7 62140 | screen turns
	awk "$losses" got | diff - <(printf '%s\n' {0..6}" waited for late ranks")
}

# An attached job: a barrier in a communicator, and requests, that were made before the recording.
attached() { # <SCRIPT
	ranks 2 402400 | sed -e 's/^fork ts=[0-9]* tid=1 child=\([0-9]*\) .*/task ts=1000000 tid=\1 tgid=\1 comm=app/' -e '/func=[19] /d'
}

@test "screen: a job that ran before the recording" {
	local request=1,0x7e00,1 made=in=1:i0x98000001 old=0x84000007
	# ranks take turns
	{ call 5 0 2100 200000 $old; call 5 1 202000 100 $old; call 5 1 202200 199900 $old; call 5 0 402000 100 $old; } | attached | screen turns
	grep -q '→ Record the job from its start to see whom ranks waited for\.' line
	grep -q ' 4 collective calls could not be matched for certain: waiting in them counts as transfer (--findings)\.' line
	{ call 16 0 2100 200000 $request $made; call 16 1 202000 100 $request $made; call 16 1 202200 199900 $request $made; } | attached | screen requests
	grep -q '→ Record the job from its start to see whom ranks waited for\.' line
	grep -q ' 3 waits were for requests whose start was not recorded: they count as transfer\.' line
	# one computes longer
	{ call 5 0 2100 400000 $old; call 5 1 402000 100 $old; } | attached | screen longer
	grep -q '1 Rank 1 computes longer; rank 0 may wait for it (MPI_Barrier)' line
}

@test "screen: a lock for each access" {
	load two_ranks
	for i in 0 1 2 3 4 5; do call 16 $((100 + i % 2 * 100)) $((2000 + 5000 * i)) 4500 $((1 - i % 2)),0x20000000; done | {
		cat
		finalize 40000
	} | two_ranks | screen locks
	grep -q '→ Make more accesses for each MPI_Win_unlock, or, if no lock is exclusive, call MPI_Win_lock_all once and then MPI_Win_flush\.' line
}

@test "screen: a rank computes while it holds a lock: sharing its work would not help" {
	load two_ranks
	{
		call 10 100 1400 100 0,64,8,0,0x44000000,0x9100 out=5:i1610612736
		call 10 200 1400 100 0,64,8,0,0x44000000,0x9200 out=5:i1610612736
		call 11 100 2000 1 234,0,0,0x60000000
		call 13 100 2100 1 0x7f00,8,0x4c000101,0,0,8,0x4c000101,0x60000000
		call 11 200 2500 99510 234,0,0,0x60000000
		call 16 100 102000 5 0,0x60000000
		call 5 100 102100 30005 0x44000000
		call 16 200 132000 5 0,0x60000000
		call 5 200 132100 5 0x44000000
		finalize 133000
	} | two_ranks | screen held
	grep -q '1 Rank 0 computes while rank 1 waits for a lock that it holds .* (MPI_Win_lock)' line
	grep -q '→ Compute before locking, or after MPI_Win_unlock, so that the lock is held for the accesses only\.' line
	jq -e '.reasons[0] | .kind == "computed" and .shorter_by == "limit"' json
}
