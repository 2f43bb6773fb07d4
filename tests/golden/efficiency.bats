#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The first screen's account, efficiencies and causes, on made-up runs of which the truth is known.

load lib
load made_run

setup() {
	begin
	need jq
}

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
