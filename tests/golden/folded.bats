#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace export -o run.folded: stacks of known samples, which samples count, and what is refused.

load lib
load made_run

setup() {
	begin
	need gcc
	cat >app.c <<-'END'
		int work(int n)
		{
			while (n--)
				__asm__ volatile("");
			return n;
		}
		int main(int argc, char **argv)
		{
			return work(argc) + !argv;
		}
	END
	gcc -O0 -g -no-pie -Wl,-z,noseparate-code app.c -o app
	for name in work main; do
		read -r at < <(nm app | sed -n "s/ T $name\$//p")
		declare -g "$name=$((0x$at - 0x400000))"
	done
	build_id=$(readelf -n app | sed -n 's/.*Build ID: //p')
}

# sample MS RANK ADDRESS [OPTIONS]: of its main thread
sample() { echo "stream $2"; echo "sample ts=$(($1 * 1000000)) tid=$((100 * $2 + 100)) tgid=$((100 * $2 + 100)) ip=$3 ${4-}"; }

# What two ranks did from 2 to 800 ms. They have the program at different addresses.
two_ranks() {
	local i base
	echo "meta {\"type\":\"image\",\"dev\":8,\"ino\":77,\"path\":\"$PWD/app\",\"build_id\":\"$build_id\"}"
	echo 'meta {"type":"image","dev":8,"ino":78,"path":"/nowhere/libodd; name.so","build_id":""}'
	for i in 0 1; do
		base=$((0x10000000 * (i + 1)))
		echo "stream $i"
		echo "image ts=1100000 tid=$((100 * i + 100)) tgid=$((100 * i + 100)) dev=8 ino=77 start=$base len=0x10000 off=0"
		echo "image ts=1100000 tid=$((100 * i + 100)) tgid=$((100 * i + 100)) dev=8 ino=78 start=0x7f0000000000 len=0x1000 off=0"
		echo "sample ts=1200000 tid=$((100 * i + 100)) tgid=$((100 * i + 100)) ip=$((base + main))" # before MPI_Init ends: not counted
		sample 10 $i $((base + work))
		sample 20 $i $((base + work))
		sample 700 $i 0x7f0000000010
	done
	echo "fork ts=3000000 tid=100 child=101 tgid=100 parent_tgid=100 comm=w;rker"
	sample 30 0 $((0x10000000 + main))
	sample 40 1 0x5
	echo "sample ts=50000000 tid=101 tgid=100 ip=$((0x10000000 + work))"
	sample 60 0 $((0x10000000 + work)) flags=stack # found on the stack at the end: not a tick
}

folded() { "$POVTRACE" export run.pov -o run.folded "$@" 2>err; }

@test "folded: stacks have the samples of the input, by rank, thread, file, function and line" {
	two_ranks | ranks 2 800000 | trace run
	folded --totals >totals.json
	cat >wanted <<-END
		rank 0;app;main;app.c:8 1
		rank 0;app;work;app.c:2 2
		rank 0;libodd: name.so 1
		rank 0;thread w:rker;app;work;app.c:2 1
		rank 1;[no file] 1
		rank 1;app;work;app.c:2 2
		rank 1;libodd: name.so 1
	END
	diff -u wanted run.folded
	grep -q 'wrote run.folded: 9 samples of code outside MPI (10 ms of CPU time each) in 7 stacks$' err
	grep -q '"samples": 9,' totals.json && grep -q '"stacks": 7,' totals.json
	# the form of a line that flamegraph.pl (a count after the last blank) and speedscope expect
	no -vE '^[^;]+(;[^;]+)* [0-9]+$' run.folded
}

@test "folded: without the program, its file is the last frame" {
	two_ranks | ranks 2 800000 | trace run
	rm app
	folded --rank 1
	printf 'rank 1;%s\n' '[no file] 1' 'app 2' 'libodd: name.so 1' | diff -u - run.folded
}

@test "folded: a part of the time and of the ranks; to stdout and compressed" {
	two_ranks | ranks 2 800000 | trace run
	folded --rank 0 --from 15ms --to 100ms
	printf 'rank 0;%s\n' 'app;main;app.c:8 1' 'app;work;app.c:2 1' 'thread w:rker;app;work;app.c:2 1' | diff -u - run.folded
	folded
	"$POVTRACE" export run.pov -o - -f folded 2>/dev/null | cmp - run.folded
	"$POVTRACE" export run.pov -o run.folded.gz
	gunzip -c run.folded.gz | cmp - run.folded
}

# Rank 0 computes in a library function that work calls, which main calls; and in work itself, with unknown callers.
with_callers() {
	two_ranks | grep -v '^sample'
	local base=$((0x10000000))
	sample 10 0 0x7f0000000010 "callers=$((base + work + 9)),$((base + main + 9))"
	sample 20 0 0x7f0000000020 "callers=$((base + work + 9)),$((base + main + 9))"
	sample 30 0 $((base + work)) "callers=$((base + main + 9))"
	sample 40 0 $((base + work)) flags=cut
	sample 50 0 0x5 flags=cut
}

