#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Live tests on another kernel. Usage: kernel.sh [-r] SERIES TEST…: TESTs are files below tests/, which run in one machine. Reports their
# results here, each under its file's name. -r: with an RDMA adapter (run_vm.sh).
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
adapter=()
[ "$1" != -r ] || { adapter=(-r) && shift; }
series=$1
shift
cd "$top" || exit 1

skip_all() {
	echo "1..0 # SKIP $*"
	echo "# $*"
	exit 77
}

[ "$(id -u)" = 0 ] || skip_all "needs root, to share the host's files with the guest"
[ -x build/povtrace ] || skip_all "no build/povtrace; run make first"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Waiting for all CPUs takes long on an emulated processor, so grace periods are expedited.
cat >"$out/all" <<'GUEST'
echo "# $(uname -rv)"
echo 1 >/sys/kernel/rcu_expedited
for t; do
	echo "# file ${t##*/}"
	POV_LIMIT=400 bash "tests/$t" 2>&1
	echo "# status $?"
done
GUEST
"$here/run_vm.sh" -k "$series" ${adapter[@]+"${adapter[@]}"} -t "${POV_VM_LIMIT:-2400}" -o "$out" -- bash /mnt/out/all "$@" >"$out/tap" 2>"$out/err"
status=$?
if [ $status = 126 ]; then
	skip_all "$(tail -1 "$out/err")"
fi
awk '
	/^# file / { file = $3; seen = planned = 0; open = 1; next }
	/^# status / {
		open = 0
		if ($3 == 77)
			printf "ok %d - %s # SKIP %s\n", ++n, file, last
		else if (seen != planned || $3 > 1)
			printf "not ok %d - %s: %d of %d tests ran, status %s\n", ++n, file, seen, planned, $3
		next
	}
	/^1\.\.[0-9]/ { planned = substr($1, 4); next }
	/^(not )?ok / {
		seen++
		sub(/ok [0-9]+ - /, "ok " (++n) " - " file ": ")
	}
	{ print; last = $0; sub(/^# /, "", last) }
	END {
		if (open) printf "not ok %d - %s did not end\n", ++n, file
		print "1.." n
	}
' "$out/tap" >"$out/numbered"
cat "$out/numbered"
if [ $status != 0 ]; then
	sed 's/^/# /' "$out/err"
	exit 1
fi
! grep -q '^not ok' "$out/numbered"
