# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Made-up runs of two ranks whose launcher forks them. Loaded after lib.

# A job of two ranks, pids 100 and 200, on CPU 0 and CPU $cpu (1); MPI_Init ends at 1.3 ms. What they do is on stdin. $settings: JSON.
two_ranks() { # [META…] <SCRIPT
	cat <<-E
		meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000000,"argv":["mpiexec","-n","2","./app"],"config":{"sched":"all","irq":false,"rings":2,"cpus_per_ring":1}}
		meta {"type":"host","hostname":"node7","kernel":"6.1.0","version":"#1","machine":"x86_64","cpus":2}
		meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Init","group":"init","attrs":"INIT","sig":"argc:ptr argv"},{"id":2,"name":"MPI_Send","group":"p2p","attrs":"WAIT","sig":"buf count dtype dest tag comm"},{"id":3,"name":"MPI_Recv","group":"p2p","attrs":"WAIT","sig":"buf count dtype source tag comm >status"},{"id":4,"name":"MPI_Iprobe","group":"p2p","attrs":"POLL","sig":"source tag comm >flag >status"},{"id":5,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"},{"id":6,"name":"MPI_Allreduce","group":"coll","attrs":"WAIT","sig":"sendbuf recvbuf count dtype op comm"},{"id":10,"name":"MPI_Win_create","group":"rma","attrs":"WAIT|MEMBERS","sig":"base size:wide disp_unit info comm >win"},{"id":11,"name":"MPI_Win_lock","group":"rma","attrs":"WAIT","sig":"lock_type rank assert win"},{"id":12,"name":"MPI_Win_lock_all","group":"rma","attrs":"WAIT","sig":"assert win"},{"id":13,"name":"MPI_Put","group":"rma","attrs":"NONE","sig":"origin count dtype target target_disp target_count target_dtype win"},{"id":14,"name":"MPI_Win_flush","group":"rma","attrs":"WAIT","sig":"rank win"},{"id":15,"name":"MPI_Win_flush_all","group":"rma","attrs":"WAIT","sig":"win"},{"id":16,"name":"MPI_Win_unlock","group":"rma","attrs":"WAIT","sig":"rank win"},{"id":17,"name":"MPI_File_open","group":"io","attrs":"WAIT","sig":"comm filename amode info >file"},{"id":18,"name":"MPI_File_write_at","group":"io","attrs":"NONE","sig":"file offset buf count dtype >status"},{"id":19,"name":"MPI_File_close","group":"io","attrs":"WAIT","sig":"<>file"},{"id":20,"name":"MPI_File_iread","group":"io","attrs":"NONE","sig":"file buf count dtype >req"},{"id":9,"name":"MPI_Finalize","group":"init","attrs":"FINAL","sig":""},{"id":21,"name":"MPI_Irecv","group":"p2p","attrs":"NONE","sig":"buf count dtype source tag comm >req"},{"id":22,"name":"MPI_Wait","group":"req","attrs":"WAIT","sig":"<>req >status"}]}
		meta {"type":"library","id":1,"path":"/nowhere/libmpich.so.12","build_id":"00","dev":1,"ino":7,"flavour":"mpich","version":"4.0.2","layout":{"handle_bytes":4,"status_bytes":20,"type_in_handle":true,"undefined":-32766},"named":[["MPI_COMM_WORLD","0x44000000",0],["MPI_CHAR","0x4c000101",1],["MPI_SUM","0x58000003",0]],"link":"uprobe_multi","attached":8,"missing":[],"failed":[],"emulated":8,"stepped":0}
		meta {"type":"target","ts_ns":1000000,"pid":50,"cmdline":["mpiexec"]}
		meta {"type":"process","ts_ns":1100000,"pid":100,"ppid":50,"exe":"/home/u/app","cmdline":["./app"],"rank":0,"size":2,"job":"j","launcher":"hydra",${settings:+\"settings\":$settings,}"libs":[{"id":1,"bias":"0x0"}]}
		meta {"type":"process","ts_ns":1100000,"pid":200,"ppid":50,"exe":"/home/u/app","cmdline":["./app"],"rank":1,"size":2,"job":"j","launcher":"hydra",${settings:+\"settings\":$settings,}"libs":[{"id":1,"bias":"0x0"}]}
	E
	[ $# = 0 ] || printf 'meta %s\n' "$@"
	cat <<-E
		task ts=1000000 tid=50 tgid=50 on_cpu=1 cpu=0 comm=mpiexec
		fork ts=1100000 tid=50 child=100 tgid=100 parent_tgid=50 comm=app
		fork ts=1110000 tid=50 child=200 tgid=200 parent_tgid=50 comm=app
		stream 0
		waking ts=1111000 tid=50 target=100 cpu=0 target_cpu=0 flags=new
		waking ts=1112000 tid=50 target=200 cpu=0 target_cpu=${cpu-1} flags=new
		switch ts=1120000 cpu=0 prev=50 next=100 state=1
	E
	[ "${cpu-1}" = 0 ] || printf 'stream 1\nswitch ts=1130000 cpu=1 prev=0 next=200\n'
	call 1 100 1200 100
	call 1 200 1200 100
	cat
}

# call FUNCTION PID BEGIN_US DURATION_US [ARGUMENTS [FIELDS]]
call() {
	echo "stream $(($2 / 200))"
	echo "call ts=$((($3 + $4) * 1000)) dur=$(($4 * 1000)) tid=$2 tgid=$2 func=$1 cpu=$(($2 / 200)) lib=1 args=${5-0,0} ${6-}"
}
ends() { echo "end ts=$(($1 * 1000)) reason=\"command ended\""; } # AT_US
finalize() { # AT_US
	call 9 100 "$1" 100
	call 9 200 "$1" 100
	ends $(($1 + 200))
}
