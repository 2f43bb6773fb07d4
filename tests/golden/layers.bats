#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Calls of a layer below MPI are shown inside MPI's calls, are separate in the report, and do not count in a rank's own figures, whether
# this version knows the layer or not.

load lib

setup() {
	begin
	need jq
	export LC_ALL=C
	script "ucp" | trace run
}

# A rank polls 100 times with MPI_Test and sends once; the other layer is called inside each of these calls. Another process calls that
# layer alone.
script() { # LAYER
	cat <<-EOF
		meta {"type":"recording","povtrace":"0.1.0","abi":1,"start_ns":1000,"config":{"sched":"off","rings":1,"cpus_per_ring":8}}
		meta {"type":"host","hostname":"n","kernel":"6.1","machine":"x86_64","cpus":2}
		meta {"type":"functions","layer":"mpi","rows":[{"id":1,"name":"MPI_Test","group":"req","attrs":"POLL","sig":"<>req >flag >status"},{"id":2,"name":"MPI_Send","group":"p2p","attrs":"WAIT","sig":"buf count dtype dest tag comm"}]}
		meta {"type":"functions","layer":"$1","rows":[{"id":11,"name":"ucp_worker_progress","group":"progress","attrs":"NUMBER | POLL","sig":"worker"},{"id":12,"name":"ucp_tag_send_nbx","group":"tag","attrs":"REQUEST | SENDS","sig":"ep buffer count tag <param"}]}
		meta {"type":"library","id":0,"path":"/lib/libmpi.so","layers":["mpi"],"flavour":"mpich","version":"4.0","layout":{"handle_bytes":4,"status_bytes":20},"named":[["MPI_INT","0x4c000405",4]]}
		meta {"type":"library","id":1,"path":"/lib/libucp.so","layers":["$1"],"flavour":"ucx","version":"1.13.1"}
		meta {"type":"process","ts_ns":1000,"pid":100,"ppid":1,"exe":"/bin/app","cmdline":["app"],"rank":0,"size":1,"job":"j","mpi":true,"libs":[{"id":0,"bias":"0x0"},{"id":1,"bias":"0x0"}]}
		meta {"type":"process","ts_ns":1000,"pid":200,"ppid":1,"exe":"/bin/perf","cmdline":["perf"],"rank":-1,"size":-1,"job":"","mpi":false,"libs":[{"id":1,"bias":"0x0"}]}
		task ts=1000 tid=100 tgid=100 comm=app
		task ts=1000 tid=200 tgid=200 comm=perf
		stream 0
		spin ts=59900 tid=100 dur=48800 tgid=100 depth=1 cpu=0 funcs=11:100:20000:0x1:1
		spin ts=60000 tid=100 dur=50000 tgid=100 depth=0 cpu=0 funcs=1:100:40000:0x2:0
		call ts=75000 tid=100 dur=3000 tgid=100 func=12 depth=1 cpu=0 lib=1 ret=0x0 args=0xe,0xb,40,7,0x70
		call ts=80000 tid=100 dur=10000 tgid=100 func=2 depth=0 cpu=0 lib=0 ret=0x0 args=0xb,10,0x4c000405,0,7,0x44000000
		call ts=90000 tid=200 dur=1000 tgid=200 func=12 depth=0 cpu=1 lib=1 ret=0x0 args=0xe,0xb,40,7,0x70
	EOF
	echo 'meta {"type":"end","ts_ns":101000,"reason":"command ended","drops":[],"misses":{},"stats":{}}'
}

report() { "$POVTRACE" report --all --explain "$@"; }

@test "layers: a rank's figures are those of MPI" {
	report --json run.pov >r.json
	[ "$(jq -c '[.ranks[] | [.rank, .calls.outermost, .calls.empty_polls, .mpi_ns]]' r.json)" = '[[0,1,100,50000]]' ]
	[ "$(jq -c '[.functions[] | [.layer, .name, .calls, .empty_polls, .total_ns]] | sort' r.json)" = \
		'[["mpi","MPI_Send",1,0,10000],["mpi","MPI_Test",100,100,40000],["ucp","ucp_tag_send_nbx",1,0,3000],["ucp","ucp_worker_progress",100,100,20000]]' ]
	[ "$(jq -c '[.message_sizes[] | [.class, .count, .bytes]]' r.json)" = '[["p2p",1,40]]' ]
	[ "$(jq -c '[.other_processes[] | [.process, .rank]]' r.json)" = '[["perf",null]]' ]
}

@test "layers: the text has a section for each layer, with the places of its calls" {
	report run.pov >text
	grep -q '^Functions of layer ucp' text
	grep -q '101 of these calls were made inside calls of another layer' text
	grep -q 'Processes that are not ranks made 1 call more' text
	[ "$(sed -n '/^Functions by/,/^Functions of layer/p' text | grep -c ' ucp_')" = 0 ]
}

@test "layers: an unknown layer is not taken for MPI" {
	script "later" | trace run
	report --json run.pov >r.json
	[ "$(jq -c '[.ranks[] | [.rank, .calls.outermost, .calls.empty_polls, .mpi_ns]]' r.json)" = '[[0,1,100,50000]]' ]
	[ "$(jq -c '[.functions[] | select(.layer == "later") | [.name, .calls]] | sort' r.json)" = \
		'[["ucp_tag_send_nbx",1],["ucp_worker_progress",100]]' ]
	report run.pov >text
	grep -q '^Functions of layer later' text
	grep -q '101 of these calls were made inside calls of another layer' text
	[ "$(sed -n '/^Functions of layer later/,$p' text | grep -c '^  ucp_')" = 2 ]
}

@test "layers: in the timeline they lie inside MPI's calls, with their arguments" {
	"$POVTRACE" export run.pov -o run.json
	"$tool/json_check" run.json
	jq -c '.traceEvents[] | select(.ph == "X" and .tid == 100) | [.name, .ts + 0, .dur + 0]' run.json >slices
	[ "$(cat slices)" = '["MPI_Test ×100",9,50]
["ucp_worker_progress ×100",10.1,48.8]
["MPI_Send",69,10]
["ucp_tag_send_nbx",71,3]' ]
	[ "$(jq -c '.traceEvents[] | select(.name == "ucp_tag_send_nbx" and .tid == 100) | .args | [.count, .tag, .status]' run.json)" = \
		'[40,"0x7","UCS_OK"]' ]
}

@test "layers: info marks processes that are no ranks" {
	"$POVTRACE" info run.pov >text
	grep -q 'process *pid 200, /bin/perf' text
	grep -q 'rank *0 of 1: pid 100' text
}
