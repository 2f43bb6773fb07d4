#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# make demo, in at most 60 lines: one line a step, then what the recordings show. What the steps themselves print is in
# build/demo/log, and is shown only if one fails.
#
#   .ci/demo.sh begin                 empties build/demo, prints the head
#   .ci/demo.sh step TEXT COMMAND…    runs COMMAND as the step TEXT; its exit status is the command's
#   .ci/demo.sh run MPI               records, exports and measures with this MPI, then shows
#   .ci/demo.sh show                  what is shown of the files in build/demo
#
# Under sudo, programs run as the user who typed it, as those do that povtrace records.
set -u
demo=${DEMO:-build/demo}
povtrace=${POVTRACE:-build/povtrace}
screen_lines=35 # of the first screen, at most
quiet_causes=3  # of the second recording, at most

begin() {
	mkdir -p "$demo" && rm -f "$demo"/* && : >"$demo/log" || exit 1
	echo "Two ranks play ping-pong while threads compute on their cores, then without such threads."
	echo "What the commands print is in $demo/log."
	echo
}

step() { # TEXT COMMAND…
	local text=$1 status from=$SECONDS before
	shift
	mkdir -p "$demo"
	printf '  %-68s' "$text"
	printf '\n== %s\n%s\n' "$text" "$*" >>"$demo/log"
	before=$(wc -c <"$demo/log")
	"$@" >>"$demo/log" 2>&1
	status=$?
	if [ $status = 0 ]; then
		echo " $((SECONDS - from)) s"
		return
	fi
	echo " failed, exit status $status:"
	tail -c +$((before + 1)) "$demo/log"
	exit $status
}

exports() {
	"$povtrace" export "$demo/demo.pov" -o "$demo/demo.json" &&
		"$povtrace" export "$demo/demo.pov" -o "$demo/demo.pftrace" &&
		"$povtrace" export "$demo/away.pov" -o "$demo/away.pftrace"
}

overlap() {
	local picture=()
	command -v gnuplot >/dev/null && picture=(-o "$demo/sender.svg")
	"${as[@]}" "${mpirun[@]}" "$bench" sender --quick -m 4K:4M -o "$demo/sender.json" &&
		"${as[@]}" build/povplot --words "$demo/sender.json" "${picture[@]}"
}

# The threads of the load compute on the ranks' cores, then away from them. On few CPUs there is no such place: the same
# ping-pong without them. At last without the tracer, whose cost would show in a map of overlap.
run() { # MPI
	local mpi=${1-} user=${SUDO_USER:-root} bench mpirun bind as=()
	local away=(pingpong) how="without such threads"
	[ -n "$mpi" ] || {
		echo "make: no MPI here (make deps installs one)" >&2
		exit 1
	}
	bench=build/povbench/$mpi/povbench
	mpirun=("mpirun.$mpi" -np 2)
	bind=-bind-to
	[ "$user" = root ] || as=(sudo -u "$user" --)
	if [ "$mpi" = openmpi ]; then
		bind=--bind-to
		[ "$user" != root ] || [ "$(id -u)" != 0 ] || mpirun+=(--allow-run-as-root)
		mpirun+=(--oversubscribe)
	fi
	[ "$(nproc)" -lt 6 ] || away=(nload -b -t 2) how="with these threads on other cores"
	mkdir -p "$demo" && rm -f "$demo"/*.*
	step "record the ping-pong while threads compute on the ranks' cores" \
		"$povtrace" record -o "$demo/demo.pov" -- "${mpirun[@]}" $bind core "$bench" nload -m 1K:1K -t 2 -i 20
	step "record it $how" \
		"$povtrace" record -o "$demo/away.pov" -- "${mpirun[@]}" $bind core "$bench" "${away[@]}" -m 1K:1K -i 20
	step "make timelines of both recordings" exports
	step "measure how much of a message hides behind computation, unrecorded" overlap
	show
}

# Of a first screen: how long the run was, and the titles of the first causes.
screen_titles() {
	awk -v most=$quiet_causes '/ ranks · / { print }
		/^Why, and what to do/ { why = 1; print; next }
		why && /^ +[0-9]+  [^ ]/ && n++ < most { print }
		why && /^     ([0-9]+ small|Nothing costs)/ { print }
		/^$/ { why = 0 }'
}

# All of it, or as much as there is room for.
screen_fit() { # FILE
	if [ "$(wc -l <"$1")" -le $screen_lines ]; then
		cat "$1"
	else
		head -n $((screen_lines - 1)) "$1"
		echo "…"
	fi
}

show() {
	echo
	echo "\$ povtrace report --min 10 $demo/demo.pov"
	"$povtrace" report --min 10 "$demo/demo.pov" >"$demo/screen" || exit 1
	screen_fit "$demo/screen"
	echo
	echo "\$ povtrace report --min 10 $demo/away.pov | …          (the first causes only)"
	"$povtrace" report --min 10 "$demo/away.pov" >"$demo/screen" || exit 1
	screen_titles <"$demo/screen"
	rm -f "$demo/screen"
	echo "On a quiet machine the threads are gone from the list, and povbench's own start is left."
	echo
	echo "In $demo: recordings demo.pov, away.pov; timelines demo.pftrace, away.pftrace, demo.json;"
	echo "  sender.json: how much of a message hides behind computation$([ ! -e "$demo/sender.svg" ] || echo ", drawn in sender.svg")"
	echo "Next: open demo.pftrace at https://ui.perfetto.dev (nothing is uploaded), or record a program of yours:"
	echo "  sudo build/povtrace record -o run.pov -- mpirun -np 2 ./app; build/povtrace report run.pov"
}

case ${1-} in
begin | step | run | show) "$@" ;;
*)
	sed -n '4,12s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
