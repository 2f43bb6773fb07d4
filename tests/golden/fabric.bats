#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace fabric: two levels (three leaves of two hosts, two spines), as ibnetdiscover and dump_fts print them.

load lib

setup() {
	begin
	need jq
	topo=$data/fabric_topology.txt
	tables=$data/fabric_tables.txt
	for i in 0 1 2 3 4 5; do echo "$i host$i"; done >hosts
	# Ranks 0 and 1 of leaf0 send to ranks 4 and 5 of leaf2; the tables send host4's LID by spine0, host5's by spine1.
	printf '%s\n' '0 0 0 0 1024 0' '0 0 0 0 2048 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' >matrix
}

# With all tables and hosts.
fabric() { "$POVTRACE" fabric -t "$tables" -H hosts "$@"; }

@test "text: hottest links, levels, conflicts" {
	run -0 --separate-stderr fabric -m phase=matrix "$topo"
	[ -z "$stderr" ]
	[ "${lines[0]}" = "Fabric: 6 adapters, 5 switches (5 with a forwarding table), 12 links, 1 subnet" ]
	[[ $output == *"Context all: 2 flows, 3 KiB"* ]]
	[[ $output == *"         3 KiB        2  leaf0 port 3 → spine0 port 1"* ]]
	[[ $output == *"       2 flows  spine0 port 3 → leaf2 port 3"* ]]
	[[ $output == *"Conflicts: 2 of 2 used link directions between switches carry more than one flow (at most 2)"* ]]
	[[ $output != *"Context phase"* ]]
}

@test "both contexts, and one of them" {
	fabric -m one=matrix -m two=matrix --json "$topo" >json
	[ "$(jq -c '[.contexts[] | [.context, .halves[0].bytes]]' json)" = '[["all",6144],["one",3072],["two",3072]]' ]
	fabric -m one=matrix -m two=matrix --context two --csv "$topo" >csv
	[ "$(cut -d, -f1 csv | sort -u)" = $'"two"\ncontext' ]
	fails 1 'no traffic has the context "three"' fabric -m one=matrix -c three "$topo"
}

@test "JSON: all nodes and links, also those without traffic" {
	fabric -m one=matrix --json "$topo" >json
	[ "$(jq -c '[.format, .version, (.nodes | length), (.links | length)]' json)" = '["povtrace fabric",1,11,12]' ]
	[ "$(jq -c '[.nodes[] | select(.kind == "switch" and .subnet == 0) | .level] | sort' json)" = '[1,1,1,2,2]' ]
	[ "$(jq -c '[.nodes[] | select(.kind == "adapter") | .level] | unique' json)" = '[0]' ]
	[ "$(jq -c '[.links[] | [.subnet, .speed, .gbit_per_s]] | unique' json)" = '[[0,"4xSDR",8]]' ]
	# Each half with traffic, with the names and ports of its ends, as in the CSV.
	jq -r '. as $f | .contexts[] | .context as $c | .halves[] | . as $h | [$f.links[.link].ends[.from, 1 - .from] | $f.nodes[.node].name, .port] as $e | [$c, $e[], .bytes, .flows] | join(",")' json | sort >halves
	fabric -m one=matrix --csv "$topo" | tr -d '"\r' | awk -F, -v OFS=, 'NR > 1 { print $1, $3, $4, $7, $8, $11, $12 }' | sort >csv
	[ "$(wc -l <csv)" = 10 ]
	diff csv halves
	[ "$(jq -c '[.contexts[] | [.context, .bytes, .flows]]' json)" = '[["all",3072,2],["one",3072,2]]' ]
}

@test "the CSV of a report of a trace" {
	# The trace of traffic.bats, as an adapter of InfiniBand would produce it: LID 1 is connected with LID 8, which is host2's.
	sed -E 's/"link":"Ethernet","lid":0/"link":"InfiniBand","lid":1/; /^call ts=1300000/s/0x0001010000000000/0x0001000000000008/
		/^call ts=1310000/s/0x0001010000000000/0x0001000000000001/' "$data/traffic_run.txt" | trace run
	"$POVTRACE" report --traffic --csv run.pov >traffic.csv
	printf '0 host0\n1 host2\n' >hosts
	fabric -T traffic.csv --csv "$topo" >csv
	[ "$(grep -c '^"all"' csv)" = 8 ]
	[ "$(grep '^"MPI_Wait"' csv | cut -d, -f3,7,11 | sort -u)" = '"host0","leaf0",400000
"leaf0","spine0",400000
"leaf1","host2",400000
"spine0","leaf1",400000' ]
	[ "$(grep '^"MPI_Barrier",0x0000000000100004' csv | cut -d, -f7,11)" = '"leaf1",64' ]
	fails 0 "(other carriers, destinations without a LID in it): 5.6 KiB in 2 rows" fabric -T traffic.csv --by region "$topo"
	[[ $output == *"Context solve: 1 flows, 395 KiB"* ]]
	[[ $output == *"Context none: 1 flows, 64 B"* ]]
}

@test "a path" {
	run -0 "$POVTRACE" fabric -t "$tables" -r host0,11 "$topo"
	[ "${lines[0]}" = "host0 port 1 to LID 11" ]
	[ "${lines[2]}" = '  [4] -> switch 0x0000000000200004 [1] "spine1"' ]
	[ "${#lines[@]}" = 5 ]
	fails 1 '"nobody" is neither a LID nor a host' "$POVTRACE" fabric -t "$tables" -r host0,nobody "$topo"
}

@test "flows without a path are reported" {
	sed '/(leaf2)/,$!d' "$tables" | sed '/valid lids/q' >part
	fails 1 "no flow has a path" "$POVTRACE" fabric -t part -H hosts -m matrix "$topo"
	sed '/switch.*spine0/,/valid lids/d' "$tables" >part
	printf '%s\n' '0 1024 0 0 2048 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' >matrix
	run -0 --separate-stderr "$POVTRACE" fabric -t part -H hosts -m matrix "$topo"
	[[ $stderr == *"1 flows have no path"* ]]
	[[ $output == *"Missing on the links: 1 flows of 2 KiB"* ]]
	fails 1 'at "spine0": this switch'\''s forwarding table was not read' "$POVTRACE" fabric -t part -r host0,host4 "$topo"
}

@test "missing or wrong input is reported" {
	fails 2 "give ibnetdiscover's output" "$POVTRACE" fabric
	fails 2 "--tables FILE" "$POVTRACE" fabric "$topo"
	fails 2 "--hosts FILE" "$POVTRACE" fabric -t "$tables" -m matrix "$topo"
	fails 1 "wanted: ibnetdiscover's output" fabric -m matrix "$tables"
	fails 1 "wanted: output of dump_fts" "$POVTRACE" fabric -t "$topo" -H hosts -m matrix "$topo"
	head -n 9 "$topo" >cut
	fails 1 "is one cut short?" fabric -m matrix cut
	fails 1 "cannot open none" fabric -m matrix none
	echo "0 0" >short
	fails 1 "the file must have as many lines as each line has numbers" fabric -m short "$topo"
}
