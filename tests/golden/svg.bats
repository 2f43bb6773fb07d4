#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace export -o moment.svg: the picture compared with the expected one and with its own sums; what it leaves out, and what it refuses.

load lib

setup() {
	begin
	"$make" "$data/export_findings.txt" run.pov
}

# Exports run.pov as a picture, and checks that it is one. Arguments: options.
picture() {
	"$POVTRACE" export run.pov -o run.svg "$@" 2>err
	command -v xmllint >/dev/null && xmllint --noout run.svg
	no -E '<script|href|@import|url\([^#]' run.svg # nothing of outside
	[ "$(wc -c <run.svg)" -lt 1000000 ]
}

# For each band of a rank and each CPU, a line with the number of columns drawn.
columns() {
	awk -F"'" '
		function flush() { if (name) print name, sum; name = "" }
		/^<g role=.img/ { flush(); split($4, n, /[,:]/); name = n[1]; sum = 0 }
		/^<text class=.e.*>([^ <]* )?CPU [0-9]+</ { flush(); name = $0; gsub(/<[^>]*>/, "", name); sum = 0 }
		/^<path class=.[cqwxatu]. d=/ || /^<g transform[^>]*><path class=/ {
			d = $0; sub(/.* d=./, "", d); sub(/\047.*/, "", d)
			while (match(d, /h[0-9]+/)) { sum += substr(d, RSTART + 1, RLENGTH - 1); d = substr(d, RSTART + RLENGTH) }
		}
		/^<path style=.stroke:#222/ { flush() }
		END { flush() }' run.svg
}

# What the title of a rank's state says of its length.
state() { grep -oE "<title>$1: $2, [^<]*" run.svg | sed 's/.*, //'; }

# events: run.pov of the events on stdin, in the same program.
events() { { grep -E '^(meta|task|fork)' "$data/export_findings.txt"; cat; } | trace run; }

@test "svg: the picture is as expected" {
	picture
	same_as "$data/export_findings.svg" run.svg
	grep -q 'wrote run.svg: a picture with 2 arrows and 4 findings' err
}

@test "svg: the states of a stretch add up to it, and are those of the input" {
	picture --from 2ms --to 40ms
	[ "$(columns)" = "$(printf '%s\n' 'rank 0 880' 'rank 1 880' 'CPU 0 880' 'CPU 1 880')" ]
	# rank 0: in Recv 6 ms, Barrier 1 ms, Wait 1.5 ms, Irecv 0.1 ms
	[ "$(state 'rank 0' 'waiting in MPI')" = '8.500 ms (22.4 %)' ]
	[ "$(state 'rank 0' 'working in MPI')" = '100.000 us (0.3 %)' ]
	[ "$(state 'rank 0' computing)" = '29.400 ms (77.4 %)' ]
	[ "$(state 'rank 1' 'no core')" = '5.000 ms (13.2 %)' ]
	[ "$(grep -o '<title>hog (pid 60): [^<]*' run.svg)" = '<title>hog (pid 60): 5.000 ms (13.2 %)' ]
	# one state during the whole interval
	picture --from 3ms --to 7.9ms
	grep -q "<path class='w' d='M0 0h880'><title>rank 0: waiting in MPI, 4.900 ms (100.0 %)" run.svg
	[ "$(grep -c '<title>rank 0: [a-z]' run.svg)" = 1 ]
	grep -q '>MPI_Recv</text>' run.svg
}

# account RANK: the time of each state between MPI_Init and MPI_Finalize by the report, a line each: name, ns.
account() {
	"$POVTRACE" report --json run.pov 2>/dev/null | jq -r ".ranks[$1].between_init_and_finalize |
		{computing: (.compute_ns + .recording_ns), \"no core\": .no_core_ns, \"waiting in MPI\": .mpi_wait_ns,
		\"working in MPI\": (.mpi_work_ns + .file_io_ns), asleep: .asleep_ns, tracing: (.tracing_ns - .recording_ns),
		unknown: .unknown_ns} | to_entries[] | select(.value > 0) | \"\(.key)=\(.value)\""
}

