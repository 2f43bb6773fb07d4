# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Reads traces, and compares them with the books that the programs kept (tests/mpi/expect.h). Sourced by lib.sh.

# ---- the trace ----

# For awk: pairs() puts the name=value pairs of a line of the dump into v.
# shellcheck disable=SC2016 # awk's own
awk_pairs='function pairs(	i, p) {
	delete v
	for (i = 2; i <= NF && i <= 14; i++) { p = index($i, "="); v[substr($i, 1, p - 1)] = substr($i, p + 1) }
}
'

# Makes the facts of a trace, once: info.json, dump, funcs.tsv (id, name), ranks.tsv (pid, rank).
facts() {
	local f=$T/$1
	[ -s "$f.info.json" ] && [ ! "$f.pov" -nt "$f.info.json" ] && return
	rm -f "$f.info.json" "$f.dump"
	"$pov" info --json --meta "$f.pov" >"$f.info" 2>"$f.info.err" &&
		"$pov" info --dump "$f.pov" >"$f.dump" 2>>"$f.info.err" || return 1
	jq -r '.meta[] | select(.type == "functions") | .rows[] | [.id, .name] | @tsv' "$f.info" >"$f.funcs.tsv"
	jq -r '.processes[] | select(.rank >= 0) | [.pid, .rank] | @tsv' "$f.info" >"$f.ranks.tsv"
	mv "$f.info" "$f.info.json"
}

