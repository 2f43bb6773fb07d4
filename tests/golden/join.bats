#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Several recordings read together: a job recorded by one recorder, and by two with half of the ranks each, one of which has another clock
# (tests/tool/split_trace), gives the same report and one timeline.

load lib

setup() {
	begin
	need jq
	export LC_ALL=C
	need python3
	"$make" "$data/report_run.txt" all.pov
	"$POVTRACE" info --dump all.pov >all.txt
}

# part NAME RANKS [HOST SHIFT_NS DRIFT_PPM]
part() { "$tool/split_trace" "${@:2}" <all.txt | trace "$1"; }

# The report's values of each rank, as text that can be compared; times that have a member are rounded to that many ns.
ranks_of() { # ROUND FILE...
	local round=$1
	shift
	"$POVTRACE" report --json "$@" | jq -S --argjson r "$round" '[.ranks[] | {rank, process, threads, calls, functions,
		message_sizes, switches, wall_ns, running_ns, runnable_ns, blocked_ns, unknown_ns, mpi_ns, polling_ns}] |
		sort_by(.rank) | (.. | numbers) |= ((. + $r / 2) / $r | floor)'
}

@test "join: two recorders of one clock: rank by rank the report of one" {
	part a 0
	part b 1 node8
	ranks_of 1 all.pov >want
	ranks_of 1 a.pov b.pov >got
	diff want got
	[ "$(jq length got)" = 2 ]
}

@test "join: the order of the files is that of the hosts, not of the ranks" {
	part a 0
	part b 1 node8
	"$POVTRACE" report --json b.pov a.pov >r.json
	[ "$(jq -c '[.ranks[] | [.rank, .host]]' r.json)" = '[[1,"node8"],[0,"node7"]]' ]
	[ "$(jq -c '[.hosts[] | [.host, .first_cpu, .cpus]]' r.json)" = '[["node8",0,2],["node7",2,2]]' ]
}

@test "join: another host's clock is shifted and drifts" {
	# The end of the recording shows the drift: without its clocks only the offset is known.
	sed -i '/"type":"end"/i meta {"type":"clocks","monotonic_ns":11000000,"boottime_ns":11000000,"realtime_ns":1700000000011000000}' all.txt
	part a 0
	part b 1 node8 -900000 300
	"$POVTRACE" report --json a.pov b.pov >r.json
	[ "$(jq '.hosts[1].clock_offset_ns' r.json)" = 900000 ]
	jq -e '.hosts[1].clock_drift_ppb | . > -300200 and . < -299700' r.json
	# to within 10 ns, because single times are rounded
	ranks_of 10 all.pov >want
	ranks_of 10 a.pov b.pov >got
	[ "$(diff want got | grep -c '^[<>]')" -le 8 ]
	ranks_of 1000 all.pov >want
	ranks_of 1000 a.pov b.pov >got
	diff want got
}

@test "join: the offset is that of the recording's begin, however late the clocks were read" {
	# the end is 5 ms after the begin, and in that time this host's clock loses 1,500 ns
	sed -i 's/"monotonic_ns":1000000,"boottime_ns":1000000,"realtime_ns":1700000000001000000/"monotonic_ns":6000000,"boottime_ns":6000000,"realtime_ns":1700000000006000000/' all.txt
	sed -i '/"type":"end"/i meta {"type":"clocks","monotonic_ns":11000000,"boottime_ns":11000000,"realtime_ns":1700000000011000000}' all.txt
	[ "$(grep -c '"monotonic_ns":6000000' all.txt)" = 1 ]
	part a 0
	part b 1 node8 -900000 300
	"$POVTRACE" report --json a.pov b.pov >r.json
	jq -e '.hosts[1].clock_offset_ns | . >= 899998 and . <= 900002' r.json
}

