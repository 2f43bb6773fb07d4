# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the live tests share: TAP, launching MPI programs under povtrace, and comparing what the tracer
# says with the books the programs kept (books.sh). Sourced with bash by every *.test, which ends
# with `finish`. Each test file gets a directory $T of its own, gone at the end unless POV_KEEP is set.
set -u
shopt -s lastpipe # `… | not_ok` counts in this shell
export LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND PKEXEC_UID DOAS_USER
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
pov=${POVTRACE:-$top/build/povtrace}
programs=$top/build/mpi
# More ranks than cores, bound to none, in the words of Open MPI 4 and of PRRTE, the launcher of 5. Jobs that meet may have
# only TCP between them, and need no other network than the loopback for that.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_tcp_if_include=lo
# Waiting ranks yield their core to other tests that run meanwhile: this takes a tenth of the CPU time. Not in tests that measure time.
[[ $0 != */live/* ]] || export OMPI_MCA_mpi_yield_when_idle=1

T=$(mktemp -d)
export POV_TEST_DIR=$T # in the environment of all that this test starts
started=()             # processes of ours that may still be alive at the end

# ours PID…: prints those that this test has started and that are alive. The kernel soon reuses the numbers of ended processes for those of
# other tests, so ask before you kill a process that may have ended.
ours() {
	local pid
	for pid; do
		grep -qsz "^POV_TEST_DIR=$T\$" "/proc/$pid/environ" || grep -qs "^PPid:[[:space:]]*$$\$" "/proc/$pid/status" &&
			echo "$pid"
	done
}

at_exit() {
	local dir
	kill -9 $(ours ${started[@]+"${started[@]}"}) 2>/dev/null
	for dir in "$T/small" "$T/stuck"; do mountpoint -q "$dir" && umount -l "$dir"; done
	[ -z "${group-}" ] || rmdir "$group" 2>/dev/null
	[ -n "${POV_KEEP-}" ] && echo "# kept: $T" || rm -rf "$T"
}
trap at_exit EXIT

# ---- TAP ----

tap_cnt=0 tap_bad=0

ok() {
	tap_cnt=$((tap_cnt + 1))
	echo "ok $tap_cnt - $1"
}

# not_ok NAME, with what is wrong on stdin
not_ok() {
	tap_cnt=$((tap_cnt + 1))
	tap_bad=$((tap_bad + 1))
	echo "not ok $tap_cnt - $1"
	head -n "${2:-30}" | sed 's/^/# /; $a\'
}

skip() { # NAME REASON
	tap_cnt=$((tap_cnt + 1))
	echo "ok $tap_cnt - $1 # SKIP $2"
}

skip_all() {
	echo "1..0 # SKIP $*"
	echo "# $*"
	exit 77
}

finish() {
	echo "1..$tap_cnt"
	[ $tap_bad = 0 ]
	exit
}

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then ok "$1"; else printf 'got    %s\nwanted %s\n' "$2" "$3" | not_ok "$1"; fi
}

# true NAME COMMAND…: passes if the command succeeds.
holds() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then ok "$name"; else echo "$said" | not_ok "$name"; fi
}

# says NAME FILE PATTERN: passes if the file has a line that matches.
says() {
	if grep -qE -- "$3" "$2"; then ok "$1"; else { echo "no /$3/ in:"; cat "$2"; } | not_ok "$1"; fi
}

# same NAME GOT-FILE WANTED-FILE
same() {
	if cmp -s "$2" "$3"; then ok "$1"; else diff "$2" "$3" | not_ok "$1"; fi
}

# aim NAME VALUE LOW HIGH: a measured value, and whether it lies where it should ("-": no bound). A missed aim is printed and fails nothing.
aim() {
	local text="$1: $2 (aim: $3 to $4)"
	if awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN {
		exit !(v ~ /^[-+0-9.]/ && (low == "-" || v + 0 >= low + 0) && (high == "-" || v + 0 <= high + 0)) }'; then
		ok "$text"
	else
		tap_cnt=$((tap_cnt + 1))
		echo "not ok $tap_cnt - $text # TODO missed"
	fi
}

# ---- what is needed ----

need_root() { [ "$(id -u)" = 0 ] || skip_all "needs root"; }
need() { # TOOL…
	local tool
	for tool; do command -v "$tool" >/dev/null || skip_all "needs $tool"; done
}

# True in `make check`, for files that leave a part to `make check-all`. By hand, all of a file runs.
in_check() { [ "${POV_STAGE-}" = live ]; }

# Sets $mpis: of the MPIs that the runner names in POV_MPIS (both, if none), those that the programs were built for.
find_mpis() {
	local m
	mpis=
	for m in ${POV_MPIS:-openmpi mpich}; do
		if command -v "mpirun.$m" >/dev/null && [ -x "$programs/$m/p2p" ]; then
			mpis="$mpis $m"
		else
			skip "$m" "not installed, or its programs are not built (make live-programs)"
		fi
	done
	[ -n "$mpis" ] || skip_all "no MPI"
}

# What recording needs …
need_tracer() {
	need_root
	need jq awk
	[ -x "$pov" ] || skip_all "no $pov; run make first"
	[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
}

# … and MPI: $mpis.
need_live() {
	need_tracer
	find_mpis
}

need_program() { # PATH, of a program that make live-programs builds
	[ -x "$1" ] || skip_all "no $1; run make live-programs"
}

# ---- launching ----

launcher() { # MPI RANKS
	case $1 in
	openmpi) echo "mpirun.openmpi -np $2" ;;
	mpich) echo "mpiexec.hydra -n $2" ;;
	esac
}

# record NAME [OPTION…] -- COMMAND…: leaves $T/NAME.{pov,out,err} and the books in $T/NAME.books.
# Every call is recorded, whatever that costs, unless POV_MAX_OVERHEAD says otherwise.
# POV_CAPTURE: by what (record --capture); not set: as record chooses.
record() {
	local name=$1
	shift
	rm -rf "$T/$name".{books,pov,out,err,info.json,dump,tally}
	mkdir -p "$T/$name.books"
	POV_EXPECT=$T/$name.books timeout -k 10 "${POV_LIMIT:-120}" "$pov" record --max-overhead "${POV_MAX_OVERHEAD:-off}" \
		${POV_CAPTURE:+--capture "$POV_CAPTURE"} -o "$T/$name.pov" "$@" >"$T/$name.out" 2>"$T/$name.err" </dev/null
}

# recorded NAME MPI CAPTURE [OPTION…] -- RANKS PROGRAM [ARG…]: like record, but all files of a run share one recording of the same
# words. CAPTURE: auto, preload or probes. RANKS "-": without a launcher. Status: the recording's. The books, facts and tally of NAME
# are there, too; $T/NAME.pov and $T/NAME.dump are links and only to be read. tests/run removes all recordings at its start.
recorded() {
	local name=$1 dir lock status
	shift
	dir=$top/build/recorded/$({ printf '%s\n' "$*"; env | grep -E '^(OMPI|PRTE|UCX|FI|MPI|LD|POV_MAX)[A-Z]*_' | sort; } | sha1sum | cut -c1-16)
	mkdir -p "$top/build/recorded"
	exec {lock}>"$dir.lock"
	flock -w 900 $lock || return 1
	recorded_fresh "$dir" "$programs/$1/$(recorded_program "$@")" || recorded_make "$dir" "$@" {lock}>&-
	exec {lock}>&-
	rm -rf "$T/$name".{books,pov,out,err,info.json,dump,tally}
	cp -a "$dir/run.books" "$T/$name.books"
	for status in out err info.json info.err funcs.tsv ranks.tsv tally; do
		[ ! -e "$dir/run.$status" ] || cp -p "$dir/run.$status" "$T/$name.$status"
	done
	ln -s "$dir/run.pov" "$T/$name.pov"
	ln -s "$dir/run.dump" "$T/$name.dump"
	return "$(cat "$dir/status")"
}

recorded_program() { # MPI CAPTURE [OPTION…] -- RANKS PROGRAM [ARG…]
	while [ "$1" != -- ]; do shift; done
	echo "$3"
}

# Whether there is a recording that is newer than what made it.
recorded_fresh() { # DIR PROGRAM
	local file
	[ -s "$1/status" ] || return
	for file in "$pov" "$(dirname "$pov")/libpovtrace-preload.so" "$2"; do
		[ ! "$file" -nt "$1/status" ] || return
	done
}

recorded_make() { # DIR MPI CAPTURE [OPTION…] -- RANKS PROGRAM [ARG…]
	local T=$1 mpi=$2 POV_CAPTURE=$3 options=() launch='' status
	shift 3
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ "$2" = - ] || launch=$(launcher "$mpi" "$2")
	rm -rf "$T"
	mkdir "$T"
	# shellcheck disable=SC2086 # words
	record run ${options[@]+"${options[@]}"} -- $launch "$programs/$mpi/$3" "${@:4}"
	status=$?
	facts run && tally_trace run >"$T/tally" && mv "$T/tally" "$T/run.tally"
	echo $status >"$T/status"
}

# in_background NAME COMMAND…: $! is its pid; what it prints is in $T/NAME.{out,err}.
in_background() {
	rm -f "$T/$1".{out,err} # an earlier command's output may match what the test waits for
	"${@:2}" >"$T/$1.out" 2>"$T/$1.err" </dev/null &
	started+=($!)
}

# watch NAME OPTION…: starts a recording in the background and waits until it says that its probes are live.
watch() {
	local name=$1
	shift
	rm -f "$T/$name".{pov,info.json,dump,tally}
	in_background "$name" "$pov" record --max-overhead "${POV_MAX_OVERHEAD:-off}" -o "$T/$name.pov" "$@"
	tracer=$!
	wait_until 120 grep -q "^povtrace: recording " "$T/$name.err"
}

# begin [OPTION…] -- COMMAND…: starts a recording of a service as a terminal would, in a group of processes of its own ($tracer), and
# waits until the service is under way.
begin() {
	rm -f "$T/run".{pov,info.json,dump,tally}
	in_background run setsid env --default-signal=INT "$pov" record -o "$T/run.pov" "$@"
	tracer=$!
	wait_until 120 grep -q '^service' "$T/run.out"
}

stop_recording() { # of watch or begin, as ctrl-C does. Status: its own.
	kill -INT "$tracer"
	wait "$tracer"
}

stop_recorded() { # the service of begin; its ranks' pids are in what they said. Status: that of the recording.
	kill -TERM $(awk '/^service/ { print $3 }' "$T/run.out")
	wait "$tracer"
}

# serve NAME MPI [RANKS]: starts a job of two ranks that runs until it is told to stop (tests/mpi/service.c). Its pids are,
# by rank, in $T/NAME.pids, its launcher in ${jobs_of[NAME]}, its books in $T/NAME.books.
declare -A jobs_of
serve() {
	rm -rf "$T/$1".{books,said,pids}
	mkdir -p "$T/$1.books"
	touch "$T/$1.said"
	POV_EXPECT=$T/$1.books $(launcher "$2" "${3-2}") "$programs/$2/service" >>"$T/$1.said" 2>&1 </dev/null &
	jobs_of[$1]=$!
	started+=($!)
	wait_until 120 awk -v ranks="${3-2}" '/^service/ { n++ } END { exit n != ranks }' "$T/$1.said"
	awk '/^service/' "$T/$1.said" | sort -k2n | awk '{ print $3 }' >"$T/$1.pids"
	mapfile -t -O ${#started[@]} started <"$T/$1.pids"
}

# between_marks NAME…: lets each rank make at least a hundred calls that its books have, and no more after that.
between_marks() {
	local name
	for name; do kill -USR1 $(cat "$T/$name.pids"); done
	for name; do wait_until 120 services_say "$name" busy; done
	for name; do kill -USR2 $(cat "$T/$name.pids"); done
	for name; do wait_until 120 services_say "$name" rests; done
}

services_say() { # NAME WORD: whether each of its ranks has said this
	[ "$(grep -c "^$2 " "$T/$1.said")" = "$(wc -l <"$T/$1.pids")" ]
}

# stop_services NAME…: tells them to stop and waits; status is the last one's.
stop_services() {
	local name
	for name; do
		kill -TERM $(ours $(cat "$T/$name.pids")) 2>/dev/null
		wait "${jobs_of[$name]}"
	done
}

# Waits up to SECONDS until COMMAND succeeds.
wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# A group of processes of this test's own, $group, in the first version of groups or the second. Both fail where none can be made.
cpu_group() { # which may use a fifth of a CPU
	local groups=/sys/fs/cgroup file=cpu.max quota="20000 100000"
	[ ! -w $groups/cpu/cpu.cfs_quota_us ] || groups=/sys/fs/cgroup/cpu file=cpu.cfs_quota_us quota=20000
	group=$groups/povtrace-$$
	{ mkdir "$group" && echo "$quota" >"$group/$file"; } 2>/dev/null
}
memory_group() { # $limit and $peak are its files
	local groups=/sys/fs/cgroup/memory
	limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
	[ -e $groups/$limit ] || groups=/sys/fs/cgroup limit=memory.max peak=memory.peak
	group=$groups/povtrace-$$
	mkdir "$group" 2>/dev/null && [ -w "$group/$limit" ]
}

# Before Linux 6.6 the kernel removes probes in the background, and inserting others may have to wait for that. This waits for the end.
closers_gone() { wait_until "${1:-120}" sh -c '! pgrep -x povtrace-close >/dev/null'; }

. "$top/tests/live/books.sh"