# Whatever is missing from a trace, by its own account; a probe that was refused is a loss, too.
lost_of() {
	jq -r '
		(.drops[] | select(.cnt > 0) | "dropped: \(.cnt) of class \(.class), ring \(.ring)"),
		(.end.misses // {} | to_entries[] | select(.value > 0) | "missed: \(.key) \(.value)"),
		(.libraries[] | select((.failed // []) != []) | "probes failed in \(.path): \(.failed)"),
		(if .bad_blocks + .bad_records + .lost_tail_bytes > 0 then "damaged" else empty end),
		(if .complete then empty else "incomplete" end)' "$T/$1.info.json"
	grep '^lost' "$T/$1.dump" | head -5
}

# Calls that the programs made themselves, by rank and function: rank, function, calls, empty polls, cut short. "nested": also calls made
# within others, as callbacks of a program do.
tally_trace() { # NAME [nested]
	facts "$1" || return 1
	[ -z "${2-}" ] && [ -e "$T/$1.tally" ] && cat "$T/$1.tally" && return
	awk -v OFS='\t' -v nested="${2-}" "$awk_pairs"'
		FILENAME ~ /funcs.tsv$/ { name[$1] = $2; next }
		FILENAME ~ /ranks.tsv$/ { rank[$1] = $2; next }
		$1 != "call" && $1 != "spin" && $1 != "counted" { next }
		{
			pairs()
			if ((v["depth"] != 0 || v["flags"] ~ /nested/) && nested == "") next
			who = v["tgid"] in rank ? rank[v["tgid"]] : "pid" v["tgid"]
		}
		$1 == "call" {
			key = who OFS name[v["func"]]
			calls[key]++
			if (v["flags"] ~ /open|unwound/) cut[key]++
		}
		$1 == "counted" { calls[who OFS name[v["func"]]] += v["calls"] }
		$1 == "spin" {
			n = split(v["funcs"], part, ",")
			for (i = 1; i <= n; i++) {
				split(part[i], one, ":")
				key = who OFS name[one[1]]
				calls[key] += one[2]
				empty[key] += one[2]
			}
		}
		END { for (k in calls) print k, calls[k], empty[k] + 0, cut[k] + 0 }
	' "$T/$1.funcs.tsv" "$T/$1.ranks.tsv" "$T/$1.dump" | sort
}

# The same from the books. FILTER: jq condition on a line, e.g. '.fn != "MPI_Wait"'.
tally_books() { # NAME [FILTER]
	cat "$T/$1.books"/*.jsonl 2>/dev/null | jq -rs --arg none '' "
		[.[] | select(.fn and (${2:-true}))] | group_by([.rank, .fn])[] |
		[.[0].rank, .[0].fn, (map(.calls) | add), (map(.empty) | add), (map(.cut) | add)] | @tsv" | sort
}

# counts_match TEXT NAME [FILTER]: the trace has every call once, and no others.
counts_match() {
	tally_trace "$2" >"$T/$2.got" || { cat "$T/$2.info.err" "$T/$2.err" | not_ok "$1: counts"; return; }
	tally_books "$2" "${3-}" >"$T/$2.wanted"
	[ -s "$T/$2.wanted" ] || { cat "$T/$2.err" "$T/$2.out" | not_ok "$1: the program kept no books"; return; }
	same "$1: $(awk -F'\t' '{ n += $3 } END { print n }' "$T/$2.wanted") calls, each seen once" \
		"$T/$2.got" "$T/$2.wanted"
}

# marked_match TEXT SERVICE…: compares the calls in $T/run.pov of the functions that services call between marks with their books.
marked_match() {
	local text=$1 name
	shift
	facts run || { cat "$T/run.info.err" "$T/run.err" | not_ok "$text: readable"; return; }
	for name; do cat "$T/$name.books"/*.jsonl; done | jq -r '[.pid, .fn, .calls] | @tsv' | sort >"$T/run.wanted"
	for name; do sed 's/.*/&\t&/' "$T/$name.pids"; done >"$T/run.ranks.tsv"
	tally_trace run | awk -F'\t' -v OFS='\t' '$1 !~ /^pid/ && $2 ~ /^MPI_(Allreduce|Sendrecv_replace)$/ { print $1, $2, $3 }' >"$T/run.got"
	holds "$text: books of $(wc -l <"$T/run.wanted") kinds of calls" test -s "$T/run.wanted"
	same "$text: $(awk '{ n += $3 } END { print n }' "$T/run.wanted") calls between the marks" "$T/run.got" "$T/run.wanted"
}

# complete TEXT: $T/run.pov is a recording that ended normally.
complete() {
	facts run || { cat "$T/run.info.err" "$T/run.err" | not_ok "$1: readable"; return; }
	is "$1: the file is complete" "$(jq -r .complete "$T/run.info.json")" true
}

# nothing_lost TEXT NAME
nothing_lost() {
	facts "$2" || { cat "$T/$2.info.err" | not_ok "$1: nothing lost"; return; }
	lost_of "$2" >"$T/$2.lost"
	if [ -s "$T/$2.lost" ]; then not_ok "$1: nothing lost" <"$T/$2.lost"; else ok "$1: nothing lost"; fi
}

# The MPI library a program was linked with: its file, and the name it is looked for by.
library_of() { readlink -f "$(soname_of "$1")"; }

# From here on programs map copies of the MPI libraries: no other test's probes lie in these.
own_libraries() {
	local m name
	mkdir -p "$T/lib"
	for m in $mpis; do
		name=$(soname_of "$programs/$m/p2p")
		cp -L "$name" "$T/lib/$(basename "$name")"
	done
	export LD_LIBRARY_PATH=$T/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
soname_of() { ldd "$1" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }'; }

# jq condition on the books' lines: functions that are recorded unless asked otherwise.
default_functions="(.fn | IN($("$top/tests/tool/table_rows" "$top/user/layers/mpi/mpi.def" |
	sed -n 's/^POV_FUNC(\([A-Za-z0-9_]*\), [a-z_]*, [A-Z_| ]*LOCAL.*/"\1"/p' | paste -sd,))) | not"

# ---- bytes and peers, as decoded ----

# Lines {rank, fn, peer, calls, sent, received} of what the exported timeline shows. It shows one number for calls with one buffer, two for
# calls with two, and those of the status for a receive.
moves_of_trace() { # NAME
	"$pov" export --detail all "$T/$1.pov" -o "$T/$1.json" 2>>"$T/$1.err" || return 1
	jq -c --rawfile ranks "$T/$1.ranks.tsv" '
		($ranks | split("\n") | map(select(. != "") | split("\t") | {key: .[0], value: .[1] | tonumber}) |
			from_entries) as $rank |
		[.traceEvents[] | select(.ph == "X" and $rank[.pid | tostring] != null and .args != null) |
			.args as $a | (.name | test("[Rr]ecv|_Get$|Rget$|read")) as $in |
			($a.dest // $a.target // $a.target_rank // (if $in then $a.status_source else null end) // $a.source) as $peer |
			{rank: $rank[.pid | tostring], fn: .name,
			 peer: (if $peer == "MPI_PROC_NULL" then "nobody" else $peer end)} +
			if $a.send_bytes != null or $a.recv_bytes != null then
				{sent: ($a.send_bytes // 0), received: ($a.recv_bytes // 0)}
			elif $in then {sent: 0, received: ($a.status_bytes // $a.bytes // 0)}
			else {sent: ($a.bytes // 0), received: 0} end] |
		group_by([.rank, .fn, .peer])[] |
		.[0] + {calls: length, sent: (map(.sent) | add), received: (map(.received) | add)}' "$T/$1.json"
}

# Makes books and trace comparable: rank, function, sent, received. Two kinds of calls have one number: what a broadcast moved in either
# direction, and the input of a reduction. A message to nobody has no bytes.
moved() { # FUNCTIONS (JSON array)
	jq -rs --argjson fns "$1" '
		[.[] | select(.fn and (.fn | IN($fns[])) and .peer != "nobody" and
			(.fn | test("_init$|[Pp]robe$|^MPI_Start") | not)) |
		 if .fn | test("bcast"; "i") then {rank, fn, sent: (.sent + .received), received: 0}
		 elif .fn | test("reduce(_c)?$|scan$|reduce_scatter$"; "i") then {rank, fn, sent, received: 0}
		 else {rank, fn, sent, received} end] |
		group_by([.rank, .fn])[] | [.[0].rank, .[0].fn, (map(.sent) | add), (map(.received) | add)] | @tsv' | sort
}

# rank, function, peer, calls, for the functions whose every call has a peer in the books
peered() { # FUNCTIONS (JSON array)
	jq -rs --argjson fns "$1" '
		[.[] | select(.fn and (.fn | IN($fns[])))] | group_by([.rank, .fn, .peer])[] |
		[.[0].rank, .[0].fn, .[0].peer, (map(.calls) | add)] | @tsv' | sort
}

# bytes_match TEXT NAME: bytes sent and received, by rank and function; then calls by peer.
bytes_match() {
	local fns with_peers
	facts "$2" && moves_of_trace "$2" >"$T/$2.moves" || { cat "$T/$2.err" | not_ok "$1: bytes"; return; }
	cat "$T/$2.books"/*.jsonl >"$T/$2.lines"
	fns=$(jq -cs '[.[] | select(.fn and .sent + .received > 0) | .fn] | unique' "$T/$2.lines")
	with_peers=$(jq -cs '[group_by(.fn)[] | select(all(.[]; .peer != null)) | .[0].fn |
		select(test("[Pp]robe$|Win_") | not)]' "$T/$2.lines")
	moved "$fns" <"$T/$2.moves" >"$T/$2.got"
	moved "$fns" <"$T/$2.lines" >"$T/$2.wanted"
	if [ -s "$T/$2.got" ] || [ -s "$T/$2.wanted" ]; then # not only persistent operations
		same "$1: $(awk -F'\t' '{ n += $3 + $4 } END { print n }' "$T/$2.wanted") bytes" "$T/$2.got" "$T/$2.wanted"
	fi
	[ "$with_peers" = '[]' ] && return
	peered "$with_peers" <"$T/$2.moves" >"$T/$2.got"
	peered "$with_peers" <"$T/$2.lines" >"$T/$2.wanted"
	same "$1: peers of $(awk -F'\t' '{ n += $4 } END { print n }' "$T/$2.wanted") calls" "$T/$2.got" "$T/$2.wanted"
}

# exact TEXT MPI CAPTURE RANKS PROGRAM [ARG…]: records all calls of a program with books. Each call is there once, with its bytes and its
# peer, and nothing is lost. The recording is $T/run.*. A program that exits with 77 has printed why it cannot run.
exact() {
	local text="$2, $3: $1" status
	recorded run "$2" "$3" --mpi all --sched off -- "${@:4}"
	status=$?
	if [ $status = 77 ]; then
		skip "$text" "$(grep -hm 1 "^$5: " "$T/run.err" "$T/run.out")"
		return 1
	fi
	is "$text: status" $status 0
	counts_match "$text" run
	bytes_match "$text" run
	nothing_lost "$text" run
}

# Compares what the report says of functions with the books. FILTER: as above; if not given, the functions that are recorded by default. The
# tracer cannot know which part of a scattered result is this rank's.
report_match() { # TEXT NAME [FILTER]
	"$pov" report --json "$T/$2.pov" >"$T/$2.report" 2>>"$T/$2.err" || { not_ok "$1: report" <"$T/$2.err"; return; }
	jq -r '.ranks[] | .rank as $r | .functions[] | select(.calls > 0) |
		[$r, .name, .calls, .empty_polls, .open] | @tsv' "$T/$2.report" | sort >"$T/$2.got"
	tally_books "$2" "${3-$default_functions}" >"$T/$2.wanted"
	same "$1: calls and polls in the report" "$T/$2.got" "$T/$2.wanted"
	jq -r '.ranks[] | .rank as $r | .functions[] | select(.sent_bytes + .received_bytes > 0) |
		[$r, .name, .sent_bytes, .received_bytes] | @tsv' "$T/$2.report" | sort >"$T/$2.got"
	cat "$T/$2.books"/*.jsonl | jq -rs '[.[] | select(.fn)] | group_by([.rank, .fn])[] |
		[.[0].rank, .[0].fn, (map(.sent) | add),
			(if .[0].fn == "MPI_Reduce_scatter" then 0 else (map(.received) | add) end)] |
		select(.[2] + .[3] > 0) | @tsv' | sort >"$T/$2.wanted"
	same "$1: bytes in the report" "$T/$2.got" "$T/$2.wanted"
}