@test "join: --offset moves one of the files" {
	part a 0
	part b 1 node8 5000 0
	# by the time of day the offset is 5000 ns; the user says that this was wrong by 700
	"$POVTRACE" report --json --offset b.pov=700 a.pov b.pov >r.json
	[ "$(jq '.hosts[1].clock_offset_ns' r.json)" = -4300 ]
	"$POVTRACE" report --json a.pov b.pov >r0.json
	[ $(($(jq '.ranks[1].start_ns' r.json) - $(jq '.ranks[1].start_ns' r0.json))) = 700 ]
	fails 2 '"c.pov=700" is not FILE=NANOSECONDS' "$POVTRACE" report --offset c.pov=700 a.pov b.pov
	run -2 "$POVTRACE" export --offset b.pov=1ms a.pov b.pov -o x.json
	[ ! -e x.json ]
	fails 2 'are the same file' "$POVTRACE" report a.pov b.pov ./a.pov
}

@test "join: one timeline, named by hosts, in both formats" {
	part a 0
	part b 1 node8 123456789 0
	"$POVTRACE" export all.pov -o all.json
	"$POVTRACE" export a.pov b.pov -o job.json --totals >totals.json
	"$tool/json_check" job.json
	names='[.traceEvents[] | select(.name == "process_name") | .args.name]'
	jq -e "$names | contains([\"rank 0 · app · node7\"]) and contains([\"rank 1 · run.py · node8\"])" job.json
	# the calls of each rank at the same times and as long as in the one recording
	slices() {
		jq -c '([.traceEvents[] | select(.name == "process_name") | {key: .pid | tostring, value: .args.name}] |
			from_entries) as $n | .traceEvents[] | select(.ph == "X" and (.name | startswith("MPI_"))) |
			[($n[.pid | tostring] | split(" · ")[0]), .name, .ts, .dur, .args.count, .args.bytes]' "$1" | sort
	}
	slices all.json >want
	slices job.json >got
	[ -s want ]
	diff want got
	# a CPU is shown with its number on its own host
	cpus='[.traceEvents[] | select(.ph == "C" and (.name | contains("CPU"))) | .name] | unique'
	[ "$(jq -c "$cpus" job.json)" = '["node7 CPU 0","node7 CPU 1","node8 CPU 0","node8 CPU 1"]' ]
	"$POVTRACE" export a.pov b.pov -o job.pftrace
	[ -s job.pftrace ]
}

@test "join: CPUs, losses and text name the host" {
	part a 0
	echo "lost ts=1500000 since=1400000 cnt=3 ring=1 class=sched" >>all.txt
	echo 'meta {"type":"late","ts_ns":1200000,"pid":200,"library":0,"late_ns":1000}' >>all.txt
	part b 1 node8
	"$POVTRACE" report --all a.pov b.pov >text
	grep -q 'node8:1' text
	grep -q 'its times are shifted by +0.000000000 s and +0.0 ppm' text
	# a process is shown with its number on its own host
	grep -q 'LATE       process 200: libmpi.so.40' text
	# the sums are under their columns, and equal those of one recording, except for the marks of one loss
	sums() { sed -n "/^Context switches/,/^\$/p" "$1" | awk '$1 == "all" { $1 = $1; gsub(/[≥~]/, ""); print }'; }
	"$POVTRACE" report --all all.pov >whole
	[ -n "$(sums whole)" ]
	[ "$(sums text)" = "$(sums whole)" ]
	"$POVTRACE" report --json a.pov b.pov >r.json
	# the loss is on node8's CPU 1, which is CPU 3 of the whole
	[ "$(jq -c '[.cores[] | select(.incomplete != []) | .cpu]' r.json)" = '[3]' ]
}

@test "join: a limit of CPU time held back ranks of its own host" {
	sed -i '/"type":"end"/i meta {"type":"cpu_limit","ts_ns":1300000,"to_ns":9900000,"cgroup":"/a","pids":[100,200],"quota_us":1,"period_us":9,"periods":3,"throttled":2,"throttled_ns":2000000}' all.txt
	part a 0
	part b 1 node8 -900000 300
	"$POVTRACE" report --json --top 0 a.pov b.pov >r.json
	[ "$(jq -c '[.findings[] | select(.kind == "cpu_quota") | .rank] | sort' r.json)" = '[0,1]' ]
}

