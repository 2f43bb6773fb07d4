#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace advise, strategy collectives: made-up runs whose collectives take known times, and made-up results of povbench.

load lib.bash
needs jq

# program SETTINGS COUNT CALLS OWN_MS: two ranks of MPICH reduce COUNT doubles every 10 ms. Rank 1 arrives 1 ms after rank 0, and both are
# done OWN_MS later. Leaves run.pov.
program() {
	cat >run.txt <<-T
	meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000000,"argv":["mpirun"],"config":{"sched":"none","rings":2,"groups":["all"]}}
	meta {"type":"host","hostname":"node7","kernel":"6.1","version":"#1","machine":"x86_64","cpus":2}
	meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Init","group":"init","attrs":"INIT","sig":"argc:ptr argv"},{"id":2,"name":"MPI_Allreduce","group":"coll","attrs":"WAIT","sig":"sendbuf recvbuf count dtype op comm"},{"id":3,"name":"MPI_Finalize","group":"init","attrs":"FINAL","sig":""}]}
	meta {"type":"library","id":1,"path":"/usr/lib/libmpich.so.12","build_id":"00","dev":1,"ino":7,"flavour":"mpich","version":"4.0.2","layout":{"handle_bytes":4,"status_bytes":20,"type_in_handle":true,"undefined":-32766},"named":[["MPI_COMM_WORLD","0x44000000",0],["MPI_DOUBLE","0x4c00080b",8]]}
	meta {"type":"target","ts_ns":1000000,"pid":50,"cmdline":["mpirun"]}
	meta {"type":"process","ts_ns":1100000,"pid":100,"ppid":50,"exe":"/home/u/app","cmdline":["./app"],"rank":0,"size":2,"job":"j","libs":[{"id":1,"bias":"0x0"}],"settings":$1}
	meta {"type":"process","ts_ns":1100000,"pid":200,"ppid":50,"exe":"/home/u/app","cmdline":["./app"],"rank":1,"size":2,"job":"j","libs":[{"id":1,"bias":"0x0"}],"settings":$1}
	task ts=1000000 tid=50 tgid=50 on_cpu=1 cpu=0 comm=mpirun
	fork ts=1100000 tid=50 child=100 tgid=100 parent_tgid=50 comm=app
	fork ts=1110000 tid=50 child=200 tgid=200 parent_tgid=50 comm=app
	stream 0
	call ts=1600000 dur=400000 tid=100 tgid=100 func=1 cpu=0 lib=1 args=0,0
	stream 1
	call ts=1700000 dur=500000 tid=200 tgid=200 func=1 cpu=1 lib=1 args=0,0
	repeat $3 step=10000000 {
	stream 0
	call ts=$((3000000 + $4 * 1000000)) dur=$((1000000 + $4 * 1000000)) tid=100 tgid=100 func=2 cpu=0 lib=1 args=1,2,$2,0x4c00080b,0x58000003,0x44000000
	stream 1
	call ts=$((3000000 + $4 * 1000000)) dur=$((1000000 * $4)) tid=200 tgid=200 func=2 cpu=1 lib=1 args=1,2,$2,0x4c00080b,0x58000003,0x44000000
	}
	stream 0
	call ts=$(($3 * 10000000 + 3000000)) dur=1000 tid=100 tgid=100 func=3 cpu=0 lib=1
	stream 1
	call ts=$(($3 * 10000000 + 3000000)) dur=1000 tid=200 tgid=200 func=3 cpu=1 lib=1
	end ts=$(($3 * 10000000 + 4000000))
	T
	"$make" run.txt run.pov
}

# The last program, as one of Open MPI.
openmpi() {
	sed -i 's/"flavour":"mpich","version":"4.0.2","layout":{[^}]*}/"flavour":"openmpi","version":"4.1.4","layout":{"handle_bytes":8,"status_bytes":24,"undefined":-32766}/' run.txt
	"$make" run.txt run.pov
}

smp='{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM":"smp"}'

algorithms() { "$tool/bench_json" algorithms "$@"; }

measured() { # WORD…: advice by what algorithms makes of these
	algorithms "$@" >a.json
	advise a.json
}

