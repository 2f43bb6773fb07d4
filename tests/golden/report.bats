#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace report: both forms compared with the expected output; and what it says of incomplete recordings.

load lib

setup() {
	begin
	need jq
	"$make" "$data/report_run.txt" run.pov
}

report() { "$POVTRACE" report --all --explain "$@"; }

# A made-up job: ranks $1, recorded for 1 ms. More lines of the script on stdin.
many() {
	local i
	echo 'meta {"type":"recording","abi":1,"start_ns":1000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024}}'
	echo 'meta {"type":"host","hostname":"n","kernel":"6.1","machine":"x86_64","cpus":128}'
	for ((i = 0; i < $1; i++)); do
		echo "meta {\"type\":\"process\",\"ts_ns\":1000,\"pid\":$((1000 + i)),\"exe\":\"/bin/app\",\"rank\":$i,\"job\":\"j\"}"
		echo "task ts=1000 tid=$((1000 + i)) tgid=$((1000 + i)) on_cpu=1 cpu=$((i % 128)) comm=app"
	done
	cat
	echo 'end ts=1001000 reason=test'
}

@test "report: text" {
	report --threads run.pov >got
	same_as "$data/report_run.out" got
	"$POVTRACE" report run.pov >first
	same_as "$data/report_first.out" first
	sed 's/≥/>/g' first got | no '.\{121\}'
	no $'\033' <got
}

@test "report: the requested details" {
	local option what
	"$POVTRACE" report --all run.pov >all
	while read -r option what; do
		"$POVTRACE" report "$option" run.pov >got
		grep -q "^$what" got
		no '^Main threads' <got
		grep -q "^$what" all
	done <<-'END'
	--findings Findings:
	--functions Functions by total time
	--collectives Collective calls
	--messages Message sizes
	--cores Context switches
	--coverage Coverage
	END
	[ "$(report run.pov | wc -l)" -gt "$(wc -l <all)" ]
}

@test "report: JSON, whose times add up" {
	report --json --threads run.pov >got
	rows <got | sed 's/"povtrace":"[^"]*"/"povtrace":"VERSION"/' >got.rows
	same_as "$data/report_run.rows" got.rows
	jq -e '[.ranks[] | .between_init_and_finalize, .thread_list[].between_init_and_finalize] | length >= 4 and
		all(.window_ns == .compute_ns + .mpi_work_ns + .mpi_wait_ns + .file_io_ns + .no_core_ns + .asleep_ns + .unknown_ns + .tracing_ns)' got
	jq -e 'all(.ranks[], .other_processes[]; .running_ns + .runnable_ns + .blocked_ns + .unknown_ns == .thread_ns) and
		all(.cores[]; .ranks_ns + .other_targets_ns + .other_tasks_ns + .idle_ns + .unknown_ns == .wall_ns) and
		([.functions[].calls] | add) == ([.ranks[].functions[].calls] | add)' got
}

@test "report: 128 ranks are summed up on one screen, and all are shown on demand" {
	many 128 </dev/null | trace many
	"$POVTRACE" report many.pov >first
	[ "$(wc -l <first)" -lt 50 ]
	section 'Ranks, ' <first >threads
	[ "$(grep -c '^ *[0-9][0-9]* .* 100 %' threads)" = 8 ]
	grep -q '8 of 128 shown' threads
	"$POVTRACE" report --times many.pov | section 'Main threads' >threads
	[ "$(grep -c '  app  ' threads)" = 8 ]
	[ "$(awk '$1 ~ /^(min|mean|max)$/ { print $1, NF }' threads | tr '\n' ' ')" = "min 7 mean 7 max 7 " ]
	grep -q '8 of 128 shown' threads
	report many.pov >got
	[ "$(wc -l <got)" -lt 210 ]
	no '.\{121\}' <got
	section Ranks: <got >ranks
	[ "$(grep -c '  app  ' ranks)" = 15 ]
	grep -q '^  *med ' ranks
	grep -q '15 of 128 shown' ranks
	report --top 0 many.pov >all
	[ "$(section Ranks: <all | grep -c '  app  ')" = 128 ]
	[ "$(section 'Main threads' <all | grep -c '  app  ')" = 128 ]
}

@test "report: chosen ranks" {
	report --rank 1 run.pov >got
	grep -q '^  ranks      2; 1 chosen by --rank$' got
	section Ranks: <got | no '^  *0  app'
	section Functions <got >functions
	grep -q 'MPI_Barrier' functions
	no 'MPI_Allreduce' <functions
	report --rank 0 --rank 1 --sort blocked run.pov | section Ranks: | sed -n 3p | grep -q '^  *0  app'
	report --sort polling run.pov | section Ranks: | sed -n 3p | grep -q '^  *1  run.py'
}

