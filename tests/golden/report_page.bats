#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace report -o report.html: the page compared with the expected one, its numbers with those of text and JSON, what it leaves out, and
# what it refuses. tests/live/report_page.test looks at it in a browser.

load lib
load made_run

setup() {
	begin
	need jq python3
}

# page FILE… [OPTIONS]: writes page.html, checks it, and writes its text to "page".
page() {
	"$POVTRACE" report "$@" -o page.html 2>err
	"$tool/page_text" page.html >page
	[ "$(wc -c <page.html)" -lt 1000000 ]
}

# has LINE…: these lines are on the page.
has() {
	local line
	for line; do
		grep -qxF -- "$line" page || { echo "not on the page: $line"; return 1; }
	done
}

# The shares in each row of the map, calculated from the JSON, in the form of the page's titles.
shares() { # JSON
	jq -r '.account.ranks[] | .rank as $rank |
		{"computing": .computing_ns, "no core": (.no_core_ns + .mpi_no_core_ns), "asleep": .asleep_ns, "MPI work": .mpi_work_ns,
		 "waiting for a rank": .waiting_ns, "transfer": .transfer_ns, "file I/O": .file_io_ns, "tracing": .tracing_ns,
		 "unfinished call": .open_ns, "outside MPI": .outside_ns, "starting or ending": .apart_ns} |
		(add) as $all | to_entries | map(select(.value > 0) | "\(.key) \(1000 * .value / $all | round | "\(. / 10 | floor).\(. % 10)") %") |
		"title: rank \($rank): \(join(", "))"' "$1"
}

@test "page: its content is as expected" {
	"$make" "$data/report_run.txt" run.pov
	page run.pov
	same_as "$data/report_page.out" page
	grep -q 'wrote page.html' err
	grep -n '^h2' page | cut -d: -f3- | tr '\n' ';' | grep -q \
		' Efficiency; Where .* went; Why, and what to do; Ranks by time; Where ranks computed; Who waited for whom; Messages between ranks; Message sizes; Call sites; Coverage;'
}

@test "page: its numbers are those of the text" {
	local file
	bystander | ranks 2 802200 | trace stolen
	"$make" "$data/export_findings.txt" findings.pov
	for file in stolen findings; do
		page $file.pov
		"$POVTRACE" report $file.pov >text
		head -n 2 text | grep -qF -- "$(sed -nE 's/^p: (.* ranks · .*)/\1/p' page)"
		has "p: $(grep '^Efficiency' text | sed -E 's/^[^0-9]*/Efficiency /')"
		has "h2: $(grep '^Where' text)"
		section Where <text | sed -nE 's/^  (.*[^ ]) +([0-9.]+) +([0-9]+ %).*/row: \1 | \2 | \3 |/p' | sed -E 's/ +\|/ |/' >rows
		[ "$(wc -l <rows)" -ge 2 ]
		while IFS= read -r line; do
			grep -qxF -- "$line" page || has "$line"
		done <rows
		"$POVTRACE" report --json $file.pov >json
		adds_up json
		# each cause that the text has, in its order, with what it costs and saves
		jq -r '.reasons[] | .text, .evidence, "→ \(.action)"' json | sed '/^→ null/d' >sentences
		grep -E '^(h3|p)' page | sed -E 's/^[a-z0-9]+: //' >said
		section Why <text | sed -nE 's/^ +[0-9]+ .* {3,}([0-9.]+) {3,}([^ ].*)$/\1 shorter by \2/p' >costs
		[ "$(grep -c ' shorter by ' said)" = "$(wc -l <costs)" ]
		diff costs <(grep ' shorter by ' said | sed 's/ rank-[a-z]* / /')
		grep -xFf said sentences >found
		[ "$(wc -l <found)" -ge $((2 * $(wc -l <costs))) ]
	done
}

@test "page: shares of the map are those of the account" {
	local file
	bystander | ranks 2 802200 | trace stolen
	{
		for ((i = 0; i < 4; i++)); do
			[ $i = 0 ] || recv $i 2000 $((10000 * i + 2)) $((i - 1))
			[ $i = 3 ] || send $i $((2000 + 10000 * (i + 1))) 2 $((i + 1))
			barrier $i $((2000 + 10000 * (i + 1) + 4)) $((10000 * (3 - i) + 1))
		done
	} | ranks 4 42010 | trace chain
	for file in stolen chain; do
		page $file.pov
		"$POVTRACE" report --json $file.pov >json
		shares json >wanted
		grep '^title: rank' page | diff wanted -
	done
	# the other program took half of what rank 0 computed, and rank 1 waited all the time
	page stolen.pov
	has 'title: rank 1: waiting for a rank 100.0 %, transfer 0.0 %' || grep -q '^title: rank 1: .*waiting for a rank \(99\|100\)' page
}

