# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Recorders that keep the newest part of tests/mpi/flight.c, and a comparison with its books. Sourced after lib.sh.
ranks=3

# fly NAME MPI PAUSE_US COUNT OPTION…: starts a job under a recorder, and waits until it is under way. Its ranks' processes are
# in $T/NAME.pids, the recorder's in $recorder.
fly() {
	local name=$1 mpi=$2 pause=$3 count=$4
	shift 4
	rm -rf "$T/$name".*
	mkdir -p "$T/$name.books"
	POV_EXPECT=$T/$name.books in_background "$name" "$pov" record -o "$T/$name.pov" "$@" -- $(launcher "$mpi" $ranks) \
		"$programs/$mpi/flight" "$pause" "$count"
	recorder=$!
	wait_until 120 awk -v ranks=$ranks '/^flight/ { n++ } END { exit n != ranks }' "$T/$name.out" || cat "$T/$name.err"
	awk '/^flight/' "$T/$name.out" | sort -k2n | awk '{ print $3 }' >"$T/$name.pids"
	mapfile -t -O ${#started[@]} started <"$T/$name.pids"
}

rank_pid() { sed -n "$(($2 + 1))p" "$T/$1.pids"; } # NAME RANK
land() { # NAME: ends the job, and waits for its recorder
	kill -TERM "$(rank_pid "$1" 0)"
	wait $recorder
}

# recorded_for SECONDS: waits until the recording has lasted this long, by the clock of its limits
recorded_for() {
	local begun
	begun=$(cut -d. -f1 /proc/uptime)
	wait_until 60 awk -v until=$((begun + $1)) '{ exit $1 <= until }' /proc/uptime
}

# stay_away NAME RANK: the rank does not go to the next meeting, and all others wait for it in MPI_Allreduce, until come.
stay_away() {
	local cnt
	cnt=$(grep -c '^late' "$T/$1.out")
	kill -USR1 "$(rank_pid "$1" "$2")"
	wait_until 60 awk -v cnt="$cnt" '/^late/ { n++ } END { exit n <= cnt }' "$T/$1.out"
	wait_until 60 others_wait "$1" "$2"
}
others_wait() {
	local meeting rank
	meeting=$(cat "$T/$1.books/meeting.$2")
	for ((rank = 0; rank < ranks; rank++)); do
		[ $rank = "$2" ] || [ "$(cat "$T/$1.books/meeting.$rank")" = $((meeting + 1)) ] || return 1
	done
}
come() { kill -USR2 "$(rank_pid "$1" "$2")"; }

# calls_of FILE FUNCTION: its outermost calls: process, time of the return, duration, tag (if it has one), "call", flags
calls_of() {
	awk -v OFS='\t' -v name="$2" "$awk_pairs"'
		FILENAME ~ /funcs.tsv$/ { if ($2 == name) id = $1; next }
		$1 != "call" { next }
		{
			pairs()
			split(v["args"], arg, ",")
			if (v["func"] == id && v["depth"] == 0) print v["tgid"], v["ts"], v["dur"], arg[5], $1, v["flags"]
		}' "$T/$1.funcs.tsv" "$T/$1.dump"
}

# window_match TEXT FILE NAME: the trace $T/FILE.pov of job NAME has, of each rank, every call that its book
# has within the trace's time, and none that ended before it or began after it.
window_match() {
	local text=$1 file=$2 name=$3
	facts "$file" || { cat "$T/$file.info.err" | not_ok "$text: readable"; return; }
	calls_of "$file" MPI_Sendrecv | awk '$6 !~ /open/' >"$T/$file.calls"
	for ((rank = 0; rank < ranks; rank++)); do
		awk -v begin="$(jq .start_ns "$T/$file.info.json")" -v end="$(jq .end_ns "$T/$file.info.json")" -v pid="$(rank_pid "$name" $rank)" '
			NR == FNR { if ($1 == pid) { n[$4]++; if ($2 < begin || $2 - $3 > end) print "call " $4 " is outside the window" }; next }
			# the times of the book enclose the call, so those of the trace lie between them
			$2 >= begin && $3 <= end { if (n[$1] != 1) print "call " $1 ": " n[$1] + 0 " times"; all++; delete n[$1]; next }
			$3 < begin || $2 > end { next }
			{ delete n[$1] }
			END { for (t in n) print "call " t " is not of this time"; if (!all) print "no calls" }
		' "$T/$file.calls" "$T/$name.books/flight.$rank" | sed "s/^/rank $rank: /"
	done >"$T/$file.wrong"
	if [ -s "$T/$file.wrong" ]; then not_ok "$text: calls" <"$T/$file.wrong"; else
		ok "$text: $(wc -l <"$T/$file.calls") calls, all of its time and no others"
	fi
}

# members_known TEXT NAME: the members of a communicator are known although it was made long before
members_known() {
	"$pov" export --detail all "$T/$2.pov" -o "$T/$2.json" >"$T/$2.export" 2>&1 || { not_ok "$1: exported" <"$T/$2.export"; return; }
	is "$1: members of a communicator made at the start" "$(jq -c --rawfile ranks "$T/$2.ranks.tsv" '
		($ranks | split("\n") | map(select(. != "") | split("\t") | {key: .[0], value: .[1] | tonumber}) | from_entries) as $rank |
		[.traceEvents[] | select(.ph == "X" and .name == "MPI_Sendrecv") | .args.dest_world == $rank[.pid | tostring]] |
		[length > 0, all]' "$T/$2.json")" "[true,true]"
}

# allreduces FILE CONDITION: number of the outermost calls of MPI_Allreduce for which a condition on $dur and $flags holds
allreduces() {
	calls_of "$1" MPI_Allreduce | awk -F'\t' "{ dur = \$3; flags = \$6 } $2 { n++ } END { print n + 0 }"
}

dump() { "$pov" dump "$@" >"$T/dump.said" 2>&1; }
