#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace info: totals, the dump and the trace made from it, incomplete and damaged files.

load lib

setup() {
	begin
	need jq
	cat >run.txt <<-'END'
	meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000,"argv":["mpirun","-np","2","./a \u001b[31m"]}
	meta {"type":"host","hostname":"node7","kernel":"6.1.0-18","machine":"x86_64","cpus":4}
	meta {"type":"clocks","monotonic_ns":1000,"boottime_ns":1000,"realtime_ns":1700000000000001000}
	meta {"type":"library","id":1,"path":"/usr/lib/libmpi.so.40","flavour":"openmpi","version":"4.1.4","link":"uprobe_multi","attached":312,"missing":["MPI_X"],"failed":[]}
	meta {"type":"process","ts_ns":1000,"pid":10,"exe":"/tmp/a","rank":0,"size":2,"job":"j1"}
	meta {"type":"process","ts_ns":1000,"pid":11,"exe":"/tmp/a","rank":1,"size":2,"job":"j1"}
	task ts=1000 tid=10 tgid=10 comm="a b"
	fork ts=1001 tid=10 child=12 tgid=10 comm=a
	affinity ts=1002 tid=10 tgid=10 cpus=0-2,900
	image ts=1002 tid=10 tgid=10 dev=0x801 ino=77 start=0x7f0000000000 len=0x1000 stamp=0x5 flags=new
	more ts=1500 tid=10 begin=1400 first=4 type=out arg=2 data=i7,i8,i9
	call ts=1500 tid=10 tgid=10 dur=100 func=5 flags=more,partial args=1,0x7ffd0000,3 in=1/2:0x10,0x20 tsize=2:8 comm=0:9,i0,i2 sum=1:44
	callbegin ts=1600 tid=11 tgid=11 begin=1550 func=5
	spin ts=2000 tid=11 tgid=11 dur=300 funcs=6:13:120:0x99:1,7:4:40
	irq ts=2001 tid=11 dur=7 vec=3 flags=soft
	migrate ts=2002 tid=11 from=1 to=2
	raw ts=2003 tid=5 kind=201 flags=9 data=1,2
	repeat 17 step=100 {
	  switch ts=3000 cpu=1 prev=10 next=11 state=1
	  waking ts=3001 tid=11 target=10 flags=new
	  switch ts=3002 cpu=1 prev=11 next=10 flags=preempted
	}
	call ts=9000 tid=10 tgid=10 dur=10 func=8 flags=open
	call ts=9000 tid=10 tgid=10 dur=10 func=8 depth=1
	lost ts=9500 since=9400 cnt=23 ring=1 class=sched
	exit ts=9600 tid=11 tgid=11 code=256
	END
	{ cat run.txt; echo 'end ts=10000 reason=exit drops=1:sched:23,2:call:5'; } >ended.txt
	"$make" ended.txt run.pov
}

