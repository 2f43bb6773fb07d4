# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# A recorded program does what it does untraced, and each of its calls is recorded. Sourced after lib.sh by harm_*.test: unharmed runs
# a command once without povtrace and once in each capture, and compares status, output, errors, and calls with the command's books.

export POV_LIMIT=${POV_LIMIT:-60}
captures=${POV_CAPTURES:-auto probes}
commands=0

# Puts the command's standard error into a file of its own, apart from povtrace's messages.
cat >"$T/apart" <<'EOF'
exec 2>"$1"
shift
exec "$@"
EOF

# ranks MPI RANKS: like launcher; each rank's standard output is a file of its own, as launchers mix them within lines.
ranks() { echo "$(launcher "$1" "$2") sh $T/to_file"; }
cat >"$T/to_file" <<'EOF'
exec "$@" >"$POV_EXPECT/out.$$"
EOF
outputs() { # NAME: all lines that its processes wrote
	cat "$T/$1.out"
	find "$T/$1.books" -name 'out.*' -exec cat {} +
}

# Sets $mpi to the next of $mpis, for tests in which it matters little which one it is.
turn=0
next_mpi() {
	local all
	read -ra all <<<"$mpis"
	mpi=${all[turn++ % ${#all[@]}]}
}

# What differs from run to run: addresses, and the numbers of processes (Open MPI and UCX begin their messages with them). Valgrind reports
# the system call by which the preloaded library asks whether memory is there.
as_text() { sed -E '/sigprocmask: unknown .how. field -1/d; s/0x[0-9a-fA-F]+/ADDRESS/g; s/\[([^]:]+):[0-9]+(:[0-9:]+)?\]/[\1]/g; s/\[[0-9]+,[0-9]+\]/[JOB]/g; s/(pid|PID)[ =:]+[0-9]+/pid N/g; s/==[0-9]+==/==N==/g' | sort; }

untraced() { # NAME COMMAND…
	local name=$1
	shift
	rm -rf "$T/$name".{books,out,said,status}
	mkdir "$T/$name.books"
	POV_EXPECT=$T/$name.books timeout -k 10 60 sh "$T/apart" "$T/$name.said" "$@" >"$T/$name.out" </dev/null
	echo $? >"$T/$name.status"
}

# Lines in which two runs differ; and lines of the recording's standard error that are not povtrace's messages.
differences() { # NAME OF-UNTRACED
	local part
	for part in status said; do
		diff <(as_text <"$T/$2.$part") <(as_text <"$T/$1.$part") >"$T/diff" || { echo "$part: < untraced, > recorded"; cat "$T/diff"; }
	done
	diff <(outputs "$2" | as_text) <(outputs "$1" | as_text) >"$T/diff" || { echo "output: < untraced, > recorded"; cat "$T/diff"; }
	grep -v '^povtrace: \|^ *$' "$T/$1.err" | sed 's/^/not said by povtrace: /'
}

# Calls by a program's name in its books (in place of the rank), function, calls, empty polls, calls cut short.
calls_recorded() { # NAME
	facts "$1" || return
	rm -f "$T/$1.tally"
	jq -r '[.pid, "books"] | @tsv' "$T/$1.books"/*.jsonl 2>/dev/null | sort -u >"$T/$1.ranks.tsv"
	tally_trace "$1"
}
calls_made() { # NAME
	cat "$T/$1.books"/*.jsonl 2>/dev/null | jq -rs '[.[] | select(.fn)] | group_by(.fn)[] |
		["books", .[0].fn, (map(.calls) | add), (map(.empty) | add), (map(.cut) | add)] | @tsv' | sort
}

# unharmed TEXT [OPTION…] -- COMMAND…: OPTIONs are record's. The last recording is $T/run.*. HARM_CALLS: "none" if the command has no books.
unharmed() {
	local text=$1 options=() capture bare
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	bare=bare$((commands += 1))
	untraced "$bare" "$@"
	# MPICH 4.2 in a namespace of its own; Open MPI 5 that is initialised twice
	grep -qaE 'Segmentation fault|MPI runtime init failed|error occurred in MPI_Init$|before MPI_INIT' "$T/$bare.said" && { skip "$text" "it fails untraced"; return; }
	for capture in $captures; do
		POV_CAPTURE=$capture record run --mpi all --sched off ${options[@]+"${options[@]}"} -- sh "$T/apart" "$T/run.said" "$@"
		echo $? >"$T/run.status"
		unharmed_behaviour "$text, $capture" "$bare"
		unharmed_calls "$text, $capture" "$bare"
	done
}

unharmed_behaviour() { # TEXT OF-UNTRACED
	differences run "$2" >"$T/run.differences"
	if [ -s "$T/run.differences" ]; then
		{ cat "$T/run.differences"; grep '^povtrace: ' "$T/run.err"; } | not_ok "$1: as untraced"
	else
		ok "$1: as untraced (status $(cat "$T/run.status"))"
	fi
}

unharmed_calls() { # TEXT OF-UNTRACED
	calls_made "$2" >"$T/run.wanted"
	calls_recorded run >"$T/run.got" || { cat "$T/run.info.err" "$T/run.err" | not_ok "$1: calls"; return; }
	if [ "${HARM_CALLS-}" != none ] && [ ! -s "$T/run.wanted" ]; then
		{ cat "$T/$2.said"; outputs "$2"; } | not_ok "$1: the untraced program kept no books"
		return
	fi
	diff "$T/run.wanted" "$T/run.got" >"$T/run.differences"
	lost_of run >>"$T/run.differences"
	if [ -s "$T/run.differences" ]; then
		{ echo "function, calls, empty polls, cut short: < made, > recorded"; cat "$T/run.differences"; grep '^povtrace: ' "$T/run.err"; } |
			not_ok "$1: each call is recorded once"
	else
		ok "$1: $(awk -F'\t' '{ n += $3 } END { print n + 0 }' "$T/run.wanted") calls, each recorded once, nothing lost"
	fi
}

# turn SECONDS PID: has the turn to change code in a process, or with 0 in all, for so long (user/target/probes/code_turn.h).
cat >"$T/turn.py" <<'EOF'
import fcntl, sys, time
file = open("/run/povtrace/code.lock", "a+b")
pid = int(sys.argv[2])
fcntl.lockf(file, fcntl.LOCK_EX, 1 if pid else 0, pid)
open(sys.argv[3], "w").close()
time.sleep(int(sys.argv[1]))
EOF
turn() {
	rm -f "$T/turn"
	python3 "$T/turn.py" "$@" "$T/turn" &
	started+=($!)
	disown
	wait_until 60 [ -e "$T/turn" ]
}