@test "page: who waited for whom and who sent what, as in the other forms" {
	bystander | ranks 2 802200 | trace stolen
	page stolen.pov
	"$POVTRACE" report --json stolen.pov >json
	[ "$(jq '[.ranks[].waits.late_sender_ns] | add' json)" = 799990000 ]
	grep -q '^row: rank 1 | rank 0 | sent late | 1 | 800.0 ms | 800.0 ms | ' page
	[ "$(jq -c '[.ranks[0].sent_to[] | [.rank, .messages, .bytes]]' json)" = '[[1,1,8]]' ]
	has 'row: 0 | . | 8' 'row: 8 B - <16 B | 1 | 8 B |'
	# rank 0 comes last to each barrier, by 10 ms
	{ for i in 0 1 2; do barrier 0 $((14000 + 20000 * i)) 10; barrier 1 $((4000 + 20000 * i)) 10010; done; } | ranks 2 64000 | trace late
	page late.pov
	"$POVTRACE" report --json late.pov >json
	[ "$(jq '.ranks[0].collectives.waited_ns' json)" = 30000000 ]
	grep -q '^row: the others | rank 0 | came late to collectives | 3 | 30.00 ms | 10.00 ms | MPI_Barrier | 0.0' page
}

@test "page: each command on it draws its moment" {
	local n=0
	bystander | ranks 2 802200 | trace "it's a run"
	page "it's a run.pov"
	sed -n "s/^code: povtrace export/export/p" page | sort -u >commands
	[ "$(wc -l <commands)" -ge 3 ]
	while IFS= read -r command; do
		eval "\"\$POVTRACE\" ${command/moment.svg/moment$n.svg}" 2>err
		grep -q '<svg' moment$n.svg
		n=$((n + 1))
	done <commands
}

@test "page: names with markup are treated as text" {
	local evil='<script>alert(1)</script>" onload="x&lt;' json
	json=$(jq -n --arg s "$evil" '$s')
	bystander | ranks 2 802200 | jq -R -r --arg evil "$json" 'if startswith("meta") then gsub("\"./app\""; $evil) | gsub("\"n\""; $evil) else gsub("comm=bystander"; "comm=\"<b>x</b>\"") end' |
		trace evil
	page evil.pov
	has "h1: mpiexec $evil"
	grep -q '<b>x</b>` (pid 2745)' page
	[ "$(grep -c '<script' page.html)" = 0 ]
	cp evil.pov '<i>.pov'
	page '<i>.pov'
	grep -qF "export '<i>.pov' -o" page
	# bytes that are no text, which the name of a library or host may contain
	printf 'meta {"type":"recording","abi":1,"start_ns":1000000,"argv":["a\\u0007\\u001b[1m\\ufffe"],"config":{}}\nend ts=3000000\n' | trace odd
	page odd.pov
	no -aP '[\x00-\x08\x0b-\x1f]' <page.html
}

# nodes NODES RANKS: a recording for each node of a job, with that many ranks each; one rank in ten computes longer. $files has their names.
nodes() {
	local node first world=$(($1 * $2)) i
	files=()
	for ((node = 0; node < $1; node++)); do
		first=$((node * $2))
		for ((i = 0; i < $2; i++)); do
			barrier $i $((i % 10 == 3 ? 14000 : 4000)) $((i % 10 == 3 ? 10 : 10010))
		done | node=node$node ranks "$2" 20000 | trace node$node
		files+=(node$node.pov)
	done
}

@test "page: more than 64 ranks share rows, by nodes" {
	nodes 2 40
	page "${files[@]}"
	grep -q '^p: 80 ranks do not fit into 64 rows, so ranks share rows: each node, and groups of its ranks' page
	[ "$(grep -cE '^title: node[01] \(40 ranks\): computing' page)" = 2 ]
	[ "$(grep -cE '^title: ranks [0-9]+–[0-9]+ \(2 ranks\): ' page)" = 40 ]
	has 'text: node0' 'text: ranks 2–3' 'text: ranks 78–79'
	# no row has ranks of two nodes
	[ "$(grep -E '^title: (node|ranks [0-9]+–)' page | sed -E 's/[^0-9].*(node[01]).*/\1/' | grep -n node | cut -d: -f1 | tr '\n' ' ')" = '1 22 ' ] ||
		[ "$(grep -nE '^title: (node|ranks [0-9]+–)' page | grep -c node)" = 2 ]
	# what a node did is the sum of its ranks: 4 of 40 compute 12 ms of 18, the others 2
	"$POVTRACE" report --json "${files[@]}" >json
	[ "$(jq '[.account.ranks[] | select(.rank < 40)] | 1000 * (map(.computing_ns) | add) / (map(.total_ns - .apart_ns) | add) | round' json)" = \
		"$(sed -nE 's/^title: node0 .*: computing ([0-9.]+) %.*/\1/p' page | tr -d .)" ]
	page "${files[@]}" --rank 0-9
	[ "$(grep -cE '^title: rank [0-9]: ' page)" = 10 ]
}

