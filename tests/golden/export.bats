#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace export: both formats compared with the expected output, with their own rules, and with other readers; selection; bad outputs;
# bounded memory.

load lib

setup() {
	begin
	need jq python3
	plain=$build/povtrace # the build under test has sanitizers; what is measured has none
	"$make" "$data/export_run.txt" run.pov
}

# run.pov of other events, from stdin, in the same program.
events() { { grep -E '^(meta|task)' "$data/export_run.txt"; cat; } | trace run; }

# Exports run.pov as $1; totals to totals.json, messages to err.
export_to() { "$POVTRACE" export run.pov -o "$@" --totals >totals.json 2>err; }

# totals WANTED: "name=value" of each.
totals() { for pair; do [ "$(total "${pair%=*}")" = "${pair#*=}" ] || { echo "$pair" && cat totals.json && return 1; }; done; }
total() { sed -n "s/^  \"$1\": \([0-9]*\),*$/\1/p" totals.json; }

# The version is the only thing in the output that changes with each release.
unversioned() { sed -E 's/(exported_by"[^"]*")povtrace [0-9.]+"/\1povtrace"/'; }

# native: run.pov in the native format, and decoded in got
native() {
	need protoc
	export_to run.pftrace
	protoc -I "$data" --decode=Trace perfetto_subset.proto <run.pftrace >got
}

@test "export: JSON is as expected" {
	export_to run.json
	unversioned <run.json >got
	same_as "$data/export_run.json" got
}

@test "export: protobuf, decoded by protoc, is as expected" {
	native
	packets <got | unversioned >packets
	same_as "$data/export_run.pftxt" packets
	# no field that the schema does not know
	no -E '^ *[0-9]+(:| \{)' <got
	# nor does decoding lose anything: the text, encoded again, has as many bytes
	[ "$(protoc -I "$data" --encode=Trace perfetto_subset.proto <got | wc -c)" = "$(wc -c <run.pftrace)" ]
}

@test "export: the source uses the schema's names for protobuf fields" {
	cd "$here/../.."
	grep -ho 'FIELD([a-z0-9_]*, [0-9]*)' user/timeline/*.[ch] | sort -u >"$BATS_TEST_TMPDIR/fields"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/fields")" -gt 50 ]
	sed 's/FIELD(\(.*\), \(.*\))/ \1 = \2[; ]/' "$BATS_TEST_TMPDIR/fields" | while read -r field; do
		grep -q " $field" "$data/perfetto_subset.proto" || { echo "$field"; return 1; }
	done
	run -1 grep -n 'pb_[a-z0-9]*([^()]*, [0-9]*[,)]' user/timeline/perfetto_pb*.c user/timeline/pb.c
}

@test "export: totals are those of povtrace info" {
	"$POVTRACE" info --json run.pov >info.json
	for f in run.json run.pftrace; do
		export_to $f
		[ "$(jq -c '{calls, open, spins, irqs, wakings, switches: (.switches - .synthetic), markers, bytes}' totals.json)" = \
			"$(jq -c --argjson bytes "$(wc -c <$f)" '{calls: .totals.calls, open: .totals.open_calls, spins: .totals.spins,
			irqs: .kinds.irq, wakings: .totals.wakings, switches: .totals.switches,
			markers: (.kinds.lost + 1), $bytes}' info.json)" ]
		[ "$(jq '.slices - .calls - .spins - .counted - .irqs - .markers + .misplaced' totals.json)" = 0 ]
	done
	totals calls=16 slices=24 flows=3 arrows=1 operations=1
}

# The ns that each thread had each CPU, of a JSON timeline.
cpu_times() {
	jq -r .systemTraceEvents "$1" | sed -nE 's/.*\[0*([0-9]+)\] \S+ ([0-9]+)\.([0-9]{9})5: sched_switch: .* next_pid=([0-9]+) .*/\1 \2 \3 \4/p' |
		awk '$1 in tid { ns[$1 " " tid[$1]] += ($2 - s[$1]) * 1000000000 + $3 - f[$1] } { tid[$1] = $4; s[$1] = $2; f[$1] = $3 }
			END { for (i in ns) if (i !~ / 0$/) print i, ns[i] }' | sort
}

