#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povplot of a fabric: two levels (three leaves of two hosts, two spines), as a picture and as a page. tests/live/fabric_page.test tests in
# a browser what the page does.

load bench
topo=$BATS_TEST_DIRNAME/../data/fabric_topology.txt
tables=$BATS_TEST_DIRNAME/../data/fabric_tables.txt

setup_file() {
	need jq
	cd "$BATS_FILE_TMPDIR"
	for i in 0 1 2 3 4 5; do echo "$i host$i"; done >hosts
	printf '%s\n' '0 0 0 0 1024 0' '0 0 0 0 2048 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' >one
	printf '%s\n' '0 512 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' '0 0 0 0 0 0' >two
	fabric >fabric.json
}

fabric() { "$POVTRACE" fabric -t "$tables" -H hosts -m one=one -m two=two "${@:---json}" "$topo"; }

# The page's data.
page_data() { sed -n '/<script id="data"/,/<\/script>/p' "$1" | sed '1d;$d'; }

@test "picture: every half of every link, with its bytes" {
	"$POVPLOT" fabric.json -p fabric --tsv >tsv
	[ "$(head -n 1 tsv)" = "# fabric: fabric; fabric.json" ]
	[ "$(grep -c $'^[0-9]*\t0x' tsv)" = 24 ]
	awk -F '\t' '/^[0-9]/ && $7 { print $2, $3, $4, $5, $7, $8 }' tsv | sort >halves
	fabric -c all --csv | awk -F, 'NR > 1 { sub("\r", "", $12); print $2, $4, $6, $8, $11, $12 }' | sort >wanted
	[ -s wanted ]
	diff wanted halves
}

@test "picture: one context" {
	"$POVPLOT" fabric.json -w context=two --tsv | awk -F '\t' '/^[0-9]/ && $7 { print $7 }' >bytes
	[ "$(sort -u bytes)" = 512 ]
	[ "$(wc -l <bytes)" = 2 ]
	"$POVPLOT" fabric.json -w context=two --script >script
	grep -q 'traffic on the links of the fabric: two' script
	run -1 "$POVPLOT" fabric.json -w context=three -o three.svg
	[[ $output == *"no point to draw"* ]]
	[ ! -e three.svg ]
}

@test "picture: levels are rows, two subnets on both sides" {
	"$POVPLOT" fabric.json --script >script
	grep -qF "set ytics ('adapters' 0, 'level 1' 1, 'level 2' 2)" script
	# The same once more as a second subnet: other switches, the second ports of the same adapters.
	sed 's/S-00000000002/S-00000000003/g; s/guid=0x2/guid=0x3/; s/"\(leaf\|spine\)/"b\1/g
		s/^\[1\](\(.*\)) /[2](\1) /; s/\("H-[0-9a-f]*"\)\[1\]/\1[2]/; /^Ca/s/Ca\t1/Ca\t2/' "$topo" >topo.b
	"$POVTRACE" fabric -t "$tables" -H hosts -m one=one --json "$topo" topo.b >both.json
	"$POVPLOT" both.json --script >script
	grep -qF "set ytics ('level 2b' -2, 'level 1b' -1, 'adapters' 0, 'level 1a' 1, 'level 2a' 2)" script
	"$POVPLOT" both.json -o both.html
	[ "$(page_data both.html | jq -c '[.nodes[] | select(.isSwitch) | [.name, .row]] | sort | map(.[1])')" = '[-1,-1,-1,-2,-2,1,1,1,2,2]' ]
}

@test "picture: SVG, PNG and PDF" {
	need gnuplot
	for end in svg png pdf; do
		"$POVPLOT" fabric.json -o "fabric.$end"
		[ -s "fabric.$end" ]
	done
	grep -q 'spine1' fabric.svg
	fabric | "$POVPLOT" - -o stdin.svg
	cmp fabric.svg stdin.svg
}