# drawn RANK: the same by the picture, whose times are rounded.
drawn() {
	grep -oE "aria-label='rank $1,[^']*" run.svg | sed "s/.*pid [0-9]*: //" | sed 's/), /)\n/g' |
		sed -E 's/^(.*) ([0-9.]+) (ns|us|ms|s) \(.*/\1=\2 \3/'
}

@test "svg: what ranks did agrees with the report's account" {
	need jq
	for script in export_findings report_run; do
		grep -v ^lost "$data/$script.txt" | "$make" - run.pov # where calls are missing, the picture claims less
		for rank in 0 1; do
			read -r from to < <("$POVTRACE" report --json run.pov 2>/dev/null |
				jq -r ".ranks[$rank].between_init_and_finalize | \"\(.from_ns)ns \(.from_ns + .window_ns)ns\"")
			picture --from "$from" --to "$to"
			account $rank | sort >wanted
			drawn $rank | sort >got
			echo "$script, rank $rank, $from to $to" && paste -d' ' wanted got
			[ "$(wc -l <wanted)" = "$(wc -l <got)" ]
			paste -d= wanted got | awk -F= '{
				split($4, n, " "); unit = n[2] == "s" ? 1e9 : n[2] == "ms" ? 1e6 : n[2] == "us" ? 1e3 : 1
				d = $2 - n[1] * unit; bad += $1 != $3 || d * d > unit * unit / 1e6
			} END { exit bad }'
		done
	done
}

@test "svg: a thread that sleeps in a call is waiting, outside calls it is asleep; who has its core, if anybody" {
	events <<-'END'
		stream 0
		switch ts=1120000 cpu=0 prev=50 next=100 state=1
		call ts=1600000 dur=400000 tid=100 tgid=100 func=1 cpu=0 lib=1 args=0,0
		switch ts=12000000 cpu=0 prev=100 next=0 state=1
		waking ts=20000000 tid=0 target=100 cpu=0 target_cpu=0
		switch ts=20000000 cpu=0 prev=0 next=100
		switch ts=23000000 cpu=0 prev=100 next=0 state=1
		waking ts=27000000 tid=0 target=100 cpu=0 target_cpu=0
		switch ts=27000000 cpu=0 prev=0 next=100
		call at=21000000..31000000 tid=100 tgid=100 func=3 cpu=0 lib=1 args=0x7f00,1000,0x4c000405,1,7,0x44000000,1
		end ts=41000000 reason="command ended"
	END
	picture --from 10ms --to 32ms
	[ "$(state 'rank 0' asleep)" = '8.000 ms (36.4 %)' ]
	[ "$(state 'rank 0' 'waiting in MPI')" = '10.000 ms (45.5 %)' ]
	[ "$(state 'rank 0' computing)" = '4.000 ms (18.2 %)' ]
	# 40 columns a ms: on the core from 10 to 11, 19 to 22 and 26 to 32
	grep -qF "d='M0 0h40m320 0h120m160 0h240'><title>rank 0: 10.000 ms (45.5 %)" run.svg
	[ "$(columns | head -1)" = 'rank 0 880' ]
}

@test "svg: within a pixel the state that took most time is drawn, and no time is lost" {
	events <<-'END'
		stream 0
		switch ts=1120000 cpu=0 prev=50 next=100 state=1
		call ts=1600000 dur=400000 tid=100 tgid=100 func=1 cpu=0 lib=1 args=0,0
		repeat 20000 step=2000 {
		call at=2000000..2001400 tid=100 tgid=100 func=3 cpu=0 lib=1 args=0x7f00,1000,0x4c000405,1,7,0x44000000,1
		}
		switch ts=42000000 cpu=0 prev=100 next=0 state=1
		end ts=43000000 reason="command ended"
	END
	picture --from 1ms --to 41ms
	grep -qF "d='M0 0h880'><title>rank 0: waiting in MPI, 28.000 ms (70.0 %)" run.svg
	grep -q 'rank 0, pid 100: computing 12.000 ms (30.0 %), waiting in MPI 28.000 ms (70.0 %)' run.svg
}

