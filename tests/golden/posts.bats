#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace export: what layers below MPI post, in both formats, from records of the layers ob1 and verbs.

load lib

setup() {
	begin
	need jq
	known=$("$POVTRACE" record --layers none -- true 2>&1 | sed -n 's/.*there are: //p')
	for layer in ob1 verbs; do
		[[ ", $known," == *", $layer,"* ]] || skip "no layer $layer here"
	done
	{
		grep -E '^(meta|task)' "$data/export_run.txt"
		cat "$data/export_posts.txt"
	} | trace run
}

export_to() { "$POVTRACE" export run.pov -o "$@" --totals >totals.json 2>err; }

# tests/unit/cases/timeline.txt has the details: arrows, selections and lanes.
@test "posts: tracks by thread, transport and layer; several of one call one after the other; messages with their steps" {
	export_to run.json
	jq -r '([.traceEvents[] | select(.ph == "M" and .name == "thread_name") | {key: "\(.pid) \(.tid)", value: .args.name}] | from_entries) as $track |
		.traceEvents[] | select(.ph == "X") | . + {track: $track["\(.pid) \(.tid)"]} |
		select(.track | test("^(posts|completions|messages)")) | "\(.pid) \(.track): \(.name) \(.ts + 0) \(.dur + 0)"' run.json >got
	diff <(grep -v ' 0$' got) - <<-'END'
		101 posts (ob1): RNDV RTS 150 50
		101 posts: rc (verbs): SEND 160 15
		101 posts: rc (verbs): RDMA_WRITE 175 15
		101 completions (verbs): SEND 409.999 5
		101 completions (verbs): RDMA_WRITE 414.999 5.001
		101 posts (ob1): FRAG data 460 40
		102 posts (ob1): ACK RTR 397 3
		101 posts (ob1): MATCH eager 2080 20
		101 messages: ob1: rendezvous 150 350
		101 posts: rc (verbs) of 103: RECV 2999 1
		101 completions (verbs) of 103: RECV 3098 2
		101 completions (verbs) of 103: RECV 3198 2
		101 messages: ob1: eager 2080 20
		102 messages: ob1: rendezvous 397 3
	END
	[ "$(jq -c '.traceEvents[] | select(.name == "RDMA_WRITE" and .cat == "write") | .args | .mpi_call_us += 0' run.json)" = \
		'{"bytes":4096,"transport":"rc","carrier":"nic","queue":"0x51","id":"0x11","of_call":"2 of 2","function":"post_send","thread":101,"mpi_call":"MPI_Send","mpi_call_us":100}' ]
	[ "$(jq -c '.traceEvents[] | select(.name == "rendezvous" and .pid == 101) | .args | .mpi_call_us += 0' run.json)" = \
		'{"side":"sends","bytes":12000,"message":"0x5500c0de","steps":2,"mpi_call":"MPI_Send","mpi_call_us":100}' ]
	[ "$(jq -c '[.flows, .pairs, .unpaired]' totals.json)" = '[3,3,1]' ]
	python3 "$tool/json_check" run.json totals.json
	grep -q 'below MPI: 7 posts, 4 completions, 0 arrivals, 3 messages' err
}

@test "posts: the native format has the same content" {
	export_to run.json
	cp totals.json json.totals
	export_to run.pftrace
	diff <(grep -v bytes json.totals) <(grep -v bytes totals.json)
	need protoc
	protoc -I "$data" --decode=Trace perfetto_subset.proto <run.pftrace >got
	# the schema has all fields, there are as many arrows, and processes have tracks with the same names
	[ "$(grep -cE '^ *[0-9]+(:| \{)' got)" = 0 ]
	[ "$(grep -c ' flow_ids' got)" = 3 ]
	[ "$(grep -c ' terminating_flow_ids' got)" = 3 ]
	diff <(sed -n 's/^    name: "\(\(posts\|completions\|messages\).*\)"/\1/p' got | sort) \
		<(jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' run.json |
			grep -E '^(posts|completions|messages)' | sort)
	[ "$(grep -A1 -E '^    name: "(posts|completions|messages)' got | grep -cE 'parent_uuid: 42949673(97|98)')" = 8 ]
}

@test "posts: Perfetto takes both formats without complaint and counts the same" {
	need_tp
	for f in run.json run.pftrace; do
		export_to $f
		health $f totals.json
	done
}

# Calls of two threads of a rank, with dozens of posts and few distinct message numbers; some calls never end.
random_posts() { # SEED
	awk -v seed="$1" '
	function some(n) { return int(rand() * n) }
	function line(func_, depth, from, to, what) {
		printf "call ts=%.0f dur=%d tid=%d tgid=101 func=%d depth=%d %s\n", 1000000000000 + to, to - from, tid, func_, depth, what
	}
	function work(n,  i, text) {
		text = "args=0x7f0000000100,0x7ffc00000000,0 work=1/" n ":"
		for (i = 0; i < n; i++)
			text = text (i ? "," : "") some(6) ",0,i64,i0,i" (81 + some(2)) ",b02,b0" some(5) ",b00,b01"
		return text
	}
	function done(n,  i, text) {
		text = "ret=" n " args=0x7f0000000300,16,0x7ffc00001000 out=2/" n ":"
		for (i = 0; i < n; i++)
			text = text (i ? "," : "") some(6) ",i" (rand() < .1) ",i" (rand() < .3 ? 128 : some(3)) ",i0,i0,i0,i" (81 + some(2)) ",i0,i0,0"
		return text
	}
	function child(depth, from, to) {
		if (depth < 4 && to - from > 4 && rand() < .3)
			child(depth + 1, from + some(3), to - some(3))
		if (rand() < .3) line(41, depth, from, to, work(1 + some(4)))
		else if (rand() < .2) line(43, depth, from, to, work(1 + some(2)))
		else if (rand() < .5) line(42, depth, from, to, done(1 + some(5)))
		else line(31 + some(4), depth, from, to, "args=" some(5) ",2," some(5) "," some(5) ",0,0,0")
	}
	BEGIN {
		srand(seed)
		for (tid = 101; tid <= 103; tid += 2) {
			print "stream " (tid - 101) / 2
			for (t = 1000; t < 60000; t = to + some(200)) {
				to = t
				for (n = some(6); n > 0; n--) {
					from = to + some(2)
					to = from + some(60)
					child(tid == 101, from, to)
				}
				to++
				if (tid == 101) line(2, 0, t - 1, to, "lib=1 args=0,1,0x4c000405,1,42,0x44000000")
			}
		}
		tid = 101
		line(41, 1, t + 10, t + 900, work(3) " flags=open")
		print "end ts=1000000100000"
	}'
}

@test "posts: random ones obey the rules in both formats" {
	for seed in $(seq ${POV_RANDOM_FROM:-1} ${POV_RANDOM_TO:-4}); do
		echo "seed $seed"
		{
			grep -E '^(meta|task)' "$data/export_run.txt"
			grep -E '^meta' "$data/export_posts.txt"
			random_posts "$seed"
		} | trace run
		export_to run.json
		python3 "$tool/json_check" run.json totals.json
		jq -e '.posts > 100 and .completions > 100 and .pairs > 10 and .unpaired > 10 and .messages > 10 and
			.slices == .calls + .posts + .completions + .messages + .markers - .misplaced' totals.json
		cp totals.json json.totals
		export_to run.pftrace
		diff <(grep -v bytes json.totals) <(grep -v bytes totals.json)
	done
}