@test "report: wrong usage" {
	run -2 report
	run -2 report run.pov run.pov
	fails 2 'not a list of ranks' report --rank x run.pov
	run -2 report --sort colour run.pov
	fails 1 'none of the ranks asked for' report --rank 7 run.pov
	run -1 report absent.pov
	echo junk >junk.pov
	run -1 report junk.pov
}

report_said() { # what the example in $line must have printed
	case $line in
	*.html) [ -s report.html ] && [ ! -s said ] && return ;;
	esac
	[ -s said ]
	case $line in
	*--threads*) [ "$(section Threads <said | grep -c '^  *[0-9]  ')" = 1 ] ;;
	*polling*) section Ranks: <said | sed -n 3p | grep -q '^  *1  run.py' ;;
	*mpi_ns*) [ "$(grep -c '^[0-9][0-9]*$' said)" = 2 ] ;;
	esac
}

@test "report: the examples in the help work" {
	for copy in node1 node2 ranks2 ranks4 ranks8; do cp run.pov $copy.pov; done
	each_example report report_said
}

@test "report, info, diff: the limit of a file's size is reported" {
	for command in "report --all" "report --all --json" "info --dump" "diff run.pov"; do
		fails 1 "the limit of a file's size (ulimit -f) is reached" bash -c "ulimit -f 1; exec '$POVTRACE' $command run.pov >out"
	done
}

@test "report: no MPI process" {
	grep -v '"process"\|^call\|^spin' "$data/report_run.txt" | trace none
	report none.pov >got
	grep -q '^  ranks      0$' got
	grep -q '^No MPI process was seen$' got
	section Recorded <got | grep -q 'mpirun'
	report --json none.pov | grep -q '"ranks": \[\]'
}

@test "report: no MPI process, with recorded processes still running or all ended" {
	grep -v '"process"\|^call\|^spin' "$data/report_run.txt" >raw.txt
	trace none <raw.txt
	report none.pov >got
	tr -s ' \n' ' ' <got | grep -q 'No process had initialised MPI by the end of the recording'
	no 'No recorded process initialised' <got
	sed 's/^exit .*/&\nexit ts=10100000 tid=200 tgid=200\nexit ts=10200000 tid=50 tgid=50/' raw.txt | trace ended
	report ended.pov >got
	tr -s ' \n' ' ' <got | grep -q 'An MPI library was ready to be recorded, but no process completed MPI_Init'
	no 'by the end of the recording' <got
}

@test "report: among many processes without ranks, those that ran come first" {
	grep -v '"process"\|^call\|^spin' "$data/report_run.txt" | sed 's/"all":false/"all":true/' >many.txt
	for tid in $(seq 300 340); do echo "task ts=1000000 tid=$tid tgid=$tid state=1 cpu=0 comm=idle"; done >>many.txt
	"$make" many.txt many.pov
	report many.pov >got
	section Recorded <got | sed -n 3p | grep -q ' run.py  *200 \| python3  *200 \| app  *100 '
	section Recorded <got | grep -q '15 of 4[0-9] shown, those running most'
}

@test "report: calls of another layer without MPI" {
	sed '/"process"/d; s/"layer":"mpi"/"layer":"other"/; s/"id":0,"path"/"layers":["other"],&/' "$data/report_run.txt" | trace other
	report other.pov >got
	grep -q 'No MPI call was recorded; calls of other layers are below.' got
	grep -q '^Functions of layer other' got
	no 'Check that the command' <got
}

@test "report: MPI_Init was not recorded, or no call was" {
	sed '/^lost/d; /^call.* func=1 /d' "$data/report_run.txt" | trace late
	report late.pov >out
	section Main <out | grep -q '^  MPI_Init of 2 ranks was not recorded: time counts from the first recorded call.$'
	no 'No MPI call was seen' <out
	[ "$(report --json late.pov | jq -c '[.ranks[] | .init_ns, .between_init_and_finalize.from_ns]')" = "[null,1300000,null,1500000]" ]

	sed '/^call.* tid=200 /d; /^spin.* tid=200 /d' late.txt | trace silent
	report silent.pov >out
	section Main <out | grep -q '^  MPI_Init of 1 rank was not recorded'
	section Main <out | grep -q '^  No MPI call was seen of 1 process: rank 1 (run.py, pid 200).$'
	section Main <out | no '^ *1 *run.py'
	[ "$(report --json silent.pov | jq -c '[.ranks[] | has("between_init_and_finalize")]')" = '[true,false]' ]
	# as for any other job
	report run.pov | no 'MPI_Init of\|No MPI call was seen'
}