@test "page: with one node, neighbours share rows; with many nodes, each has a row" {
	need python3
	"$build/tests/job_trace" -r 100 0.02 many.pov
	page many.pov
	grep -q 'ranks share rows: groups of neighbours' page
	[ "$(grep -cE '^title: ranks [0-9]+–[0-9]+ \(2 ranks\): ' page)" = 50 ]
	nodes 33 2
	page "${files[@]}"
	[ "$(grep -cE '^title: node[0-9]+ \(2 ranks\): ' page)" = 33 ]
	[ "$(grep -cE '^title: rank' page)" = 0 ]
}

@test "page: failures come first" {
	# rank 1 dies in the middle
	{
		barrier 0 4000 10
		barrier 1 4000 10
		echo "signal ts=9000000 tid=200 tgid=200 signo=11 from=3 code=1 ip=0x10abc address=0x8"
		echo "exit ts=9100000 tid=200 tgid=200 code=139 flags=process"
	} | ranks 2 20000 | sed '/^call .*tid=200 .*func=9/d' | trace dead
	page dead.pov
	grep -n '^h2' page | head -n 2 | cut -d: -f3- | tr '\n' ';' | grep -qxF ' Ranks that failed or did not finish, earliest first; Efficiency;'
	grep -q '^p: Rank 1 (pid 200) was killed by SIGSEGV (signal 11)' page
	# rank 1 waits for a message that nobody sends
	{
		barrier 0 4000 10
		barrier 1 4000 10
		echo "stream 1"
		echo "call ts=20000000 dur=15000000 tid=200 tgid=200 func=3 cpu=1 lib=1 flags=open args=0x7f00,8,0x4c000101,0,7,0x44000000,1"
	} | ranks 2 20000 | sed '/^call .*tid=200 .*func=9/d' | trace hang
	page hang.pov
	grep '^h2' page | head -n 3 | tr '\n' ';' | grep -qxF \
		'h2: Ranks that failed or did not finish, earliest first;h2: Where ranks were when the recording ended;h2: Efficiency;'
	grep -q '^row: 1 | MPI_Recv | ' page
}

@test "page: for an empty, truncated or damaged recording, and for one without the scheduler" {
	local i
	printf 'meta {"type":"recording","abi":1,"start_ns":1000000,"argv":["true"],"config":{}}\nend ts=3000000\n' | trace empty
	page empty.pov
	has 'h1: true' 'h2: Efficiency' 'p: No MPI call of the processes shown was recorded.'
	grep -q 'No MPI process was seen' page
	"$make" "$data/report_run.txt" run.pov
	head -c $(($(wc -c <run.pov) * 2 / 3)) run.pov >cut.pov
	page cut.pov
	grep -q '^p: INCOMPLETE' page
	for i in 1 2 3; do
		"$tool/random_trace" $i | trace random$i
		page random$i.pov
	done
	bystander | ranks 2 802200 | sed '/^\(switch\|waking\)/d; s/"sched":"all"/"sched":"off"/' | trace off
	page off.pov
	grep -q '^title: rank 0: .*outside MPI' page
	grep -q '^p: The scheduler was not recorded: who had cores is unknown.' page
}

@test "page: it is written completely or not at all" {
	"$make" "$data/report_run.txt" run.pov
	chmod 640 run.pov
	page run.pov
	[ "$(stat -c %a page.html)" = 640 ]
	page run.pov
	grep -q 'page.html existed and was replaced' err
	echo kept >page.html
	echo nothing >none.pov
	fails 1 'none.pov' "$POVTRACE" report none.pov -o page.html
	[ "$(cat page.html)" = kept ]
	fails 1 "the limit of a file's size (ulimit -f) is reached" bash -c "ulimit -f 1; exec '$POVTRACE' report run.pov -o page.html"
	[ "$(cat page.html)" = kept ]
	fails 1 'cannot create nowhere/page.html' "$POVTRACE" report run.pov -o nowhere/page.html
	[ "$(ls | grep -c 'page.html')" = 1 ]
}

@test "page: wrong usage" {
	"$make" "$data/report_run.txt" run.pov
	fails 2 'run.txt: -o writes an HTML page, so FILE must end in .html' "$POVTRACE" report run.pov -o run.txt
	fails 2 '-o can be combined only with --rank' "$POVTRACE" report run.pov -o run.html --json
	fails 2 '-o can be combined only with --rank' "$POVTRACE" report run.pov -o run.html --messages
	ln run.pov run.html
	fails 2 'is the recording itself' "$POVTRACE" report run.pov -o run.html
	rm run.html
	run -0 "$POVTRACE" report run.pov
	[ ! -e run.html ]
}