@test "export: threads that pass a CPU to each other in calls: their switches are merged, their times stay" {
	sum=0
	for seed in 3 4; do
		"$tool/random_yields" "$seed" | events
		export_to run.json
		"$tool/json_check" run.json totals.json
		merged=$(total merged)
		sum=$((sum + merged))
		all=$(($(total switches) + merged))
		export_to all.json --every-switch
		"$tool/json_check" all.json totals.json
		totals switches=$all merged=0 synthetic=0
		[ "$(total switches)" = "$("$POVTRACE" info --json run.pov | jq .totals.switches)" ]
		cpu_times run.json >merged.txt
		cpu_times all.json >all.txt
		[ -s all.txt ] && diff all.txt merged.txt
		export_to run.pftrace
		totals switches=$((all - merged)) merged="$merged"
	done
	echo "$sum" && [ "$sum" -gt 5000 ]
}

@test "export: few switches, those with a thread that is not recorded, and those around calls are shown as they are" {
	events <<-'END'
	switch ts=1000001000000 cpu=0 prev=0 next=101
	callbegin ts=1000001001000 tid=101 begin=1000001000500 tgid=101 func=3
	switch ts=1000001001000 cpu=0 prev=101 next=50 flags=preempted
	switch ts=1000001002000 cpu=0 prev=50 next=101 flags=preempted
	repeat 100 step=2000 {
	  switch ts=1000001003000 cpu=0 prev=101 next=50 flags=preempted
	  switch ts=1000001004000 cpu=0 prev=50 next=101 flags=preempted
	}
	repeat 8 step=200000 {
	  switch ts=1000003000000 cpu=0 prev=101 next=103 flags=preempted
	  switch ts=1000003001000 cpu=0 prev=103 next=101 flags=preempted
	}
	repeat 100 step=10000 {
	  switch ts=1000005000000 cpu=0 prev=101 next=103 flags=preempted
	  call ts=1000005004000 dur=2000 tid=103 tgid=101 func=9 lib=1 args=1,1000,0x4c000405,1,42,0x44000000,2 out=6/1:i738197505
	  switch ts=1000005005000 cpu=0 prev=103 next=101 flags=preempted
	}
	end ts=1000010000000
	END
	export_to run.json
	totals switches=419 merged=0
	sed -i '/^ *call ts/d' run.txt
	"$make" run.txt run.pov
	export_to run.json
	[ $(($(total switches) + $(total merged))) = 419 ]
	[ "$(total merged)" -gt 150 ]
}

@test "export: a message shows how to make a large output smaller" {
	export_to run.json
	no 'is large' <err
	events <<-'END'
	repeat 320000 step=2000 {
	  switch ts=1000001000000 cpu=0 prev=101 next=50 flags=preempted
	  switch ts=1000001001000 cpu=0 prev=50 next=101 flags=preempted
	}
	end ts=1002000000000
	END
	"$plain" export run.pov -f json -o - 2>err >/dev/null
	grep -q 'to stdout: .* 640,00[0-9] switches' err
	grep -q 'this is large: .*--format pftrace' err
}

@test "export: an operation that another thread completes: the arrow leads from thread to thread" {
	events <<-'END'
	call ts=1000001000000 dur=1000 tid=101 tgid=101 func=9 lib=1 args=1,1000,0x4c000405,1,42,0x44000000,2 out=6/1:i738197505
	call ts=1000003000000 dur=1000 tid=103 tgid=101 func=8 lib=1 args=2,3,4 in=0/1:i738197505 out=0/1:i738197504 out=1/1:i1
	end ts=1000010000000
	END
	export_to run.json
	[ "$(jq -c '[.traceEvents[] | select(.cat == "operation") | [.name, .tid, .ts + 0, (.args.between_us | if . then . + 0 else . end)]]' run.json)" = \
		'[["started",101,999.999,null],["finished",103,2999.999,1999]]' ]
	export_to run.pftrace
	totals operations=1
	health run.pftrace totals.json
}