@test "report: scheduler not recorded" {
	sed 's/"sched":"all"/"sched":"off"/; /^switch\|^waking/d' "$data/report_run.txt" | trace off
	report off.pov >got
	grep -q '^  scheduler  not recorded (--sched off)' got
	no '^Cores\|^Context\|runnable ' <got
	section Ranks: <got | sed -n 3p | grep -q ' ≥3.320 ≥37.3$'
	report --json off.pov | grep -q '"running_ns": null'
}

@test "report: a truncated file has a note" {
	size=$(stat -c %s run.pov)
	head -c $((size - 100)) run.pov >cut.pov
	report cut.pov >got 2>err
	grep -q '^  INCOMPLETE ' got
	grep -q 'are no whole block' err
	report --json cut.pov 2>/dev/null | grep -q '"complete": false'
}

@test "report: lost scheduler records are reported, and their time is unknown" {
	sed '/"type":"end"/i lost ts=6000000 since=5500000 cnt=11 ring=1 class=sched
		s/"drops":\[/&{"ring":1,"class":3,"cnt":11},/' "$data/report_run.txt" | trace lost
	report lost.pov >got
	grep -q '^  LOST       11 sched records between 4.500 ms and 5.000 ms of the recording:$' got
	grep -q '^  gaps       scheduler records are missing during 500.000 us, in 1 stretch$' got
	section Ranks: <got | sed -n 2p | grep -q 'unkn%'
	# Rank 1 ran on the CPU concerned. Its first record after the gap proves that it had been there since the gap's end.
	[ "$(report --json lost.pov | jq '.ranks[1].unknown_ns')" = 500000 ]
}

# Each loss marks what it affects and nothing else. $1: LOST record; marks of $2: rank 0 and rank 1, $3: all functions, $4: message sizes,
# $5: cores 0 and 1.
incomplete() {
	grep -v '^lost' "$data/report_run.txt" | sed "/\"type\":\"end\"/{s/\"drops\":.*\"misses\":{[^}]*}/\"drops\":[],\"misses\":{}/
		i $1
	}" | trace loss
	report --json loss.pov >got
	[ "$(jq -c '[.ranks[].incomplete | join(" ")]' got)" = "$2" ]
	[ "$(jq -c '[.functions[].incomplete[]] | unique' got)" = "$3" ]
	[ "$(jq -c '[.message_sizes[].incomplete[]] | unique' got)" = "$4" ]
	[ "$(jq -c '[.cores[].incomplete | join(" ")]' got)" = "$5" ]
}

