#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Which processes are ranks, of which job, and whose launcher was the wrong one, by what recordings contain.

load lib
needs jq

# A recording with MPICH; pid 50 is the launcher. stdin has more lines of the script: "process PID PPID MEMBER…" is an object "process" with
# these members, and a thread.
recording() {
	local word pid ppid members
	{
		echo 'meta {"type":"recording","abi":1,"start_ns":1000,"config":{"sched":"all","rings":1,"cpus_per_ring":1024}}'
		echo 'meta {"type":"host","hostname":"n","kernel":"6.1","machine":"x86_64","cpus":2}'
		echo 'meta {"type":"library","id":0,"path":"/usr/lib/libm.so.6","layers":["ucp"],"flavour":"ucx","version":"1.13"}'
		echo 'meta {"type":"library","id":1,"path":"/usr/lib/libmpich.so.12","layers":["mpi"],"flavour":"mpich","version":"4.0.2","layout":{"handle_bytes":4,"status_bytes":20},"named":[["MPI_COMM_WORLD","0x44000000",0],["MPI_CHAR","0x4c000101",1]]}'
		echo 'meta {"type":"target","ts_ns":1000,"pid":50,"cmdline":["mpirun","./app"]}'
		echo 'task ts=1000 tid=50 tgid=50 comm=mpirun'
		while read -r word pid ppid members; do
			if [ "$word" != process ]; then
				echo "$word $pid $ppid $members"
				continue
			fi
			echo "meta {\"type\":\"process\",\"ts_ns\":${pid#*@},\"pid\":${pid%@*},\"ppid\":$ppid,\"exe\":\"/bin/app\",\"cmdline\":[\"./app\"],\"libs\":[{\"id\":1,\"bias\":\"0x0\"}],$members}" |
				sed 's/"ts_ns":\([0-9]*\),"pid":\1,/"ts_ns":1000,"pid":\1,/'
			echo "task ts=1000 tid=${pid%@*} tgid=${pid%@*} ppid=$ppid comm=app"
		done
		echo 'end ts=1001000 reason=test'
	} >script
	"$make" script run.pov
}

no_rank='"initialised":false,"rank":-1,"size":-1,"job":"","launcher":"","rank_by":""'

rank() { # RANK SIZE JOB
	echo "\"initialised\":true,\"rank\":$1,\"size\":$2,\"job\":\"$3\",\"launcher\":\"hydra\",\"rank_by\":\"mpi\""
}

alone() { # JOB LAUNCHER ITS-RANK ITS-SIZE ITS-JOB
	echo "\"initialised\":true,\"rank\":0,\"size\":1,\"job\":\"$1\",\"launcher\":\"singleton\",\"rank_by\":\"mpi\",\"started\":{\"launcher\":\"$2\",\"rank\":$3,\"size\":$4,\"job\":\"$5\"}"
}

# The report's ranks as "rank@job:pid", and other processes as "pid" or "pid<pid of its rank".
ranks() { jq -r '.jobs as $j | [.ranks[] | "\(.rank)@\($j[.job]):\(.pid)"] | join(" ")' got; }
others() { jq -r '[.other_processes[] | "\(.pid)" + (if .helper_of then "<\(.helper_of)" else "" end)] | join(" ")' got; }
report() { "$POVTRACE" report --json run.pov >got; }

@test "ranks: processes that have initialised MPI; launchers, shells and forks are none" {
	recording <<-END
	process 60 50 $no_rank
	process 100 60 $(rank 0 2 j)
	process 200 50 $(rank 1 2 j)
	process 201 200 $no_rank
	process 202 201 $no_rank
	END
	report
	[ "$(ranks)" = "0@j:100 1@j:200" ]
	[ "$(others)" = "50 60 201<200 202<200" ]
	jq -e '.wrong_launchers == []' got
}

@test "ranks: in older recordings without that word, processes that map MPI" {
	recording <<-END
	process 100 50 "rank":0,"size":2,"job":"j"
	process 200 50 "mpi":true,"rank":1,"size":2,"job":"j"
	process 300 50 "mpi":false,"rank":-1,"size":-1,"job":""
	END
	report
	[ "$(ranks)" = "0@j:100 1@j:200" ]
	[ "$(others)" = "50 300" ]
}