@test "join: recordings that do not fit together are refused" {
	part a 0
	sed -i 's/"sched":"all"/"sched":"ranks"/' all.txt
	part b 1 node8
	fails 1 'recorded with different --sched' "$POVTRACE" report a.pov b.pov
	sed -i '/"type":"clocks"/d' all.txt
	part c 1 node8
	fails 1 'c.pov has no clocks' "$POVTRACE" report a.pov c.pov
	fails 1 'missing.pov' "$POVTRACE" report a.pov missing.pov
	fails 1 "b.pov is the recording itself" "$POVTRACE" export a.pov b.pov -f json -o b.pov
}

@test "join: a host with a truncated or damaged file is named" {
	part a 0
	part b 1 node8
	head -c -64 b.pov >cut.pov
	"$POVTRACE" report --all a.pov cut.pov >text 2>err
	grep -q INCOMPLETE text
	[ "$("$POVTRACE" report --json a.pov cut.pov 2>/dev/null | jq .recording.complete)" = false ]
}

# messages SHIFT_NS PPM FALSE_NS: a.pov and b.pov of two ranks that send each other 200 messages in turn, one every 100 us; each takes 1 to
# 11 us. The clock of rank 1's host is SHIFT_NS ahead and gains PPM; its time of day is FALSE_NS ahead.
messages() {
	local rank
	{
		grep -E '^(meta|task|fork)' "$data/report_run.txt" | grep -v '"type":"end"'
		for rank in 0 1; do
			echo "stream $rank"
			awk -v rank=$rank 'BEGIN {
				pid = rank ? 200 : 100
				for (i = 0; i < 200; i++) {
					at = 2000000 + i * 100000
					sends = i % 2 == rank
					begin = sends ? at : at - 20000
					end = sends ? at + 3000 : at + 1000 + i * 7919 % 10007
					printf "call ts=%d dur=%d tid=%d tgid=%d func=%d cpu=%d args=0x7f00,4,0x1000,%d,7,0x2000%s tsize=2:4\n",
						end, end - begin, pid, pid, sends ? 2 : 3, rank, !rank, sends ? "" : ",0x7ffe"
				}
			}'
		done
		echo 'meta {"type":"end","ts_ns":26000000,"reason":"command ended"}'
	} >messages.txt
	"$make" messages.txt all.pov
	"$POVTRACE" info --dump all.pov >all.txt
	part a 0
	part b 1 node8 "$1" "$2"
	sed "s/1700000000001000000/$((1700000000001000000 + $3))/" b.txt >false.txt
	"$make" false.txt b.pov
}

@test "join: messages give the offset of the clocks, whatever the time of day is" {
	messages 7000000 50 3000000
	"$POVTRACE" report --json a.pov b.pov >r.json
	jq -e '.hosts[1] | .clock_by == "messages" and .clock_of == "node7" and .clock_messages == 200 and .clock_violated_ns == 0' r.json
	jq -e '.hosts[0] | .clock_offset_ns == 0 and .clock_drift_ppb == 0 and .clock_uncertainty_ns == null' r.json
	# in truth, the offset is 7 ms less, and the drift 50 ppm less over the 25 ms from start to end
	jq -e '.hosts[1] | (.clock_offset_ns + 7000000) as $first | ($first + (.clock_drift_ppb + 50000) * 0.025) as $last |
		($first | fabs) <= .clock_uncertainty_ns and ($last | fabs) <= .clock_uncertainty_ns and .clock_uncertainty_ns < 8000' r.json
	"$POVTRACE" report --all a.pov b.pov >text
	grep -qE 'its times are shifted by -0.00[67][0-9]* s and .* ppm,$' text
	grep -qE '^ +by 200 messages: to within [0-9.]+ us of node7'"'s" text
	# every message has its arrow
	"$POVTRACE" export a.pov b.pov -o x.json --totals >totals
	[ "$(jq -c '[.arrows, .arrows_reversed]' totals)" = '[200,0]' ]
	jq -e '.metadata | .host_2_offset_ns < -6990000 and .host_2_uncertainty_ns < 8000' x.json
	# the user may override that
	"$POVTRACE" report --json --offset b.pov=-2990000 a.pov b.pov >r.json
	[ "$(jq -c '.hosts[1] | [.clock_offset_ns, .clock_drift_ppb, .clock_by]' r.json)" = '[-6990000,0,"offset"]' ]
	"$POVTRACE" export --offset b.pov=0 a.pov b.pov -o x.json --totals >totals
	[ "$(jq -c '[.arrows, .arrows_reversed]' totals)" = '[100,100]' ]
}