@test "report: what the limit on tracing's cost left out is reported and marked" {
	# MPI_Send of rank 0: 500 calls counted between 2.5 and 3.0 ms, then none
	grep -v '^lost' "$data/report_run.txt" | sed '/"type":"end"/{s/"drops":.*"misses":{[^}]*}/"drops":[],"misses":{}/
		s/^/counted ts=4000000 tid=100 dur=500000 calls=500 busy=250000 tgid=100 func=2 lib=0 bytes=2048 sized=400\
limit ts=3500000 tid=0 since=3500000 tgid=100 func=2 state=1 cost_ppm=484000 limit_ppm=50000\
limit ts=4000000 tid=0 since=3500000 tgid=100 func=2 state=1 cost_ppm=484000 limit_ppm=50000\
limit ts=4000000 tid=0 since=4000000 tgid=200 func=2 state=2 cost_ppm=300000 limit_ppm=50000\
limit ts=5000000 tid=0 since=4000000 tgid=200 func=2 state=2 cost_ppm=300000 limit_ppm=50000\
/
	}; s/"probe_cost",/&"counted_ns":900,/' | trace limit
	report limit.pov >text
	grep -A1 '^  COUNTED    MPI_Send is only counted from 2.500 ms on, not recorded from 3.000 ms on$' text |
		grep -q '^             by record --max-overhead 5 (see Coverage): '
	section Coverage <text >coverage
	grep -q '^  lost       no record$' coverage
	grep -A1 '^  LIMIT      MPI_Send is only counted from 2.500 ms on, not recorded from 3.000 ms on:$' \
		coverage | grep -q "^             500 calls counted; tracing took 48.4 % of rank 0's time$"
	grep -q '+ 500 calls that were counted x 900 ns' coverage
	section 'Functions by' <text >functions
	grep -q '^ *MPI_Send *≥511 *- *≥500 *≥370.0 us ' functions # 11 that took 120 us, and those
	grep -q '^ *MPI_Recv *1 *- *- ' functions
	report --json limit.pov >got
	[ "$(jq -c '[.functions[] | select(.incomplete != []) | [.name, .calls, .counted, .total_ns, .incomplete]]' got)" = \
		'[["MPI_Send",511,500,370000,["counted","detached"]]]' ]
	[ "$(jq -c '[.ranks[].incomplete | join(" ")]' got)" = '["counted detached","counted detached"]' ]
	[ "$(jq -c '.coverage.limit.functions[0] | [.counted_since_ns, .detached_since_ns, .counted_calls]' got)" = '[2500000,3000000,500]' ]
	[ "$(jq -c '.ranks[0].overhead | [.counted_hits]' got)" = '[500]' ]
	# beside a run without the limit, the marks stay
	trace plain <"$data/report_run.txt"
	"$POVTRACE" diff --json limit.pov plain.pov >got
	[ "$(jq -c '.functions[] | select(.name == "MPI_Send") | .before.incomplete' got)" = '["counted","detached"]' ]
	"$POVTRACE" export -o limit.json limit.pov 2>/dev/null
	[ "$(jq -c '[.traceEvents[] | select(.cat == "limit") | [.name, (.ts, .dur | floor)]] | sort' limit.json)" = \
		'[["MPI_Send counted",2500,500],["MPI_Send not recorded",3000,1000]]' ]
	# only counted: the number of calls is exact, but there are no single calls, and the bytes of 100 of them are unknown
	sed -i '/state=2/d' limit.txt
	"$make" limit.txt limit.pov
	section 'Functions by' < <(report limit.pov) >functions
	grep -q '^ *MPI_Send *511 *- *500 *370.0 us .*>783 KiB' functions
	[ "$(jq -c '[.functions[] | select(.name == "MPI_Send") | .sent_bytes, .sends_of_unknown_size]' <(report --json limit.pov))" = '[802208,100]' ]
}

# 1 ms of one rank, or of $1 ranks, in which each calls MPI_Test $2 times and MPI_Send once; a call costs 10 us.
distorted() {
	local i k
	many "$1" <<-END | trace costly
	meta {"type":"functions","layer":"mpi","rows":[{"id":2,"name":"MPI_Send","group":"p2p","attrs":"WAIT","sig":"buf count dtype dest tag comm"},{"id":4,"name":"MPI_Test","group":"req","attrs":"POLL","sig":"<>req >flag >status"}]}
	meta {"type":"probe_cost","call_ns":10000,"spin_ns":5000,"stepped_ns":0,"samples":9}
	$(for ((i = 0; i < $1; i++)); do
		echo "call ts=11000 dur=100 tid=$((1000 + i)) tgid=$((1000 + i)) func=2"
		for ((k = 0; k < $2; k++)); do
			echo "call ts=$((12000 + k * 200)) dur=100 tid=$((1000 + i)) tgid=$((1000 + i)) func=4"
		done
	done)
	END
}

@test "report: high tracing cost is reported first, with the remedy" {
	distorted 1 4 # 50 us of 1 ms: no more than 5 %
	[ "$(report costly.pov | head -1)" = '  trace      costly.pov' ]
	[ "$(report --json costly.pov | jq -c '.distortion | [.distorted, .rank, .share, .ranks_above, .text]')" = \
		'[false,0,0.05,0,null]' ]
	distorted 3 19 # as text: tests/unit/cases/report.txt
	report --json costly.pov >json
	[ "$(jq -c '.distortion | [.distorted, .pid, .job, .rank, .share, .ranks_above, .functions]' json)" = \
		'[true,1000,0,0,0.2,3,["MPI_Test"]]' ]
	[ "$(jq -r '.distortion.text' json)" = "tracing took 20 % of rank 0's time (3 ranks above 5 %), mostly by MPI_Test: leave these out with --no-functions MPI_Test, or whole groups with --mpi" ]
	# also if the report is about other ranks
	[ "$(report --rank 1 costly.pov | head -1)" = '  DISTORTED' ]
	sed -i '/probe_cost/d' costly.txt
	"$make" costly.txt costly.pov
	[ "$(report --json costly.pov | jq -c '.distortion | [.distorted, .share, .functions]')" = '[null,null,[]]' ]
}