@test "places: nodes that belong together are neighbours, whatever their names" {
	# Two pods of two leaves and two spines each, which the names do not show.
	jq -n '[[0,2],[0,3],[1,2],[1,3]] as $pod | ["z","b","y","c"] as $names |
		{format: "povtrace fabric", version: 1, subnets: ["s"],
		 nodes: ([range(8) | {kind: "switch", name: ($names[. % 4] + (. / 4 | floor | tostring) + (. % 2 | tostring)), guid: "0x\(. + 1)", level: (if . % 4 < 2 then 1 else 2 end), subnet: 0}] +
			 [range(8) | {kind: "adapter", name: "h\((. * 5) % 8)", guid: "0x\(. + 20)", level: 0}]),
		 links: ([range(2) as $p | $pod[] | {ends: [{node: (.[0] + 4 * $p), port: 1}, {node: (.[1] + 4 * $p), port: 1}], subnet: 0}] +
			 [range(8) | {ends: [{node: (8 + .), port: 1}, {node: ([0, 1, 4, 5][. % 4]), port: 2}], subnet: 0}]),
		 contexts: [{context: "all", halves: [{link: 0, from: 0, bytes: 1, flows: 1}]}]}' >pods.json
	"$POVPLOT" pods.json -o pods.html
	# Nodes 0 to 3 are one pod, 4 to 7 the other: in each row, the nodes of a pod are neighbours.
	page_data pods.html | jq -ec '[.nodes | to_entries[] | select(.key < 8) | {pod: (.key / 4 | floor), row: .value.row, x: .value.x}] | group_by(.row)[] | sort_by(.x) | map(.pod) | . == [0,0,1,1] or . == [1,1,0,0]' >rows
	[ "$(sort -u rows)" = true ]
	[ "$(wc -l <rows)" = 2 ]
	# So are the adapters of a switch.
	[ "$(page_data pods.html | jq -c '[.nodes | to_entries[] | select(.key >= 8) | {leaf: (.key % 4), x: .value.x}] | sort_by(.x) | [.[].leaf] | [recurse(.[2:]; length > 0) | .[0] == .[1]] | unique')" = '[true]' ]
	[ "$(page_data pods.html | jq '[.nodes[].x] | min >= 0 and max <= 1')" = true ]
}

@test "page: the data of all contexts, and nothing from outside" {
	"$POVPLOT" fabric.json -o fabric.html
	page_data fabric.html >page.json
	[ "$(jq -c '[.nodes, .links, .contexts | length]' page.json)" = '[11,12,3]' ]
	jq -c '.contexts[] | [.context, ([.halves[] | [.link, .from, .bytes, .flows]] | sort)]' fabric.json >wanted
	jq -c '.contexts[] | [.name, ([.halves as $h | range(0; $h | length; 4) | $h[.:. + 4]] | sort)]' page.json >got
	diff wanted got
	! grep -qE '(src|href)=|url\(|@import|https?:' fabric.html
	grep -q "default-src 'none'" fabric.html
	"$POVPLOT" fabric.json -w context=two -o two.html
	[ "$(page_data two.html | jq -c '[.contexts[].name]')" = '["two"]' ]
}

@test "hostile names are treated as text" {
	need gnuplot
	sed -i.bak 's/"name":"leaf1"/"name":"<\/script><script>alert(1)<\/script>"/; s/"name":"host3"/"name":"<img src=x onerror=alert(1)> `touch touched` '"'"' {\/=99 x} $(touch touched)"/; s/"context":"two"/"context":"<\/script><!--"/' fabric.json
	! cmp -s fabric.json fabric.json.bak
	"$POVPLOT" fabric.json -o fabric.html
	[ "$(grep -c '</script>' fabric.html)" = "$(fabric | "$POVPLOT" - -o plain.html; grep -c '</script>' plain.html)" ]
	page_data fabric.html | jq -e '[.nodes[].name] | index("</script><script>alert(1)</script>")' >/dev/null
	"$POVPLOT" fabric.json -o fabric.svg
	"$POVPLOT" fabric.json -w 'context=</script><!--' -o two.svg
	[ ! -e touched ]
	! grep -q '<img\|<script>alert' fabric.svg two.svg
}

@test "traffic that is not on the links is reported" {
	jq '.unrouted = {bytes: 2048, flows: 1} | .unknown_size = 3' fabric.json >out.json
	"$POVPLOT" out.json --script | grep -q 'not on the links: 2 KiB of flows without a path, 3 messages whose size is not known'
	"$POVPLOT" out.json -o out.html
	[ "$(page_data out.html | jq -r .leftOut)" = 'not on the links: 2 KiB of flows without a path, 3 messages whose size is not known' ]
	"$POVPLOT" fabric.json -o out.html
	[ "$(page_data out.html | jq -r .leftOut)" = '' ]
}

@test "wrong input is reported" {
	while IFS='|' read -r change end message; do
		jq "$change" fabric.json >bad.json
		refuses 1 "$message" "$POVPLOT" bad.json -o "x.$end"
		[ ! -e "x.$end" ]
	done <<-'L'
		.version = 2|html|format version 2; this povplot reads 1 to 1
		.links[3].ends[1].node = 11|html|a link to a node that is not there
		.links[3].ends[1].node = 11|svg|a link to a node that is not there
		.contexts = []|html|a fabric without traffic
		.subnets = []|html|no subnets
		.links = []|svg|no links
	L
}
