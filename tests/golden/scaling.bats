#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Efficiencies of several runs of one program, in a table, a picture and a diff.

load lib
load made_run
needs jq

# Three runs of one program, known to the microsecond:
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

# scaled JSON WANTED: the runs equal WANTED, which has one for each, and the factors' products are right.
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

@test "scaling: a picture with the table's points" {
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
	# labels do not overlap
	grep -oE "<text x='[0-9]+' y='[0-9.]+'>[^<]* %<" scaling.svg | sed "s/.* y='\([0-9.]*\)'.*/\1/" | sort -n |
		awk 'NR > 1 && $1 - last < 17.9 { exit 1 } { last = $1 } END { exit NR != 7 }'
	no 'White marks' scaling.svg
}

@test "scaling: unknown values, with the reason" {
	three_runs
	# no MPI; no scheduler; a lost record; a message whose send is not recorded: the path has three ranks' length instead of four
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
	[ "$(stat -c %a s.svg)" = "$(stat -c %a one.pov)" ] # no more people may read the picture than the recording
	"$POVTRACE" report --scaling --json none.pov one.pov off.pov unmatched.pov lost.pov >json
	[ "$(jq -c '[.runs[] | [.name, .unknown, .efficiency.path_is_whole, .efficiency.had_core, .incomplete]]' json)" = \
		'[["one.pov",null,true,1,[]],["off.pov",null,true,null,[]],["lost.pov",null,false,1,["call"]],["unmatched.pov",null,false,1,[]],["none.pov","no_mpi",null,null,[]]]' ]
	[ "$(jq -c '.runs[4] | [.efficiency, .program, .computation_scaling, .global_efficiency, .speedup]' json)" = '[null,null,null,null,null]' ]
}

@test "scaling: different programs, different work" {
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

@test "diff: efficiencies, as in the reports" {
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
	# a value that is a limit, lost or unknown in one run is so in both
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