@test "report: values that a loss affects are marked" {
	incomplete '' '["",""]' '[]' '[]' '["",""]'
	report loss.pov >text
	grep -v '^Efficiency' text | no '≥\|~\|LOST' # messages that are not matched are no loss
	incomplete 'lost ts=8000000 since=7900000 cnt=3 ring=0 class=call' '["call","call"]' '["call"]' '["call"]' '["",""]'
	# rank 0 had ended at 10000100
	incomplete 'lost ts=10500000 since=10000200 cnt=3 ring=0 class=call' '["","call"]' '["call"]' '["call"]' '["",""]'
	report loss.pov >text
	grep -q '^  LOST       records are missing (see Coverage): figures marked ≥ are lower bounds' text
	section Ranks: <text | grep -q '^ *0  app .* 3.320  37.3 '
	section Ranks: <text | grep -q '^ *1  run.py .* ≥7.018 ≥71.0 '
	section Ranks: <text | grep -q '^ *all .* ≥10.338 '
	section 'Functions by' <text | grep -q '^ *MPI_Send *≥11 .* ≥120.0 us .* ~10.05 us .* ≥20.00 us  *~781 KiB'
	section 'Functions of' <text | grep -q '^ *MPI_Send *11 '
	section Message <text | grep -q ' ~10 '
	section Context <text | no '≥\|~'
	section Cores <text | no '≥\|~'
	report --rank 0 loss.pov >text
	sed '/^Efficiency/,/^Ranks, /d' text | no '≥\|~' # that is of all ranks
	incomplete 'lost ts=8000000 since=7900000 cnt=3 ring=0 class=spin' '["spin","spin"]' '["spin"]' '[]' '["",""]'
	[ "$(jq -r '[.functions[] | select(.incomplete != []) | .name] | join(" ")' got)" = MPI_Test ]
	incomplete 'lost ts=8000000 since=7900000 cnt=3 ring=0 class=more' '["more","more"]' '["more"]' '["more"]' '["",""]'
	report loss.pov >text
	section 'Functions by' <text | grep -q '^ *MPI_Send *11 .* 20.00 us  *~781 KiB'
	incomplete 'lost ts=8000000 since=7900000 cnt=3 ring=1 class=sched' '["sched","sched"]' '["sched"]' '[]' '["","sched"]'
	report loss.pov >text
	section Context <text | grep -q '^ *0  app  *100  *≥2  *≥0 '
	section Cores <text | grep -q '^ *1 .*≥'
	section Cores <text | grep '^ *0 ' | no '≥\|~'
	section 'Ranks on' <text | grep -q '~'
	incomplete 'lost ts=8000000 since=7900000 cnt=3 ring=1 class=task' '["task","task"]' '["task"]' '[]' '["task","task"]'
	report loss.pov >text
	section Ranks: <text | grep -q '^ *0  app  *~1  *~8.900 '
	incomplete 'lost ts=8000000 since=7900000 cnt=3 ring=0 class=irq' '["",""]' '[]' '[]' '["",""]'
}

@test "report: a loss at an unknown time, and calls that never made a record, affect all values" {
	sed '/^lost/d' "$data/report_run.txt" | trace none
	[ "$(report --json none.pov | jq -c '[.ranks[].incomplete]')" = '[["call"],["call"]]' ]
	sed -i 's/"drops":[^]]*\]/"drops":[]/; s/"threads":0/"threads":2/' none.txt
	"$make" none.txt none.pov
	[ "$(report --json none.pov | jq -c '[.ranks[].incomplete]')" = '[["missed_calls"],["missed_calls"]]' ]
	sed -i 's/"threads":2/"sunspots":2/' none.txt
	"$make" none.txt none.pov
	report --json none.pov >got
	[ "$(jq -c '[.ranks[].incomplete, .cores[0].incomplete] | unique' got)" = '[["missed"]]' ]
	report none.pov | grep -q '^  MISSED     sunspots: 2$'
}

@test "report: the recorder's own CPU time by start, recording and stop; events in probes already; why probes were refused" {
	own='.coverage | [.own_cpu_ns, .own_cpu_start_ns, .own_cpu_recording_ns, .own_cpu_stop_ns]'
	[ "$(report --json run.pov | jq -c "$own")" = '[1500000,null,null,null]' ]
	sed 's/"own_cpu_ns":1500000/&,"own_cpu_start_ns":1200000,"own_cpu_stop_ns":250000/; s/"wait":0}/"wait":0,"recursion":5}/
		s/"failed":\["MPI_Z"\]/&,"refused":"Invalid argument"/' "$data/report_run.txt" | trace own
	report --json own.pov >got
	[ "$(jq -c "$own" got)" = '[1500000,1200000,50000,250000]' ]
	grep -q '"recursion": 5' got
	grep -q '"refused": "Invalid argument"' got
	report own.pov >text
	grep -q '^  own CPU    the tracer itself: start 1.200 ms, recording 50.000 us (0.50 % of one CPU), stop 250.000 us$' text
	grep -q '^  MISSED     events not recorded because that CPU was already in a probe: 5$' text
	grep -q '^ *refused: Invalid argument$' text
}