@test "svg: more than 16,384 changes of state in one call" {
	events <<-'END'
		stream 0
		switch ts=1120000 cpu=0 prev=50 next=100 state=1
		call ts=1600000 dur=400000 tid=100 tgid=100 func=1 cpu=0 lib=1 args=0,0
		callbegin ts=2001000 begin=2000000 tid=100 tgid=100 func=3
		repeat 20000 step=2000 {
		switch ts=2001000 cpu=0 prev=100 next=60 flags=preempted
		switch ts=2002000 cpu=0 prev=60 next=100 state=1
		}
		call at=2000000..42010000 tid=100 tgid=100 func=3 cpu=0 lib=1 args=0x7f00,1000,0x4c000405,1,7,0x44000000,1
		switch ts=42020000 cpu=0 prev=100 next=0 state=1
		end ts=43000000 reason="command ended"
	END
	picture --from 1ms --to 41ms
	grep -q 'rank 0, pid 100: no core 20.000 ms (50.0 %), waiting in MPI 20.000 ms (50.0 %)' run.svg
	[ "$(columns | head -1)" = 'rank 0 880' ]
}

# Sends and receives of N messages, 10 us apart, on stdout.
messages() {
	echo "stream 0
		switch ts=1120000 cpu=0 prev=50 next=100 state=1
		call ts=1600000 dur=400000 tid=100 tgid=100 func=1 cpu=0 lib=1 args=0,0
		call ts=1610000 dur=1000 tid=200 tgid=200 func=1 cpu=1 lib=1 args=0,0
		repeat $1 step=10000 {
		call at=2000000..2001000 tid=100 tgid=100 func=2 cpu=0 lib=1 args=0x7f00,1000,0x4c000405,1,7,0x44000000
		call at=2000500..2003000 tid=200 tgid=200 func=3 cpu=1 lib=1 args=0x7f00,1000,0x4c000405,0,7,0x44000000,1
		}
		end ts=9000000"
}

@test "svg: arrows for 200 messages; none for 201, with a note" {
	events <<<"$(messages 200)"
	picture
	[ "$(grep -c 'rank 0 to rank 1, 3.9 KiB, tag 7, 3.000 us later: MPI_Send to MPI_Recv' run.svg)" = 200 ]
	grep -q 'message, from its send to its receive' run.svg
	events <<<"$(messages 201)"
	picture
	[ "$(grep -c '<line' run.svg)" = 0 ]
	grep -q 'Messages: 201, too many for arrows.' run.svg
	# with a selection, only the messages of its functions and ranks count
	picture --to 1.5ms
	[ "$(grep -c 'rank 0 to rank 1' run.svg)" = 50 ]
	picture --function 'MPI_R*'
	[ "$(grep -c 'rank 0 to rank 1' run.svg)" = 0 ]
}

@test "svg: 64 of many ranks and CPUs are shown, with a note of how many are not" {
	{
		grep '^meta {"type":"\(clocks\|functions\|library\)' "$data/export_findings.txt"
		echo 'meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000000,"argv":["mpirun","./app"],"config":{"sched":"all","rings":1}}'
		echo 'meta {"type":"host","hostname":"node7","kernel":"6.1.0","version":"#1","machine":"x86_64","cpus":100}'
		for ((i = 0; i < 70; i++)); do
			echo "meta {\"type\":\"process\",\"ts_ns\":1000000,\"pid\":$((1000 + i)),\"exe\":\"/home/u/app\",\"cmdline\":[\"./app\"],\"rank\":$i,\"size\":70,\"job\":\"j\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}"
			echo "task ts=1000000 tid=$((1000 + i)) tgid=$((1000 + i)) on_cpu=1 cpu=$i comm=app"
		done
		echo 'stream 0'
		for ((i = 0; i < 70; i++)); do echo "switch ts=$((2000000 + i)) cpu=$i prev=$((1000 + i)) next=0 state=1"; done
		echo 'end ts=3000000'
	} | trace run
	picture
	[ "$(columns | grep -c '^rank [0-9]* 880')" = 64 ]
	[ "$(columns | grep -c '^CPU')" = 64 ]
	grep -q 'Not shown: 6 ranks more' run.svg
	grep -q 'Not shown: 36 CPUs' run.svg
	picture --rank 64-69
	[ "$(columns | grep '^CPU' | sed 's/ [0-9]*$//')" = "$(printf 'CPU %d\n' 64 65 66 67 68 69)" ]
	no 'ranks more' run.svg
}