@test "join: messages without information leave the clocks as they are" {
	messages 7000000 0 3000000
	# messages in one direction only
	grep -v 'func=2 .*tid=200\|tid=200 .*func=2' false.txt >one.txt
	"$make" one.txt b.pov
	"$POVTRACE" report --json a.pov b.pov >r.json
	[ "$(jq -c '.hosts[1] | [.clock_offset_ns, .clock_by, .clock_of, .clock_violated_ns]' r.json)" = '[-4000000,"time_of_day","node8",0]' ]
	"$POVTRACE" report --all a.pov b.pov | grep -q ' by the time of day: too few messages went both ways'
	# a clock that is set back by 1 ms half-way
	awk '/^call/ { for (i = 2; i <= NF; i++) if ($i ~ /^ts=/ && substr($i, 4) > 19000000) $i = "ts=" substr($i, 4) - 1000000 } { print }' false.txt >set.txt
	"$make" set.txt b.pov
	"$POVTRACE" report --json a.pov b.pov >r.json
	jq -e '.hosts[1] | .clock_offset_ns == -4000000 and .clock_by == "time_of_day" and .clock_violated_ns > 100000 and .clock_violated_ns < 500000' r.json
	"$POVTRACE" report --all a.pov b.pov | grep -qE 'some message would arrive [0-9.]+ us before it was sent'
}

@test "join: files with any content are read or refused" {
	for seed in 1 3; do
		"$tool/random_trace" $seed | trace a
		"$tool/random_trace" $((seed + 1)) | trace b
		run "$POVTRACE" report a.pov all.pov b.pov
		[ "$status" -le 1 ]
		run "$POVTRACE" export a.pov b.pov -o x.json
		[ "$status" -le 1 ]
	done
}

@test "join: hosts with the same name get numbers" {
	part a 0
	part b 1
	[ "$("$POVTRACE" report --json a.pov b.pov | jq -c '[.hosts[].host]')" = '["node7#1","node7#2"]' ]
}

@test "join: recordings of the same host but different runs are refused, unless forced" {
	part a 0
	part b 1
	# 900 s later, by its own clock and by the time of day
	"$tool/split_trace" 1 node7 900000000000 0 <all.txt | sed 's/"realtime_ns":1700000000/"realtime_ns":1700000900/g' | trace later
	for command in report advise "export -o x.json" "diff a.pov --"; do
		set -- $command
		fails 1 'a.pov and later.pov were recorded on one host at different times: they do not belong to one run' "$POVTRACE" "$@" a.pov later.pov
	done
	"$POVTRACE" report --one-run --json a.pov later.pov >got
	[ "$(jq -c '[.ranks[].rank]' got)" = '[0,1]' ]
	# for another host, nothing can be said about that
	sed 's/"hostname":"node7"/"hostname":"node8"/' later.txt | trace elsewhere
	"$POVTRACE" report a.pov elsewhere.pov >got
	# at the same time, and another job
	sed 's/"job":"[^"]*"/"job":"another"/' b.txt | trace other
	fails 1 'a.pov and other.pov belong to different jobs on one host: they do not belong to one run' "$POVTRACE" report a.pov other.pov
	"$POVTRACE" report --one-run a.pov other.pov >got
	grep -q '^  other.pov\|2 ranks' got
	# one of them names no job
	sed 's/"job":"[^"]*"/"job":""/' b.txt | trace nameless
	"$POVTRACE" report a.pov nameless.pov >got
}