@test "report: calls that did not return have no duration" {
	many 1 <<-'END' | trace gone
	meta {"type":"functions","layer":"mpi","rows":[{"id":2,"name":"MPI_Send","group":"p2p","attrs":"WAIT","sig":"buf count dtype dest tag comm"},{"id":4,"name":"MPI_Test","group":"req","attrs":"POLL","sig":"<>req >flag >status"}]}
	stream 0
	call ts=11000 dur=1001 tid=1000 tgid=1000 func=2
	call ts=13000 dur=1003 tid=1000 tgid=1000 func=2
	call ts=19000 dur=5000 tid=1000 tgid=1000 func=2 flags=unwound
	spin ts=21000 dur=1000 tid=1000 tgid=1000 funcs=4:3:600
	call ts=30000 dur=2000 tid=1000 tgid=1000 func=4 flags=unwound
	call ts=1001000 dur=900000 tid=1000 tgid=1000 func=2 flags=open
	END
	report --json gone.pov >got
	[ "$(jq -c '.functions[] | select(.name == "MPI_Send") |
		[.calls, .open, .unwound, .timed, .total_ns, .unfinished_ns, .min_ns, .mean_ns, .p50_ns, .p99_ns, .max_ns]' got)" = \
		'[4,1,1,2,907004,905000,1001,1002,1001,1003,1003]' ]
	# of polls only: a mean, and no distribution
	[ "$(jq -c '.functions[] | select(.name == "MPI_Test") | [.calls, .unwound, .timed, .mean_ns, .max_ns]' got)" = \
		'[4,1,0,200,null]' ]
	[ "$(jq -c '[.ranks[0].calls.unwound, .coverage.unwound_calls]' got)" = '[2,2]' ]
	report gone.pov >text
	grep -q '^  2 calls were left without returning (longjmp, exception, exit); they count in calls' text
	grep -q '^  unwound    2 calls were left without returning' text
}

@test "report: two jobs are distinguished" {
	many 2 <<-'END' | trace jobs
	meta {"type":"process","ts_ns":1000,"pid":3000,"exe":"/bin/other","rank":0,"job":"k"}
	task ts=1000 tid=3000 tgid=3000 on_cpu=1 cpu=9 comm=other
	END
	report jobs.pov >got
	grep -q '^  ranks      3 of 2 jobs$' got
	grep -q '^             job 1 is k$' got
	section Ranks: <got | grep -q '^  *1:0  other'
	report --rank 1:0 jobs.pov | grep -q '1 chosen by --rank'
}

@test "report: an output that cannot be written is an error" {
	[ -c /dev/full ] || skip "no /dev/full here"
	run -1 bash -c '"$POVTRACE" report run.pov >/dev/full'
	run -1 bash -c '"$POVTRACE" report --json run.pov >/dev/full'
}

@test "report: libraries that were probed late are listed, and their processes' calls are marked as incomplete" {
	sed '/^lost/d; s/"drops":[^]]*\]/"drops":[]/; s/"polls":1009/&,"questions":3,"wait_ns":1250000/' \
		"$data/report_run.txt" >late.txt
	echo 'meta {"type":"late","ts_ns":1300000,"pid":200,"library":0,"late_ns":31000000}' >>late.txt
	"$make" late.txt late.pov
	report late.pov >out
	grep -A1 '^  LATE       process 200: libmpi.so.40 was probed 31.000 ms after it was mapped;$' out |
		grep -q '^ *calls until then are not recorded$'
	grep -q '^  waits      threads waited 1.250 ms in all, 3 times, while povtrace examined files$' out
	report --json late.pov >got
	[ "$(jq -c .coverage.late got)" = \
		'[{"pid":200,"path":"/usr/lib/libmpi.so.40","mapped_ns":300000,"late_ns":31000000}]' ]
	[ "$(jq -c '[.ranks[].incomplete]' got)" = '[[],["missed_calls"]]' ]
	[ "$(jq -c '.coverage.stats | [.questions, .wait_ns]' got)" = '[3,1250000]' ]
	# a process that is no rank, and of which nothing else is known
	sed '/"type":"late"/s/"pid":200/"pid":4242/' late.txt >other.txt
	"$make" other.txt other.pov
	report other.pov >out
	grep -q '^  LOST       records are missing' out
	[ "$(report --json other.pov | jq -c '[.ranks[].incomplete]')" = '[[],[]]' ]
}

@test "report: ranks that a limit of CPU time held back, by the kernel's account of their group" {
	limit='"type":"cpu_limit","ts_ns":1300000,"to_ns":9900000,"quota_us":40000,"period_us":100000,"periods":13'
	cp "$data/report_run.txt" limit.txt
	{
		echo "meta {$limit,\"cgroup\":\"/a/b\",\"pids\":[200,4],\"throttled\":6,\"throttled_ns\":351000000}"
		echo "meta {$limit,\"cgroup\":\"/a\",\"pids\":[100,200],\"throttled\":1,\"throttled_ns\":2000000}"
		echo "meta {$limit,\"cgroup\":\"/\",\"pids\":[100,200],\"throttled\":0,\"throttled_ns\":0}"
		echo "meta {$limit,\"cgroup\":\"/others\",\"pids\":[4],\"throttled\":6,\"throttled_ns\":351000000}"
	} >>limit.txt
	"$make" limit.txt limit.pov
	report --json --top 0 limit.pov >got
	[ "$(jq -c '.findings[] | select(.kind == "cpu_quota") | [.rank, .cost_ns, .text]' got)" = \
'[1,351000000,"rank 1 was held back by a limit of CPU time (40.000 ms in each 100.000 ms, cgroup /a/b) for 351.000 ms, in 6 of 13 periods, as the kernel reports"]
[null,2000000,"rank 0, rank 1 were held back by a limit of CPU time (40.000 ms in each 100.000 ms, cgroup /a) for 2.000 ms, in 1 of 13 periods, as the kernel reports"]' ]
}

@test "report: one-sided communication: who waited for whom, and calls for which that is unknown" {
	cat >rma.txt <<-'END'
	meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000000,"config":{"sched":"off","rings":1}}
	meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Comm_group","group":"comm","attrs":"LOCAL|MEMBERS","sig":"comm >group"},{"id":2,"name":"MPI_Group_incl","group":"group","attrs":"LOCAL|MEMBERS","sig":"group n <ranks[n] >newgroup"},{"id":3,"name":"MPI_Win_create","group":"rma","attrs":"WAIT|MEMBERS","sig":"base size:wide disp_unit info comm >win"},{"id":4,"name":"MPI_Win_start","group":"rma","attrs":"WAIT","sig":"group assert win"},{"id":5,"name":"MPI_Win_post","group":"rma","attrs":"NONE","sig":"group assert win"},{"id":6,"name":"MPI_Win_complete","group":"rma","attrs":"WAIT","sig":"win"},{"id":7,"name":"MPI_Win_wait","group":"rma","attrs":"WAIT","sig":"win"},{"id":8,"name":"MPI_Win_lock","group":"rma","attrs":"WAIT","sig":"lock_type rank assert win"},{"id":9,"name":"MPI_Win_unlock","group":"rma","attrs":"WAIT","sig":"rank win"}]}
	meta {"type":"library","id":0,"path":"/usr/lib/libmpi.so.40","flavour":"openmpi","layout":{"handle_bytes":8,"status_bytes":24},"named":[["MPI_COMM_WORLD","0x2000",0]]}
	meta {"type":"process","ts_ns":1100000,"pid":100,"ppid":50,"exe":"/bin/app","cmdline":["./app"],"rank":0,"size":2,"job":"j","libs":[{"id":0,"bias":"0x0"}]}
	meta {"type":"process","ts_ns":1100000,"pid":200,"ppid":50,"exe":"/bin/app","cmdline":["./app"],"rank":1,"size":2,"job":"j","libs":[{"id":0,"bias":"0x0"}]}
	task ts=1000000 tid=50 tgid=50 comm=mpirun
	fork ts=1100000 tid=50 child=100 tgid=100 parent_tgid=50 comm=app
	fork ts=1110000 tid=50 child=200 tgid=200 parent_tgid=50 comm=app
	stream 0
	call ts=2000000 dur=1000 tid=100 tgid=100 func=1 args=0x2000,0x9000 out=1:0x5000
	call ts=2000000 dur=1000 tid=200 tgid=200 func=1 args=0x2000,0x9000 out=1:0x5000
	call ts=2100000 dur=1000 tid=100 tgid=100 func=2 args=0x5000,1,0x9000,0x9100 in=2:i1 out=3:0x5100
	call ts=2100000 dur=1000 tid=200 tgid=200 func=2 args=0x5000,1,0x9000,0x9100 in=2:i0 out=3:0x5100
	call ts=3000000 dur=10000 tid=100 tgid=100 func=3 args=0,64,8,0,0x2000,0x9200 out=5:0x6000
	call ts=3000000 dur=10000 tid=200 tgid=200 func=3 args=0,64,8,0,0x2000,0x9200 out=5:0x6100
	# rank 0 waits from 4 to 24 ms for the post, rank 1 from 25 to 35 ms for the complete
	call ts=24001000 dur=1000 tid=200 tgid=200 func=5 args=0x5100,0,0x6100
	call ts=24010000 dur=20010000 tid=100 tgid=100 func=4 args=0x5100,0,0x6000
	call ts=35001000 dur=1000 tid=100 tgid=100 func=6 args=0x6000
	call ts=35010000 dur=10010000 tid=200 tgid=200 func=7 args=0x6100
	# rank 0 has the lock of its own memory from 40 to 70 ms, for which rank 1 waits from 45 ms on
	call ts=40000000 dur=1000 tid=100 tgid=100 func=8 args=1,0,0,0x6000
	call ts=70001000 dur=1000 tid=100 tgid=100 func=9 args=0,0x6000
	call ts=70010000 dur=25010000 tid=200 tgid=200 func=8 args=2,0,0,0x6100
	call ts=70100000 dur=1000 tid=200 tgid=200 func=9 args=0,0x6100
	# a call about an unknown window, and an access without an exposure
	call ts=71000000 dur=1000 tid=100 tgid=100 func=4 args=0x5100,0,0x7777
	call ts=72000000 dur=1000 tid=100 tgid=100 func=4 args=0x5100,0,0x6000
	end ts=90000000
	END
	"$make" rma.txt rma.pov
	"$POVTRACE" report --json --top 0 rma.pov >got
	[ "$(jq -c '[.findings[] | [.kind, .rank, .cost_ns, .from_ns, .to_ns]]' got)" = \
		'[["lock_contention",0,25000000,44000000,69000000],["late_post",1,20000000,3000000,23000000],["late_complete",0,10000000,24000000,34000000]]' ]
	[ "$(jq -c '[.ranks[].waits | [.late_post_ns, .late_complete_ns, .lock_ns]]' got)" = '[[20000000,0,0],[0,10000000,25000000]]' ]
	[ "$(jq -c '[.ranks[].epochs | [.accesses.matched, .accesses.window_not_recorded, .accesses.no_other_side, .exposures.matched,
		.locks]]' got)" = '[[1,1,1,0,1],[0,0,0,1,1]]' ]
	"$POVTRACE" report --findings rma.pov | tr -s '\n ' ' ' >got
	grep -q ' ! ranks waited 20.000 ms to access memory of rank 1, which had not called MPI_Win_post yet: rank 0 20.000' got
	"$POVTRACE" report --messages rma.pov | section One-sided >got
	grep -q '^  2 of 4 accesses and exposures are not matched with their other side:$' got
	grep -q '^  1: the creation of their window was not recorded$' got
	grep -q '^  1: the other side never began, or not during the recording$' got
}

@test "report: threads of another process that held a core are one row, the longest first" {
	"$make" - held.pov <<-'END'
		meta {"type":"recording","abi":1,"start_ns":1000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024}}
		meta {"type":"process","ts_ns":1000,"pid":100,"exe":"/bin/app","rank":0,"size":1,"job":"j"}
		task ts=1000 tid=100 tgid=100 on_cpu=1 cpu=0 comm=app
		task ts=1000 tid=300 tgid=300 cpu=0 comm=hog
		task ts=1000 tid=301 tgid=300 cpu=0 comm=hog
		task ts=1000 tid=400 tgid=400 cpu=0 comm=other
		stream 0
		switch ts=2000 prev=100 next=400 cpu=0 flags=preempted
		switch ts=2500 prev=400 next=300 cpu=0 state=1
		switch ts=3500 prev=300 next=301 cpu=0 state=1
		switch ts=4000 prev=301 next=100 cpu=0 state=1
		end ts=9000 reason=test
	END
	"$POVTRACE" report --json held.pov >held.json
	[ "$(jq -c '.ranks[0].without_core[0].held_by | map([.pid, .held_ns])' held.json)" = '[[300,1500],[400,500]]' ]
}