@test "svg: without the scheduler calls are known, and the rest is unknown" {
	sed 's/"sched":"all"/"sched":"off"/; /^switch\|^waking/d' "$data/export_findings.txt" | trace run
	picture --from 2ms --to 40ms
	[ "$(state 'rank 0' 'waiting in MPI')" = '8.500 ms (22.4 %)' ]
	[ "$(state 'rank 0' unknown)" = '29.400 ms (77.4 %)' ]
	grep -q 'The scheduler was not recorded' run.svg
	no '>CPU 0<' run.svg
}

@test "svg: no computing is shown where records of calls are missing" {
	events <<-'END'
		stream 0
		switch ts=1120000 cpu=0 prev=50 next=100 state=1
		call ts=1600000 dur=400000 tid=100 tgid=100 func=1 cpu=0 lib=1 args=0,0
		lost ts=21000000 since=11000000 cnt=5 ring=0 class=call
		switch ts=40900000 cpu=0 prev=100 next=0 state=1
		end ts=41000000
	END
	picture --from 5ms --to 25ms
	[ "$(state 'rank 0' unknown)" = '10.000 ms (50.0 %)' ]
	[ "$(state 'rank 0' computing)" = '10.000 ms (50.0 %)' ]
}

@test "svg: it is valid XML with any texts in the recording" {
	need xmllint
	sed 's/"argv":\["mpirun","-np","2"/"argv":["a<b>\&\\"\x27","\\u0001\\ufffe"/; s/comm=hog/comm="<\\x01\\xff\&>"/' "$data/export_findings.txt" | trace run
	picture
	grep -q 'a&#60;b&#62;&#38;' run.svg
	for seed in 1 2 3 4 5 6; do
		"$tool/random_trace" $seed | "$make" - run.pov
		picture
		[ -z "$(columns | awk '$NF > 880')" ]
	done
}

@test "svg: several hosts" {
	sed 's/node7/node8/; s/"rank":0/"rank":2/; s/"rank":1/"rank":3/' "$data/export_findings.txt" | trace other
	"$POVTRACE" export run.pov other.pov -o run.svg --one-run
	[ "$(columns | sed 's/ [0-9]*$//' | paste -sd, -)" = 'rank 0,rank 1,rank 2,rank 3,node7 CPU 0,node7 CPU 1,node8 CPU 0,node8 CPU 1' ]
}

@test "svg: to stdout, compressed, and chosen by the name's ending" {
	picture
	"$POVTRACE" export run.pov -o - -f svg 2>err | cmp - run.svg
	grep -q 'wrote to stdout: a picture' err
	"$POVTRACE" export run.pov -o run.svg.gz
	gunzip -c run.svg.gz | cmp - run.svg
	"$POVTRACE" export run.pov -o x.svg --totals | grep -q '"arrows": 2'
}

@test "svg: nothing to draw is an error, and leaves no file" {
	echo before >old.svg
	fails 1 "nothing to draw: 500 ns of the recording" "$POVTRACE" export run.pov -o old.svg --from 1ms --to 0.0010005
	[ "$(cat old.svg)" = before ]
	fails 1 "nothing to draw" "$POVTRACE" export run.pov -o new.svg --from 40ms
	events <<<'end ts=41000000'
	grep -v '^meta {"type":"\(process\|target\)\|^task\|^fork' run.txt | trace empty
	fails 1 "no activity of a rank or CPU was recorded" "$POVTRACE" export empty.pov -o new.svg
	[ "$(ls ./*.svg)" = ./old.svg ]
	[ -z "$(find . -name '*svg.*')" ]
}
