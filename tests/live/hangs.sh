# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Jobs that hang (tests/mpi/hangs.c), inspected by povtrace hang or recorded from the start. Sourced after lib.sh.

# The line of the program with that word in a comment.
line() { grep -n "/\* $1 \*/" "$top/tests/mpi/hangs.c" | cut -d: -f1; }

ranks_of() { [ "$1" = cycle ] && echo 4 || echo 2; } # KIND

# start KIND MPI: starts the job and waits for all ranks; sets $launched, and writes $T/pids by rank.
start() {
	: >"$T/said"
	$(launcher "$2" "$(ranks_of "$1")") "$programs/$2/hangs" "$1" >"$T/said" 2>&1 </dev/null &
	launched=$!
	started+=("$launched")
	there "$1"
}

# record_start KIND MPI CAPTURE: the same, recorded to $T/run.pov by $tracer.
record_start() {
	: >"$T/said"
	rm -f "$T/run.pov"
	"$pov" record --capture "$3" -o "$T/run.pov" -- $(launcher "$2" "$(ranks_of "$1")") "$programs/$2/hangs" "$1" >"$T/said" 2>"$T/err" </dev/null &
	tracer=$!
	started+=("$tracer")
	there "$1"
}

# Waits until each rank has reached its call, or sleeps outside MPI, and could have gone on for 100 ms: only then does the report say that
# it waits.
there() { # KIND
	local n
	n=$(ranks_of "$1")
	wait_until 120 awk -v n="$n" '/^at/ { k++ } END { exit k != n }' "$T/said"
	awk '/^at/' "$T/said" | sort -k2n | awk '{ print $3 }' >"$T/pids"
	mapfile -t -O ${#started[@]} started <"$T/pids"
	all_settled
}

# Looks at all of them first, so that their times pass together.
all_settled() {
	local pid
	ticks=() asleep=()
	for pid in $(cat "$T/pids"); do settled "$pid" 20; done
	for pid in $(cat "$T/pids"); do wait_until 300 settled "$pid" 20; done
}

# Returns true if each thread of a process is stopped, sleeps, or has used so many ticks of CPU time since the first look. The main thread
# must have slept at four looks in a row: a thread that polls may sleep for a moment, for a lock of the kernel.
declare -A ticks=() asleep=()
settled() { # PID TICKS
	local task tid state used
	for task in "/proc/$1/task"/*; do
		tid=${task##*/}
		read -r state used <<<"$(awk '{ sub(/.*\) /, ""); print $1, $12 + $13 }' "$task/stat")"
		[ "$state" = S ] && asleep[$tid]+=. || asleep[$tid]=
		[[ $state = [Tt] || ($state = S && ($tid != "$1" || ${asleep[$tid]} = ....*)) ]] ||
			((used >= ${ticks[$tid]=$used} + $2)) || return 1
	done
}

stop() {
	kill -KILL $(ours $(cat "$T/pids") "$launched") 2>/dev/null
	wait "$launched" 2>/dev/null
}

# Ends the recording, which leaves the job running, and then the job.
record_stop() {
	stop_recording
	kill -KILL $(ours $(cat "$T/pids")) 2>/dev/null
	"$pov" report --hang "$T/run.pov" >"$T/hang" 2>>"$T/err" || sed 's/^/# /' "$T/err"
	tr -s '\n ' ' ' <"$T/hang" >"$T/text"
}

# Starts povtrace hang and waits until each rank could have gone on for another 100 ms.
looks() {
	: >"$T/err" # the last look's says that it records, too
	"$pov" hang -d 600 -p "$launched" >"$T/hang" 2>"$T/err" </dev/null &
	tracer=$!
	started+=("$tracer")
	wait_until 120 grep -q '^povtrace: recording ' "$T/err"
	all_settled
	stop_recording
	looked=$?
	tr -s '\n ' ' ' <"$T/hang" >"$T/text"
	return $looked
}