advise() { # FILE…
	local file args=()
	for file; do args+=(-m "$file"); done
	"$POVTRACE" advise --only collectives --no-ask --json ${args[@]+"${args[@]}"} run.pov >advice.json
}

# one JQ WANTED
one() {
	local got
	got=$(jq -r "$1" advice.json)
	[ "$got" = "$2" ] || { echo "got    $got"; echo "wanted $2"; return 1; }
}

said() { # PART…: in the text of what was looked at without advice; none was given
	one '.advice | length' 0
	for part; do
		jq -r '.none[].text' advice.json | grep -qF -- "$part" || { jq . advice.json; echo "no: $part"; return 1; }
	done
}

@test "without measurements: the time in collectives, and the command that measures them" {
	program '{}' 131072 100 6
	advise
	said 'MPI_Allreduce of 1 MiB among 2 ranks (100 calls, 59.9 % of the run)' \
		'povbench-algorithms -- mpirun -n 2 povbench allreduce_latency -m 1M -o algorithms.json' \
		'povtrace advise --measured algorithms.json'
}

@test "a bad algorithm is named, and its cost" {
	program "$smp" 131072 100 6
	measured default:x:2500000 smp:smp:6000000 ring:ring:2000000 nb:nb:7000000
	one '.advice | length' 1
	one '.advice[0].setting' 'MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=ring'
	jq -r '.advice[0].text' advice.json | grep -qF 'MPI_Allreduce of 1 MiB among 2 ranks (100 calls, 59.9 % of the run) used algorithm smp. It takes 6.000 ms a call, and algorithm ring 2.000 ms (povbench at 1 MiB, medians of 7 and 7 launches)'
	# 100 calls, 4 ms each; measured times differ by 0.3 % from launch to launch.
	one '.advice[0] | .gain_low_ns > 394e6 and .gain_low_ns < 400e6 and .gain_high_ns > 400e6 and .gain_high_ns < 406e6' true
	one '.advice[0].evidence | [.ranks, .calls, .own_ns, .used_launches] | join(" ")' '2 100 1200000000 7'
	"$POVTRACE" advise --only collectives --no-ask -m a.json run.pov | grep -q '^   but: this applies to each MPI_Allreduce of the job'
}

@test "the library's own choice is advised where the best algorithm is hardly better" {
	program "$smp" 131072 100 6
	measured default:x:2050000 smp:smp:6000000 ring:ring:2000000
	one '.advice[0].setting' 'leave out MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM'
	one '.advice[0].warning // "none"' none
}

@test "a gain is never larger than the time in collectives" {
	program "$smp" 131072 100 1
	measured default:x:6000000 smp:smp:6000000 ring:ring:1000000
	# 1 ms in the run, 6 ms measured, and a sixth of that with the other algorithm.
	one '.advice[0] | .gain_low_ns > 82e6 and .gain_low_ns < 84e6 and .gain_high_ns <= 100e6' true
}

@test "no advice, with the reason: no algorithm is better, launches differ as much, too few launches" {
	program '{}' 131072 100 6
	measured default:x:2000000 smp:smp:2001000 ring:ring:2600000
	said "MPI_Allreduce used the library's own choice. None of 2 other algorithms is sure to be faster"
	measured launches=9 default:x:2004000 smp:smp:2000000
	said 'other algorithms is sure to be faster'
	program "$smp" 131072 100 6
	measured launches=3 default:x:2000000 smp:smp:6000000 ring:ring:2500000
	said '2 of them have too few launches (5 of each are needed)'
}

@test "launches on a busy machine are left out if there are enough others" {
	program "$smp" 131072 100 6
	algorithms wait_pct=50 default:x:9000000 smp:smp:1000000 >busy.json
	algorithms default:x:2000000 smp:smp:6000000 >a.json
	advise busy.json a.json
	one '.advice[0].evidence.busy_launches' 0
	measured wait_pct=50 default:x:2000000 smp:smp:6000000
	jq -r '.advice[0].text' advice.json | grep -q 'in 14 of which ranks waited for a core'
}