@test "info: text" {
	export TZ=UTC
	"$POVTRACE" info run.pov >got
	cat >wanted <<-'END'
	host       node7, Linux 6.1.0-18, x86_64, 4 CPUs
	recorded   2023-11-14 22:13:20 +0000, for 9.000 us
	command    mpirun -np 2 ./a ?[31m
	rank       0 of 2: pid 10, /tmp/a, job j1
	rank       1 of 2: pid 11, /tmp/a, job j1
	ended      rank 0, pid 10: still running at the end of the recording
	ended      rank 1, pid 11: still running at the end of the recording
	library    /usr/lib/libmpi.so.40 (openmpi 4.1.4), 312 functions by uprobe_multi, 1 absent, 0 failed
	records    66
	  switch                  34   17 preempted
	  waking                  17
	  migrate                  1
	  irq                      1
	  call                     3   1 open, 1 nested
	  callbegin                1
	  spin                     1   17 polls that found nothing
	  more                     1
	  task                     1
	  fork                     1
	  exit                     1
	  affinity                 1
	  image                    1
	  lost                     1
	  kind 201                 1   unknown to this version
	dropped    23 records of class sched, ring 1
	dropped    5 records of class call, ring 2
	complete   yes
	END
	grep -v ^file got | diff wanted -
	grep -q '^file .* 10 blocks' got
}

@test "info: JSON" {
	"$POVTRACE" info --json run.pov >got
	[ "$(jq -c '[.complete, .records, .duration_ns, .start_realtime_ns]' got)" = '[true,66,9000,1700000000000001000]' ]
	[ "$(jq -c .kinds.switch got)" = 34 ]
	[ "$(jq -c .kinds.kind201 got)" = 1 ]
	[ "$(jq -c '.totals | [.calls, .open_calls, .nested_calls, .spins, .polls]' got)" = '[3,1,1,1,17]' ]
	[ "$(jq -c '.drops[0]' got)" = '{"ring":1,"class":"sched","cnt":23}' ]
	[ "$(jq -c '[.processes[].rank]' got)" = '[0,1]' ]
	[ "$(jq -r '.libraries[0].path' got)" = /usr/lib/libmpi.so.40 ]
	[ "$(jq '.blocks, .bad_blocks, .bad_records, .lost_tail_bytes' got | paste -sd,)" = 10,0,0,0 ]
	[ "$("$POVTRACE" info --json --meta run.pov | jq -c '[.meta[].type] | length')" = 7 ]
}

@test "info: what the dump prints makes the same trace again" {
	"$POVTRACE" info --dump run.pov >first
	"$make" first again.pov
	"$POVTRACE" info --dump again.pov | diff first -
	[ "$(grep -vc '^meta' first)" = 66 ]
	grep -qx 'affinity ts=1002 tid=10 tgid=10 nr=4 cpus=0-2,900' first
	grep -q ' flags=more,partial args=0x1,0x7ffd0000,0x3 in=1/2:0x10,0x20 tsize=2/1:0x8 comm=0/1:0x9,i0,i2 sum=1/1:0x2c$' first
}

@test "info: the dump stops after the records that --first allows" {
	[ "$("$POVTRACE" info --dump --first 5 run.pov | grep -vc '^meta')" = 5 ]
	"$POVTRACE" info --dump --first 5 run.pov | tail -n 1 | grep -q '^more ts=1500 '
}

@test "info: a recording that was killed" {
	{ cat run.txt; echo cut; } | trace killed
	"$POVTRACE" info killed.pov >got 2>err
	grep -qx 'complete   no: the recording was cut off' got
	grep -qx 'dropped    23 records of class sched, ring -1' got
	grep -qx 'records    66' got
	[ ! -s err ]
	[ "$("$POVTRACE" info --json killed.pov | jq .complete)" = false ]
}

@test "info: a file cut in the middle of a block" {
	head -c -70 run.pov >cut.pov
	"$POVTRACE" info cut.pov >got 2>err
	grep -q '^complete   no' got
	grep -q '^damaged    the last .* bytes are an incomplete block' got
	grep -q 'cut.pov: the last .* bytes are no whole block' err
}

@test "info: flipped bytes cost one block and are reported" {
	{ for i in 1 2 3; do echo "exit ts=$i tid=$i tgid=1 code=7"; echo flush; done; } | trace three
	# The second block's stored payload.
	printf '\377' | dd of=three.pov bs=1 seek=$((32 + 2 * 56 + 26 + 22)) conv=notrunc status=none
	"$POVTRACE" info three.pov >got 2>err
	grep -qx 'records    2' got
	grep -q '^damaged    1 blocks are missing' got
	grep -q 'block 1 at byte .* is damaged (wrong checksum); 1 records lost' err
}

@test "info: a file that is no trace, a missing file, a directory, too many files" {
	echo "some text that is no trace, but long enough" >text
	fails 1 "is not a povtrace file" "$POVTRACE" info text
	fails 1 "No such file" "$POVTRACE" info nothing-here
	run -1 "$POVTRACE" info .
	run -2 "$POVTRACE" info
	run -2 "$POVTRACE" info run.pov run.pov
}

@test "povmake: a limit is kept" {
	echo 'repeat 100000 step=100 {
	  call ts=1 tid=1 tgid=1 dur=1+7*i args=1+99991*i,2+33333*i
	}' >many.txt
	"$make" -l 50000 many.txt small.pov 2>/dev/null
	[ "$(stat -c %s small.pov)" -le 50000 ]
	[ "$("$POVTRACE" info --json small.pov | jq '.complete, .bad_blocks' | paste -sd,)" = true,0 ]
}

info_said() { # what the example in $line must have printed
	[ -s said ]
	case $line in
	*--first*) [ "$(grep -vc '^meta\|^#' said)" = 20 ] ;;
	*.totals*) jq -e '.calls > 0 and .polls > 0 and .switches > 0' said ;;
	esac
}

@test "info: the examples in the help work" {
	"$make" "$data/export_run.txt" run.pov
	each_example info info_said
}

@test "info: drift of the clocks" {
	two() { # BOOTTIME REALTIME at the end, 1 s later
		awk -v end="meta {\"type\":\"clocks\",\"monotonic_ns\":1000001000,\"boottime_ns\":$1,\"realtime_ns\":$2,\"raw_ns\":999001000}" '
			{ print } /"type":"clocks"/ { print end }' run.txt |
			sed 's/"realtime_ns":1700000000000001000}/"realtime_ns":1700000000000001000,"raw_ns":1000}/' | trace clocks
	}
	two 1000001000 1700000001000001000
	"$POVTRACE" info clocks.pov | no '^clocks'
	[ "$("$POVTRACE" info --json clocks.pov | jq -c .clocks)" = \
		'{"realtime_moved_ns":0,"suspended_ns":0,"slewed_ns":1000000}' ]
	two 6000001000 1700000000750001000
	[ "$("$POVTRACE" info clocks.pov | grep '^clocks' | tr -s ' ')" = \
		"clocks the time of day went 250.000 ms behind the recording's clock; the machine was suspended for 5.000 s" ]
	"$make" run.txt one.pov
	[ "$("$POVTRACE" info --json one.pov | jq .clocks)" = null ]
}