@test "folded: callers, outermost first; a file before its first function; unknown ones are marked" {
	with_callers | ranks 2 800000 | trace run
	folded
	diff -u - run.folded <<-END
		rank 0;[callers unknown];[no file] 1
		rank 0;[callers unknown];app;work;app.c:2 1
		rank 0;app;main;work;app.c:2 1
		rank 0;app;main;work;libodd: name.so 2
	END
}

@test "stacks: a dump makes the same trace again" {
	with_callers | ranks 2 800000 | trace run
	"$POVTRACE" info --dump run.pov | grep '^sample' | sed 's/ tgid.* ip/ ip/' >got
	base=$((0x10000000))
	printf 'sample ts=%s tid=100 ip=0x%x%s\n' 10000000 $((0x7f0000000010)) "$(printf ' callers=0x%x,0x%x' $((base + work + 9)) $((base + main + 9)))" \
		20000000 $((0x7f0000000020)) "$(printf ' callers=0x%x,0x%x' $((base + work + 9)) $((base + main + 9)))" \
		30000000 $((base + work)) "$(printf ' callers=0x%x' $((base + main + 9)))" \
		40000000 $((base + work)) ' flags=cut' 50000000 5 ' flags=cut' | diff -u - got
}

@test "stacks: Perfetto's samples have them" {
	need protoc
	with_callers | ranks 2 800000 | trace run
	"$POVTRACE" export run.pov -o run.pftrace 2>err
	grep -q 'with the stacks of 5 samples of code outside MPI$' err
	protoc -I "$here/../data" --decode=Trace perfetto_subset.proto <run.pftrace >got
	no -E '^ *[0-9]+(:| \{)' <got
	# prints each sample as its functions: resolves the numbers of stacks, frames and names
	awk '/^packet/ { s = 0 } $1 == "perf_sample" { s = 1 }
		$2 == "{" { in_ = $1 } $1 == "iid:" { iid = $2 } in_ == "function_names" && $1 == "str:" { name[iid] = substr($0, index($0, "\"")) }
		in_ == "frames" && $1 == "function_name_id:" { of[iid] = $2 }
		in_ == "callstacks" && $1 == "frame_ids:" { stack[iid] = stack[iid] " " name[of[$2]] }
		s && $1 == "callstack_iid:" { print stack[$2] }' <got | tee got.stacks
	diff -u - got.stacks <<-END
		 "main" "work" "libodd; name.so+0x10"
		 "main" "work" "libodd; name.so+0x20"
		 "main" "work"
		 "[callers unknown]" "work"
		 "[callers unknown]" "[no file]"
	END
	[ "$(grep -c 'unwind_error: 0' got)" = 2 ]
	# Perfetto drops stacks with a frame in no mapping, and puts a slash before each path
	[ "$(grep -c 'mapping_id: [1-9]' got)" = "$(grep -c '^    frames {' got)" ]
	[ "$(grep -A2 'mapping_paths {' got | sed -n 's/.*str: //p')" = "$(printf '"%s"\n' 'nowhere/libodd; name.so' "${PWD#/}/app" '[no file]')" ]
	[ "$(grep -c "source_paths" got)" = 1 ] && grep -q "str: \"$PWD/app.c\"" got
	# without recorded callers, there are no stacks
	two_ranks | ranks 2 800000 | trace run
	"$POVTRACE" export run.pov -o run.pftrace 2>/dev/null
	protoc -I "$here/../data" --decode=Trace perfetto_subset.proto <run.pftrace | no perf_sample
}

@test "stacks: the query counts samples by function, with and without what it called" {
	need_tp
	with_callers | ranks 2 800000 | trace run
	"$POVTRACE" export run.pov -o run.pftrace 2>/dev/null
	"$tp" -q "$here/../../viz/sql/where_computed.sql" run.pftrace 2>/dev/null | cut -d, -f1,2,4- | grep -v '^$' >got
	diff -u - got <<-END
		"rank","function","samples","share_pct","with_called"
		"rank 0 · app","work",2,40.000000,4
		"rank 0 · app","[no file]",1,20.000000,1
		"rank 0 · app","libodd; name.so+0x10",1,20.000000,1
		"rank 0 · app","libodd; name.so+0x20",1,20.000000,1
		"rank 0 · app","main",0,0.000000,3
		"rank 0 · app","[callers unknown]",0,0.000000,2
	END
}

@test "places: time in a library counts for the function of the program that called it" {
	with_callers | ranks 2 800000 | trace run
	"$POVTRACE" report --places run.pov >got
	sed -n '/^Where/,$p' got | diff -u - <(cat <<-END
		Where ranks computed, by samples of code outside MPI
		  function   source           samples      time     %  % in libraries
		  work       app.c:3                4  41.24 ms  80.0            40.0
		  (unknown)  code in no file        1  10.31 ms  20.0             0.0
	END
	)
	"$POVTRACE" report --json --places run.pov | jq -c '.places | map([.function, .line, .samples, .called_samples, .of_samples])' >got
	echo '[["work",3,4,2,5],[null,null,1,0,5]]' | diff -u - got
	two_ranks | grep -v ^sample | ranks 2 800000 | trace run
	"$POVTRACE" report --places run.pov | grep -q 'There are no samples: no rank computed for long outside MPI'
}

# Rank 0 does what $1 prints before a barrier, in which rank 1 waits; 30 samples of thread $2 lie in file $3.
waited_for() { # FUNCTION TID INODE
	local ms
	two_ranks | grep -v ^sample
	echo "meta {\"type\":\"image\",\"dev\":8,\"ino\":79,\"path\":\"$PWD/libc.so.6\",\"build_id\":\"$build_id\"}"
	echo "stream 0"
	echo "image ts=1100000 tid=100 tgid=100 dev=8 ino=79 start=0x30000000 len=0x10000 off=0"
	"$1"
	for ((ms = 10; ms < 310; ms += 10)); do
		echo "sample ts=$((ms * 1000000)) tid=$2 tgid=100 ip=$(($3 + work))"
	done
	barrier 0 400000 10
	barrier 1 3000 397010
}

# Thread 101 computes from 4 to 399 ms; then it wakes the main thread, which has slept meanwhile.
joins() {
	echo "switch ts=4000000 cpu=0 prev=100 next=101 state=1"
	echo "waking ts=399000000 tid=101 target=100 cpu=0 target_cpu=0"
	echo "switch ts=399000001 cpu=0 prev=101 next=100 state=1"
}

@test "screen: where a rank's threads computed while its main thread slept" {
	waited_for joins 101 0x10000000 | ranks 2 410000 | screen run
	grep -q '1 Rank 0 sleeps outside MPI .* until another of its threads woke it; rank 1 waited 0\.40 s for it (MPI_Barrier)\. Its other threads computed 0\.40 s, all of it in work (app\.c:2)\. → Share the work in work (app\.c:2) among threads and ranks, as the main thread waits for it; or, if it waits for a lock, hold that lock for less time\.' line
}

@test "screen: threads that wait for each other in an OpenMP runtime" {
	cp app libgomp.so.1
	waited_for true 100 0x30000000 | sed 's/libc\.so\.6/libgomp.so.1/' | ranks 2 410000 >alone.txt
	# another thread computes for a tenth of the time
	awk '{ print } /^sample/ && ++n % 10 == 0 { sub("tid=100", "tid=101"); if (n > 10) sub("ip=.*", "ip='$((0x10000000 + work))'"); print }' \
		alone.txt >made.txt
	trace run <made.txt
	"$POVTRACE" report run.pov >got
	cat got
	tr -s ' \n' ' ' <got >line
	grep -q 'Threads of rank 0 waited for each other in OpenMP (libgomp\.so\.1) for 94 % of their computing: their work is uneven or partly serial, or they lack cores\.' line
	grep -q '1 Rank 0 computes while rank 1 waits .* → Balance the work of its threads, for which its main thread waits in OpenMP (libgomp\.so\.1)\.' line
	# a single thread waits for nobody
	trace alone <alone.txt
	"$POVTRACE" report alone.pov >got
	no 'in OpenMP' <got
	# one sample of thirty
	sed "/^sample ts=[3-9]0000000 \|^sample ts=[12].*0000000 /s/ip=.*/ip=$((0x10000000 + work))/" made.txt | trace few
	"$POVTRACE" report few.pov >got
	no 'in OpenMP' <got
	grep -q '→ Share the work in work (app\.c:2) among the ranks\.' got
}

@test "screen: work in the C library is its callers' work" {
	cp app libc.so.6
	waited_for true 100 0x30000000 | ranks 2 410000 | screen run
	grep -q "All of rank 0's was in work (app\.c:2)\." line
	grep -q '→ Share the work before MPI_Barrier among the ranks; record --stacks shows what calls work\.' line
}

@test "screen: work in the Python interpreter is that of a Python program" {
	cp app python3.11
	waited_for true 100 0x30000000 | sed 's/libc\.so\.6/python3.11/' | ranks 2 410000 | screen run
	grep -q '→ Share the work before MPI_Barrier among the ranks; a Python profiler shows which functions it is in\.' line
}

@test "folded: no samples is an error with its reason, and leaves no file" {
	two_ranks | ranks 2 800000 | trace run
	fails 1 'the selected ranks did not compute in that time (there are 9 others)' "$POVTRACE" export run.pov -o x.folded --from 750ms
	fails 1 'samples lie outside MPI functions' "$POVTRACE" export run.pov -o x.folded --function MPI_Send
	two_ranks | grep -v ^sample | ranks 2 800000 | trace run
	fails 1 'no rank computed for long outside MPI' "$POVTRACE" export run.pov -o x.folded
	sed 's/"sched":"all"/"sched":"off"/; /^switch/d' run.txt | trace off
	fails 1 'the scheduler, which was not recorded' "$POVTRACE" export off.pov -o x.folded
	[ ! -e x.folded ]
}

@test "folded: every trace gives valid lines or none" {
	for seed in 1 2 3 4 5 6; do
		"$tool/random_trace" $seed | "$make" - run.pov
		rm -f run.folded
		folded || grep -q 'no samples' err
		[ ! -e run.folded ] || no -vE '^[^;]+(;[^;]+)* [0-9]+$' run.folded
	done
}