@test "export: findings are those of the report, above the ranks, where they happened" {
	"$make" "$data/export_findings.txt" run.pov
	"$POVTRACE" report --json --top 0 run.pov >report.json
	for f in run.pftrace run.json; do
		export_to $f
		[ "$(total findings)" = "$(jq '.findings | length' report.json)" ]
	done
	jq -c '.findings | sort_by(.text)[] | [.kind, .text, .cost_ns / 1e3, .rank, .from_ns != null]' report.json >want
	jq -c '[.traceEvents[] | select(.cat == "finding")] | sort_by(.name)[] |
		[.args.kind, .name, .args.cost_us + 0, .args.of_rank, (.args.at_no_certain_time | not)]' run.json >got
	diff -u want got
	# a core is held from 24 to 29, late sender from 2 to 6 ms, late in a collective from 9 to 14, late receiver from 16 to 18
	[ "$(jq -c '[.traceEvents[] | select(.cat == "finding" and (.args.kind | test("late|held"))) |
		[.ts / 1e3, .dur / 1e3, .args.kind]]' run.json)" = \
		'[[2,4,"late_sender"],[9,5,"late_in_collective"],[16,2,"late_receiver"],[24,5,"core_held_by_others"]]' ]
	# their process comes first; tracks by cost
	[ "$(jq -r '.traceEvents | (map(select(.name == "process_sort_index")) | min_by(.args.sort_index).pid) as $pid |
		map(select(.pid == $pid)) | (map(select(.name == "thread_name") | {key: "\(.tid)", value: .args.name}) | from_entries) as $names |
		[map(select(.name == "thread_sort_index")) | sort_by(.args.sort_index)[] | $names["\(.tid)"] | select(test("late|held"))] |
		join(", ")' run.json)" = "core held by others, late in collective, late sender, late receiver" ]
	export_to run.json --rank 1
	[ "$(jq -c '[.traceEvents[] | select(.cat == "finding").args.kind] | sort' run.json)" = \
		"$("$POVTRACE" report --json --top 0 --rank 1 run.pov | jq -c '[.findings[].kind] | sort')" ]
	export_to run.json --from 30ms
	[ "$(jq '[.traceEvents[] | select(.cat == "finding" and (.args.at_no_certain_time | not))] | length' run.json)" = 0 ]
}

@test "export: an independent reader of JSON finds no violated promise" {
	for f in run.json run.json.gz; do
		export_to $f
		"$tool/json_check" $f totals.json
	done
	gzip -dc run.json.gz >unzipped.json
	export_to run.json
	cmp run.json unzipped.json
}

@test "export: Perfetto takes all formats without complaint, and counts the same" {
	need_tp
	for trace in run findings phases; do
		"$make" "$data/export_$trace.txt" run.pov
		for f in run.json run.json.gz run.pftrace run.pftrace.gz; do
			export_to $f
			health $f totals.json
		done
	done
}

@test "export: scheduler events of targets only, or none: nothing is invented" {
	local unwanted=nothing
	for mode in ranks off; do
		[ $mode = ranks ] || unwanted='^switch \|^waking '
		sed "s/\"sched\":\"all\"/\"sched\":\"$mode\"/" "$data/export_run.txt" | grep -v "$unwanted" | trace run
		for f in run.json run.pftrace; do
			export_to $f
			health $f totals.json
		done
		grep -q '"monotonic_start_ns"' run.json
	done
	totals switches=0
	no systemTraceEvents <run.json
	no running_us <run.json
}

@test "export: a slice that begins together with an open call lies in it" {
	events <<-'END'
	call ts=1000000500000 dur=300000 tid=101 tgid=101 func=5 depth=1 lib=1 args=0x44000000
	call ts=1000000300000 dur=100000 tid=101 tgid=101 func=5 depth=2 lib=1 args=0x44000000
	call ts=1000000600000 dur=50000 tid=101 tgid=101 func=5 depth=1 lib=1 args=0x44000000
	call ts=1000001000000 dur=800000 tid=101 tgid=101 func=1 lib=1 flags=open args=0,0
	end ts=1000001000000
	END
	for f in run.json run.pftrace; do
		export_to $f
		totals slices=5 open=1
		health $f totals.json
	done
	"$tool/json_check" run.json totals.json
}

@test "export: more strings than the intern table holds" {
	events <<-'END'
	repeat 70000 step=1000 {
	call ts=1000001000000 dur=500 tid=101 tgid=101 func=5 site=0x400000+16*i lib=1 args=0x44000000
	}
	end ts=1001000000000
	END
	export_to run.pftrace
	totals calls=70000
	health run.pftrace totals.json
}

@test "export: the functions of polls are the same in the report and both timelines" {
	events <<-'END'
	meta {"type":"probe_cost","call_ns":1000,"spin_ns":500.5,"stepped_ns":2500,"samples":9}
	# probes take 50.05 us of the 400 us between polls; more than there is; a spin without length; a spin inside a call
	spin ts=1000001000000 dur=1000000 tid=101 tgid=101 funcs=8:100:600000
	spin ts=1000002000000 dur=500000 tid=102 tgid=102 funcs=4:900:300000,8:100:100001
	spin ts=1000003000000 dur=0 tid=102 tgid=102 funcs=8:1:0
	spin ts=1000004000000 dur=10000 tid=102 tgid=102 depth=1 funcs=8:7:5000
	call ts=1000004100000 dur=200000 tid=102 tgid=102 func=5 lib=1 args=0x44000000
	end ts=1000010000000
	END
	"$POVTRACE" report --json run.pov >report.json
	[ "$(jq -c '[.ranks[].calls.empty_polls_split | [.[]]]' report.json)" = \
		'[[100,1,1000000,600000,50050,349950],[1001,2,500000,400001,99999,0]]' ]
	export_to run.json
	# of each rank: those that the program made itself
	[ "$(jq -c '[.traceEvents[] | select(.args.count != null and .dur != 10)] | group_by(.pid) |
		map([(map(.args.count) | add), length, (map(.dur, .args.busy_us, .args.probes_us, .args.between_us) |
			[_nwise(4)] | transpose[] | add * 1000 | round)])' run.json)" = \
		"$(jq -c '[.ranks[].calls.empty_polls_split | [.[]]]' report.json)" ]
	"$POVTRACE" report --all --explain run.pov >text
	grep -q '^ *0  .*  100  *1  *1000.0 .* 600.0 60.0  *50.0  5.0  *349.9 35.0$' text
	native
	[ "$(grep -c 'double_value: 50.05$' got)" = 1 ]
	[ "$(grep -c 'double_value: 349.95$' got)" = 1 ]
	[ "$(grep -c 'double_value: 99.999$' got)" = 1 ]
}

@test "export: a warning about high tracing cost stands at the top, in the report's words" {
	costing() { # CALLS
		echo 'meta {"type":"probe_cost","call_ns":1000,"spin_ns":500,"stepped_ns":2500,"samples":9}'
		for ((i = 0; i < $1; i++)); do echo "call ts=$((1000001000000 + i * 5000)) dur=100 tid=102 tgid=102 func=8"; done
		echo 'spin ts=1000007000000 dur=1000000 tid=102 tgid=102 funcs=8:900:500000' # who polls would wait anyway
		echo 'end ts=1000010000000'
	}
	costing 800 | events
	said=$("$POVTRACE" report --json run.pov | jq -r .distortion.text)
	[[ $said == "tracing took 8.0 % of rank 1's time, mostly by MPI_Test: "* ]]
	export_to run.json
	totals markers=2
	pid=$(jq --arg said "$said" '.traceEvents[] | select(.name == $said and .ts == 0 and .dur == 10000) | .pid' run.json)
	[ "$(jq -c --argjson pid "$pid" '[.traceEvents[] | select(.pid == $pid and .ph == "M") |
		.args.name // .args.sort_index] | .[:2]' run.json)" = '["povtrace: tracing distorts",-2]' ]
	[ "$(jq -c --arg said "$said" '.traceEvents[] | select(.name == $said and .ts == 0) | .args | del(.of)' run.json)" = \
		'{"percent_of_wall":8,"ranks_above_5_percent":1,"function_1":"MPI_Test"}' ]
	[ "$(jq -c '[.traceEvents[] | select(.name == "process_sort_index") | .args.sort_index] | min' run.json)" = -2 ]
	native
	[ "$(grep -cF "name: \"${said//\'/\\\'}\"" got)" = 1 ]
	grep -A9 'process_name: "povtrace: tracing distorts"' got | grep -q 'sibling_order_rank: -2'
	# small costs are not reported
	costing 490 | events
	export_to run.json
	[ "$(grep -c 'tracing took' run.json)" = 0 ]
	totals markers=1
}

@test "export: without a calibration no cost of the probes is shown" {
	[ "$("$POVTRACE" report --json run.pov | jq -c '.ranks[0].calls.empty_polls_split | [.probes_ns, .between_ns]')" = \
		'[null,null]' ]
	export_to run.json
	[ "$(grep -c probes_us run.json)" = 0 ]
	"$POVTRACE" report --all --explain run.pov | tr -s '\n ' ' ' | grep -q 'and probes, because their cost was not calibrated'
}

@test "export: output to stdout in each format" {
	export_to run.json
	"$POVTRACE" export run.pov -o - --format json 2>/dev/null | cmp - run.json
	"$POVTRACE" export run.pov -o - --format json.gz 2>/dev/null | gzip -dc | cmp - run.json
	"$POVTRACE" export run.pov -o x --format json 2>/dev/null
	cmp x run.json
	"$POVTRACE" export run.pov -o /dev/stdout --format json 2>/dev/null | cmp - run.json
	export_to run.pftrace
	"$POVTRACE" export run.pov -o - --format pftrace 2>/dev/null | cmp - run.pftrace
}

@test "export: a part of a recording" {
	export_to run.json --function 'MPI_S*' --function MPI_Barrier
	[ "$(jq -r '.traceEvents[] | select(.ph == "X" or .ph == "B") | .name | select(startswith("MPI_"))' run.json |
		sort | uniq -c | tr -s ' ' | tr '\n' ';')" = " 5 MPI_Barrier; 2 MPI_Send;" ]
	export_to run.json --rank 1
	[ "$(jq '[.traceEvents[] | select(.cat == "p2p" or .cat == "coll" or .cat == "init") | .pid] | unique == [102]' run.json)" = true ]
	totals switches=11
	export_to run.json --from 3.05ms --to 0.0034
	[ "$(jq -r '[.traceEvents[] | select(.ph == "X" and .pid < 1000) | .name] | join(" ")' run.json)" = \
		"MPI_Iprobe, MPI_Test ×3 MPI_Barrier MPI_Alltoallv MPI_Barrier MPI_Send" ]
	totals switches=0
	export_to run.json --rank 0,5-9 --rank 1
	totals calls=16
}

@test "export: wrong usage is refused with a hint" {
	bad() { fails "$1" "$2" "$POVTRACE" export "${@:3}"; } # STATUS TEXT ARGUMENTS
	bad 2 "give a recording" -o x.json
	bad 2 "give an output file with -o" run.pov
	bad 2 "unknown ending" run.pov -o x.txt
	bad 2 "known: json" run.pov -o x.json --format html
	bad 2 "--format" run.pov -o -
	bad 2 "list of ranks" run.pov -o x.json --rank 3-1
	bad 2 "list of ranks" run.pov -o x.json --rank 1,
	bad 2 "list of ranks" run.pov -o x.json --rank 0-99999999999
	bad 2 "list of ranks" run.pov -o x.json --rank a
	bad 2 "later than" run.pov -o x.json --from 2 --to 1
	bad 2 "cannot be combined with --resolution" run.pov -o x.json --detail all --resolution 5us
	bad 2 "--resolution" run.pov -o x.json --resolution 0
	bad 2 "not one of its choices" run.pov -o x.json --detail some
	bad 2 "both go to stdout" run.pov -o - -f json --totals
	bad 1 "No such file" none.pov -o x.json
	# a selection that is empty fails before the output is made
	bad 1 "none of the ranks asked for is in run.pov; it has 2" run.pov -o x.json --rank 77
	bad 1 "none of the ranks" run.pov -o - -f json --rank 5,7-9
	bad 1 "none of the ranks" run.pov -o x.json --rank 4:0
	bad 1 '"MPI_Nope" matches no function' run.pov -o x.json --function 'MPI_S*' --function MPI_Nope
	bad 1 "past the end of run.pov (10 ms)" run.pov -o x.json --from 0.5
	bad 1 "the recording itself" run.pov -o run.pov --format json
	ln run.pov run.json
	bad 1 "the recording itself" run.pov -o run.json
	bad 1 "No such file" run.pov -o none/x.json
	[ ! -e x.json ]
	[ "$(ls)" = "run.json
run.pov" ]
}

@test "export: the examples in the help work" {
	sed "s/^end ts=[0-9]*/sample ts=1002000000000 tid=102 tgid=102 ip=0x1\nend ts=1003000000000/" "$data/export_run.txt" >long.txt
	"$make" long.txt run.pov
	cp run.pov node1.pov && cp run.pov node2.pov
	each_example export true
	[ -s run.pftrace ] && gzip -t part.json.gz && [ -s run.folded ]
	# the sends, and nothing but sends
	pattern=$(grep -o "'MPI_[^']*'" examples | tr -d "'")
	for name in MPI_Send MPI_Isend MPI_Bsend MPI_Rsend; do [[ $name == $pattern ]]; done
	[[ MPI_Sendrecv != $pattern && MPI_Recv != $pattern ]]
	povtrace export run.pov -o sends.json --function "$pattern" 2>/dev/null
	[ "$(jq -c '[.traceEvents[] | select(.ph == "X") | .name | select(startswith("MPI_"))] | unique' sends.json)" = \
		'["MPI_Isend","MPI_Send"]' ]
}

@test "export: after a full disk no file is left" {
	[ -w /dev/full ] || skip "no /dev/full here"
	fails 1 "No space left on device" "$POVTRACE" export run.pov -o /dev/full --format json
	fails 1 "No space left on device" bash -c '"$POVTRACE" export run.pov -o - -f pftrace >/dev/full'
	# the same for a file: a limit on its size
	fails 1 "ulimit -f" bash -c 'ulimit -f 4; exec "$POVTRACE" export run.pov -o big.json'
	[ "$(ls)" = run.pov ]
}

@test "export: an old file is replaced only by a complete one, which has the recording's mode" {
	echo old >run.json
	chmod 644 run.json
	run -1 bash -c 'ulimit -f 4; exec "$POVTRACE" export run.pov -o run.json'
	[ "$(cat run.json)" = old ]
	chmod 640 run.pov
	export_to run.json
	[ "$(stat -c %a run.json)" = 640 ]
	[ "$(head -c 1 run.json)" = "{" ]
}

@test "export: a truncated or damaged recording gives whatever is still readable" {
	size=$(wc -c <run.pov)
	for at in $((size / 2)) $((size - 40)); do
		head -c $at run.pov >cut.pov
		for f in cut.json cut.pftrace; do
			"$POVTRACE" export cut.pov -o $f --totals >totals.json 2>err || { cat err; false; }
		done
		"$POVTRACE" export cut.pov -o cut.json --totals >totals.json 2>err
		"$tool/json_check" cut.json totals.json
		[ "$(jq .metadata.complete cut.json)" = false ]
	done
	run -1 "$POVTRACE" export /dev/null -o x.json
}

@test "export: random traces obey the rules in both formats, even absurd ones" {
	for seed in $(seq ${POV_RANDOM_FROM:-1} ${POV_RANDOM_TO:-6}); do
		echo "seed $seed"
		"$tool/random_trace" "$seed" | trace run
		export_to run.json
		"$tool/json_check" run.json totals.json
		health run.json totals.json
		mv totals.json json.totals
		export_to run.pftrace
		diff <(grep -vE 'bytes|early' json.totals) <(grep -vE 'bytes|early' totals.json)
		health run.pftrace totals.json
	done
}

# slice_sums finds the same sums in run.pov's timeline with these options as in one that draws each call, in both formats.
same_sums() {
	for f in run.json run.pftrace; do
		export_to all.${f#*.} --detail all
		export_to $f "$@"
		"$tool/slice_sums" all.${f#*.} >want.sums
		"$tool/slice_sums" $f >got.sums
		[ -s want.sums ] && diff -u want.sums got.sums
		"$tool/slice_sums" run.json | diff -u - got.sums
	done
}

@test "export: calls of random traces drawn together or each add up to the same, and obey the rules" {
	groups=0
	for seed in $(seq ${POV_RANDOM_FROM:-7} ${POV_RANDOM_TO:-8}); do
		"$tool/random_trace" "$seed" | trace run
		for resolution in 5us 10ms; do
			echo "seed $seed, $resolution"
			same_sums --resolution $resolution
			totals resolution_ns=$([ $resolution = 5us ] && echo 5000 || echo 10000000)
			groups=$((groups + $(total groups)))
			health run.pftrace totals.json
			mv totals.json native.totals
			export_to run.json --resolution $resolution
			"$tool/json_check" run.json totals.json
			health run.json totals.json
			diff <(grep -vE 'bytes|early' native.totals) <(grep -vE 'bytes|early' totals.json)
		done
	done
	echo "$groups" && [ "$groups" -gt 15 ]
}

# tests/unit/cases/timeline.txt tests which calls are drawn together.
@test "export: all bytes of calls are added up by name: both buffers, and several requests" {
	grep -v '"functions"' "$data/export_run.txt" | grep -E '^(meta|task)' >run.txt
	cat >>run.txt <<-'END'
	meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Sendrecv","group":"p2p","attrs":"WAIT","sig":"sendbuf scount sdtype dest stag recvbuf rcount rdtype source rtag comm >status"},{"id":2,"name":"MPI_Irecv","group":"p2p","attrs":"NONE","sig":"buf count dtype source tag comm >req"},{"id":3,"name":"MPI_Waitall","group":"req","attrs":"WAIT","sig":"count <>req[count] >status[count]"}]}
	repeat 2 step=4000 {
	call ts=1000001000300 dur=200 tid=101 tgid=101 func=1 lib=1 args=0x1000,10,0x4c000405,1,42,0x2000,30,0x4c000405,1,42,0x44000000,1
	call ts=1000001001000 dur=200 tid=101 tgid=101 func=2 lib=1 args=0x1000,10,0x4c000405,1,42,0x44000000,1 out=6/1:i738197505
	call ts=1000001002000 dur=200 tid=101 tgid=101 func=2 lib=1 args=0x1000,10,0x4c000405,1,42,0x44000000,1 out=6/1:i738197506
	call ts=1000001003000 dur=200 tid=101 tgid=101 func=3 lib=1 args=2,1,1 in=1/2:i738197505,i738197506 out=2/2:i24,i0,i1,i42,i0,i40,i0,i1,i42,i0
	}
	end ts=1000010000000
	END
	"$make" run.txt run.pov
	same_sums --resolution 10us
	totals groups=1 grouped=8
	[ "$(cat got.sums)" = "$(printf '%s\n' '101 MPI_Irecv 4 0 800 160 0 0 0' '101 MPI_Sendrecv 2 0 400 80 80 240 0' '101 MPI_Waitall 2 0 400 0 0 0 128')" ]
}

@test "export: the timeline of a large recording has about ten times its size; each call is drawn on request" {
	[ ! -x "$plain" ] || POVTRACE=$plain
	events <<-'END'
	repeat 60000 step=1500 {
	call ts=1000001000300 dur=200 tid=101 tgid=101 func=2 lib=1 site=0x401200 args=0x7ffc00000000+64*i,1000+1*i,0x4c000405,1,42,0x44000000
	call ts=1000001000700 dur=300 tid=101 tgid=101 func=5 lib=1 site=0x402000 args=0x44000000
	}
	end ts=1001000000000
	END
	export_to run.pftrace
	totals calls=120000 resolution_ns=1000 groups=60000 grouped=120000
	grep -q 'calls shorter than 1 us .*: 120,000 calls in 60,000 slices; --detail all draws each' err
	export_to run.pftrace --detail all
	totals calls=120000 groups=0 resolution_ns=0
	no 'shorter than' <err
	# few calls are drawn as they are: those of a part of the time, or of one function
	export_to run.pftrace --to 70ms
	totals groups=0 resolution_ns=0
	export_to run.pftrace --function MPI_Send
	totals calls=60000 groups=0 resolution_ns=0
}

# long ROUNDS: long.pov, of a program that repeats the same ROUNDS times.
long() {
	events <<-END
	repeat $1 step=20000 {
	stream 0
	switch ts=1000001000000 prev=101 next=0 cpu=0 state=1
	waking ts=1000001001000 tid=102 target=101 cpu=1 target_cpu=0
	switch ts=1000001003000 prev=0 next=101 cpu=0
	call ts=1000001005000 dur=4800 tid=101 tgid=101 func=3 site=0x401300 lib=1 args=0,1,0x4c000405,0xfffffffe,0xffffffff,0x44000000,1 out=6/1:i4000,i0,i0,i42,i0
	spin ts=1000001008000 dur=2000 tid=101 tgid=101 site=0x401400 funcs=4:12:1500:0x44000000:1
	stream 1
	call ts=1000001009000 dur=8500 tid=102 tgid=102 func=5 site=0x402000 cpu=1 lib=1 args=0x44000000
	}
	end ts=1011000000000
	END
}

# From some length on, a longer recording needs no more memory, to 1 MiB.
@test "export: memory is bounded for every length" {
	[ -x "$plain" ] || skip "no $plain"
	local kib once
	for format in pftrace json; do
		for rounds in 160000 230000; do
			long $rounds
			"$build/tests/peak" "$plain" export run.pov -o out --format $format --totals --detail all 3>peak >totals.json
			totals calls=$((2 * rounds)) switches=$((2 * rounds)) flows=$rounds undecided=0
			read -r kib _ <peak
			echo "$format: $rounds rounds: $kib KiB"
			[ $rounds = 160000 ] || [ "$kib" -le $((once + 1024)) ]
			once=$kib
		done
	done
}

@test "export: phases that a program marks, by name, in both formats" {
	"$make" "$data/export_phases.txt" run.pov
	export_to run.json
	# + 0: otherwise jq 1.7 prints numbers as they came, here 2.000
	jq -r '.traceEvents[] | select(.cat == "phase") |
		[.ph, .name, .ts + 0, if .dur then .dur + 0 else "-" end, .args.level // "-"] | @tsv' run.json >got
	diff -u - got <<-EOF
	X	a name of thirty-one characters	2	1	1
	X	w?p	3.3	0.7	2
	X	B	3.1	0.9	1
	B	sender	1	-	0
	B	library scatter 16 tasks 1048576…	4.3	-	1
	B	a name cut where its letter is …	4.7	-	3
	EOF
	totals phases=6
	# calls that mark a phase say so, not which numbers they use for it
	jq -c '.traceEvents[] | select(.name == "MPI_Pcontrol") | .args | del(.cpu)' run.json >got
	diff -u - got <<-EOF
	{"mark":"begin","level":0,"phase":"sender"}
	{"mark":"begin","level":1,"phase":"a name of thirty-one characters"}
	{"mark":"begin","level":1,"phase":"B"}
	{"mark":"begin","level":2,"phase":"w?p"}
	{"mark":"end","level":1}
	{"mark":"begin","level":1,"phase":"library scatter 16 tasks 1048576…"}
	{"mark":"begin","level":3,"phase":"a name cut where its letter is …"}
	{"level":2}
	EOF
	native
	for mark in begin:6 end:1; do
		iid=$(grep -B1 "str: \"${mark%:*}\"" got | sed -n 's/.* iid: //p')
		[ "$(grep -c "string_value_iid: $iid\$" got)" = ${mark#*:} ]
	done
	no -E ' 13473766[0-9]+' <got
}
