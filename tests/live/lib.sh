# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the live tests share: TAP, launching MPI programs under povtrace, and comparing what the tracer
# says with the books the programs kept (tests/mpi/expect.h). Sourced with bash by every *.test, which ends
# with `finish`. Each test file gets a directory $T of its own, gone at the end unless POV_KEEP is set.
set -u
export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
pov=${POVTRACE:-$top/build/povtrace}
programs=$top/build/mpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none

T=$(mktemp -d)
started=() # processes of ours that may still be alive at the end

at_exit() {
	local pid
	for pid in ${started[@]+"${started[@]}"}; do kill -9 "$pid" 2>/dev/null; done
	mountpoint -q "$T/small" && umount "$T/small"
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
	head -n "${2:-30}" | sed 's/^/# /'
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

# ---- what is needed ----

need_root() { [ "$(id -u)" = 0 ] || skip_all "needs root"; }
need() { # TOOL…
	local tool
	for tool; do command -v "$tool" >/dev/null || skip_all "needs $tool"; done
}

# The MPIs that are here and that the programs were built for.
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

need_live() {
	need_root
	need jq awk
	[ -x "$pov" ] || skip_all "no $pov; run make first"
	[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
	find_mpis
}

# ---- launching ----

launcher() { # MPI RANKS
	case $1 in
	openmpi) echo "mpirun.openmpi -np $2" ;;
	mpich) echo "mpiexec.hydra -n $2" ;;
	esac
}

# record NAME [OPTION…] -- COMMAND…: leaves $T/NAME.{pov,out,err} and the books in $T/NAME.books.
record() {
	local name=$1
	shift
	rm -rf "$T/$name.books"
	mkdir -p "$T/$name.books"
	POV_EXPECT=$T/$name.books timeout -k 10 "${POV_LIMIT:-120}" "$pov" record -o "$T/$name.pov" "$@" \
		>"$T/$name.out" 2>"$T/$name.err" </dev/null
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

# ---- what the trace says ----

# Facts of a trace, made once a trace: info.json, funcs.tsv (id, name), ranks.tsv (pid, rank).
facts() {
	local f=$T/$1
	[ -s "$f.info.json" ] && [ ! "$f.pov" -nt "$f.info.json" ] && return
	"$pov" info --json "$f.pov" >"$f.info.json" 2>"$f.info.err" || return 1
	"$pov" info --dump "$f.pov" >"$f.dump" 2>>"$f.info.err"
}

# Calls the programs made themselves, by rank and function: rank, function, calls, empty polls, cut short.
tally_trace() { # NAME
	facts "$1" || return 1
	awk -v OFS='\t' '
		FILENAME ~ /funcs.tsv$/ { name[$1] = $2; next }
		FILENAME ~ /ranks.tsv$/ { rank[$1] = $2; next }
		$1 != "call" && $1 != "spin" { next }
		{
			delete v
			for (i = 2; i <= NF; i++) { p = index($i, "="); v[substr($i, 1, p - 1)] = substr($i, p + 1) }
			if (v["depth"] != 0) next
			who = v["tgid"] in rank ? rank[v["tgid"]] : "pid" v["tgid"]
		}
		$1 == "call" {
			key = who OFS name[v["func"]]
			calls[key]++
			if (v["flags"] ~ /open|unwound/) cut[key]++
		}
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

# counts_match TEXT NAME [FILTER]: every call once, none invented.
counts_match() {
	tally_trace "$2" >"$T/$2.got" || { cat "$T/$2.info.err" "$T/$2.err" | not_ok "$1: counts"; return; }
	tally_books "$2" "${3-}" >"$T/$2.wanted"
	[ -s "$T/$2.wanted" ] || { cat "$T/$2.err" "$T/$2.out" | not_ok "$1: the program kept no books"; return; }
	same "$1: $(awk -F'\t' '{ n += $3 } END { print n }' "$T/$2.wanted") calls, each seen once" \
		"$T/$2.got" "$T/$2.wanted"
}

# nothing_lost TEXT NAME
nothing_lost() {
	facts "$2" || { cat "$T/$2.info.err" | not_ok "$1: nothing lost"; return; }
	lost_of "$2" >"$T/$2.lost"
	if [ -s "$T/$2.lost" ]; then not_ok "$1: nothing lost" <"$T/$2.lost"; else ok "$1: nothing lost"; fi
}

# The MPI library a program was linked with: its file, and the name it is looked for by.
library_of() { readlink -f "$(soname_of "$1")"; }
soname_of() { ldd "$1" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }'; }

# jq condition on the books' lines: functions that are recorded unless asked otherwise.
default_functions="(.fn | IN($(sed -n 's/^POV_MPI(\([A-Za-z_]*\), [a-z_]*, [A-Z_| ]*LOCAL.*/"\1"/p' \
	"$top/bpf/mpi.def" | paste -sd,))) | not"