@test "sizes, ranks, algorithms or settings that were not measured: the command that measures them" {
	program "$smp" 131072 100 6
	algorithms bytes=65536 default:x:2000000 smp:smp:6000000 >size.json
	algorithms ranks=4 default:x:2000000 smp:smp:6000000 >ranks.json
	advise size.json ranks.json
	said 'were not measured with all that the run did: MPI_Allreduce of 1 MiB among 2 ranks' 'allreduce_latency -m 1M -o'
	measured default:x:2000000 ring:ring:6000000
	said 'MPI_Allreduce used algorithm smp, which was not measured'
	measured 'environment={"MPIR_CVAR_DEVICE_COLLECTIVES":"none"}' default:x:2000000 smp:smp:6000000
	said 'left out: another MPIR_CVAR_DEVICE_COLLECTIVES'
	measured collective=bcast default:x:2000000 smp:smp:6000000
	said 'which was not measured'
}

@test "the gain is reduced by what the other algorithm loses at other sizes" {
	program "$smp" 131072 100 6
	sed -i 's/^repeat .*/&\nstream 0\ncall ts=11000000 dur=1000000 tid=100 tgid=100 func=2 cpu=0 lib=1 args=1,2,1024,0x4c00080b,0x58000003,0x44000000\nstream 1\ncall ts=11000000 dur=1000000 tid=200 tgid=200 func=2 cpu=1 lib=1 args=1,2,1024,0x4c00080b,0x58000003,0x44000000/' run.txt
	"$make" run.txt run.pov
	algorithms default:x:9000000 smp:smp:6000000 ring:ring:4000000 >large.json
	advise large.json
	said 'were not measured with all that the run did: MPI_Allreduce of 8 KiB'
	# 2 ms less at 1 MiB, 1.2 ms more at 8 KiB.
	algorithms bytes=8192 default:x:9000000 smp:smp:1000000 ring:ring:2200000 >small.json
	advise large.json small.json
	one '.advice[0].setting' 'MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=ring'
	one '.advice[0] | .gain_low_ns > 70e6 and .gain_low_ns < 80e6 and .gain_high_ns > 80e6 and .gain_high_ns < 90e6' true
	algorithms bytes=8192 default:x:9000000 smp:smp:1000000 ring:ring:3200000 >small.json
	advise large.json small.json
	said 'other algorithms is sure to be faster'
}

@test "Open MPI: settings of algorithms count only with dynamic rules" {
	off='{"OMPI_MCA_coll_tuned_allreduce_algorithm":"4"}'
	program "$off" 131072 100 6
	openmpi
	measured 'mpi=Open MPI v4.1.4' default:x:6000000 3:recursive_doubling:2000000 4:ring:1000000
	jq -r '.advice[0].text' advice.json | grep -qF "used the library's own choice. It takes 6.000 ms a call, and algorithm 4 (ring)"
	program '{"OMPI_MCA_coll_tuned_allreduce_algorithm":"ring","OMPI_MCA_coll_tuned_use_dynamic_rules":"1"}' 131072 100 6
	openmpi
	measured 'mpi=Open MPI v4.1.4' default:x:4000000 3:recursive_doubling:2000000 4:ring:6000000
	one '.advice[0].setting' 'mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 3'
	jq -r '.advice[0].text' advice.json | grep -qF 'used algorithm 4 (ring). It takes 6.000 ms a call, and algorithm 3 (recursive_doubling)'
}

@test "collectives that take no time, and a run without collectives" {
	program '{}' 131072 3 6
	sed -i 's/func=2 /func=1 /' run.txt
	"$make" run.txt run.pov
	advise
	said 'No blocking collective was recorded on all its members'
}

@test "files of another kind: an error message, status 1" {
	program '{}' 131072 10 6
	refused() { # MESSAGE
		! "$POVTRACE" advise -m bad.json run.pov >out 2>err
		[ ! -s out ]
		grep -qF -- "$1" err || { cat err; return 1; }
	}
	refused 'No such file'
	while IFS='|' read -r text message; do
		echo "$text" >bad.json
		refused "$message"
	done <<-'L'
		{|bad.json:
		{"format":"povbench","version":9,"launches":[]}|has version 9
		[1]|is not a result of povbench
		{"format":"povbench","version":2,"launches":[{"results":[{"benchmark":"latency","kind":"curve","ranks":2,"points":[]}]}]}|has no blocking collective by size
	L
	! "$POVTRACE" advise -m . run.pov 2>err
	grep -q 'not a regular file' err
}