@test "ranks: described again when MPI is initialised, and listed once" {
	recording <<-END
	process 100 50 $no_rank
	process 100@2000 50 "initialised":true,"rank":2,"size":3,"job":"hint","launcher":"hydra","rank_by":"environment"
	process 100@3000 50 $(rank 1 2 j)
	process 200 50 $no_rank
	END
	report
	[ "$(ranks)" = "1@j:100" ]
	[ "$(others)" = "50 200" ]
	"$POVTRACE" info run.pov >info
	[ "$(grep -cE '^ *(rank|process) ' info)" = 2 ]
	grep -qE '^ *rank +1 of 2: pid 100, /bin/app, job j$' info
	grep -qE '^ *process +pid 200, /bin/app$' info
	[ "$("$POVTRACE" info --json run.pov | jq -c '[.processes[] | [.pid, .rank]]')" = '[[100,1],[200,-1]]' ]
}

@test "ranks: nobody has initialised MPI" {
	recording <<-END
	process 100 50 $no_rank
	END
	"$POVTRACE" report run.pov | tr -s ' \n' ' ' | grep -q 'No MPI process was seen No process had initialised MPI by the end of the recording'
}

@test "ranks: a wrong launcher, in one line" {
	local i text
	text="3 processes are jobs of one rank each: they use MPICH 4.0.2, but Open MPI's mpirun started them"
	for i in 0 1 2; do
		echo "process $((100 + i)) 50 $(alone p$i openmpi $i 3 J)"
	done | recording
	report
	[ "$(ranks)" = "0@p0:100 0@p1:101 0@p2:102" ]
	[ "$(jq -r '.wrong_launchers[].text' got)" = "$text" ]
	jq -e '.wrong_launchers[0] | .processes == 3 and .launcher == "openmpi" and .flavour == "mpich"' got
	"$POVTRACE" report run.pov | tr -s ' \n' ' ' | grep -qF " $text. "
	# The message names the right launcher if the recorder found it.
	for i in 0 1 2; do
		echo "process $((100 + i)) 50 $(alone p$i openmpi $i 3 J | sed 's/"launcher":"openmpi"/&,"use":"mpirun.mpich"/')"
	done | recording
	report
	[ "$(jq -r '.wrong_launchers[].text' got)" = "$text (use mpirun.mpich)" ]
}

@test "ranks: leftover variables, and processes that a rank has started, are not taken for a wrong launcher" {
	recording <<-END
	process 100 50 $(alone p0 openmpi 1 3 J)
	process 101 50 $(alone p1 openmpi 1 3 J)
	process 102 50 $(alone p2 slurm 0 4 S)
	process 103 50 $(alone p3 openmpi 0 2 K)
	process 200 50 $(rank 0 2 j)
	process 201 200 $(alone p4 openmpi 0 2 L)
	process 300 50 $(rank 1 2 j)
	process 301 300 $(alone p5 openmpi 1 2 L)
	END
	report
	jq -e '.wrong_launchers == [] and (.ranks | length) == 8' got
}

# A launcher says that two processes are ranks 0 and 1 of 2; MPI says, from MPI_Init on, that each is alone. Each sends itself a message of
# its own size, and calls a barrier.
@test "ranks: messages and collectives stay within the job that MPI reports" {
	local pid begin
	{
		echo 'meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Init","group":"init","attrs":"INIT","sig":"argc:ptr argv"},{"id":2,"name":"MPI_Send","group":"p2p","attrs":"WAIT","sig":"buf count dtype dest tag comm"},{"id":3,"name":"MPI_Recv","group":"p2p","attrs":"WAIT","sig":"buf count dtype source tag comm >status"},{"id":5,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"}]}'
		for pid in 100 101; do
			begin="process $pid@1500 50 \"initialised\":true,\"rank\":$((pid - 100)),\"size\":2,\"job\":\"J\",\"launcher\":\"openmpi\",\"rank_by\":\"environment\""
			echo "process $pid 50 $no_rank"
			echo "$begin"
			echo "process $pid@100000 50 $(alone p$pid openmpi $((pid - 100)) 2 J)"
			echo "call ts=99000 dur=97000 tid=$pid tgid=$pid func=1 cpu=0 lib=1 args=0,0"
			echo "call ts=$((200000 + pid)) dur=1000 tid=$pid tgid=$pid func=2 cpu=0 lib=1 args=0x7f00,$pid,0x4c000101,0,7,0x44000000"
			echo "call ts=$((300000 - pid)) dur=1000 tid=$pid tgid=$pid func=3 cpu=0 lib=1 args=0x7f00,$pid,0x4c000101,0,7,0x44000000,1"
			echo "call ts=$((300000 + (pid - 100) * 300000)) dur=1000 tid=$pid tgid=$pid func=5 cpu=0 lib=1 args=0x44000000"
		done
	} | recording
	report
	[ "$(ranks)" = "0@p100:100 0@p101:101" ]
	jq -e '.matching | .sends.matched == 2 and .receives.matched == 2' got
	jq -e '[.ranks[].matching.sends.matched] == [1, 1]' got
	jq -e '[.findings[], .causes[]] == []' got
}
