#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Efficiencies of phases and regions, and the cost of tracing, on made-up runs with a known truth.

load lib
load made_run
needs jq

# A rank enters the phase A, B, … at LEVEL, or leaves its phase at LEVEL; these calls take no time.
phase() { call 10 "$1" "$2" 0 "$(printf '0x504f56%02x,0x%02x,0,0,0' "${4-0}" "'$3")"; } # RANK AT_US NAME [LEVEL]
phase_end() { call 10 "$1" "$2" 0 "$(printf '0x504f56%02x,0,0,0,0' $((16 + ${3-0})))"; } # RANK AT_US [LEVEL]
region() { # RANK AT_US REGION [end [SP]]
	echo "stream $1"
	echo "region ts=${2}000 tid=$((100 * $1 + 100)) tgid=$((100 * $1 + 100)) cpu=$1 region=$3 sp=${5-0x800}${4:+ flags=$4}"
}

main_begins() { region "$1" 1500 0; }

# parts FILE: a line for each phase and region: name, ranks, T in us, ΣU in us; then inside, load balance, serialisation, transfer, parallel
# efficiency and on core, rounded to thousandths.
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

@test "regions: ranks enter one after the other, with or without a message between; a region of a single rank" {
	{
		region 0 2000 0; region 0 12000 0 end; send 0 12000 10 1; region 0 13000 1; region 0 18000 1 end; barrier 0 32000 10
		recv 1 2000 10010 0; region 1 12010 0; region 1 22010 0 end; barrier 1 32000 10
	} | regions='"solve","io","absent"' ranks 2 32010 | trace run
	parts run.pov >got
	diff -u - got <<-'END'
		solve 2 20000 20000 0.5 1 0.5 1 0.5 1
		io 1 5000 5000 1 1 1 1 1 1
	END
	# nobody waited for anybody: the path is that of one rank, and the other ranks' time is absence
	{
		region 0 2000 0; region 0 12000 0 end; barrier 0 32000 10
		region 1 12000 0; region 1 22000 0 end; barrier 1 32000 10
	} | regions='"solve"' ranks 2 32010 | trace apart
	[ "$(parts apart.pov)" = 'solve 2 20000 20000 0.5 1 1 0.5 0.5 1' ]
	# all ranks are in it again and again, one of them late: its stretches add up
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

@test "regions: time without a core, and unknown time" {
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

# A token goes round 4 ranks 10 times. The rank that gets it computes for 30 us and sends it on, which takes 2 us. Recording a call takes 12
# us: 4 at its begin, 8 after its end. In each round, this takes a rank 24 of 176 us, and delays the token by 48.
@test "tracing cost: ranks that wait for others because these are recorded" {
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

@test "tracing cost: a rank that is done at once has lost little" {
	{ call 10 1 2010 20; call 9 1 2050 19960; } | ranks 2 22000 |
		sed '1a meta {"type":"probe_cost","call_ns":10000,"spin_ns":0,"stepped_ns":0,"samples":9}
			/ts=22010000 .*tid=200 /d' | trace done
	"$POVTRACE" report --json done.pov >got
	jq -c .distortion got
	jq -e '.distortion | .rank == 1 and .share > 0 and .share < 0.003' got
	# as much as the account has
	jq -e '(.account.ranks[1] | .tracing_ns / .total_ns) == .distortion.share' got
}
