# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What the golden tests of povbench and povplot share.
load lib
POVPLOT=${POVTRACE%/*}/povplot

# Finds povbench. Any MPI's will do, as no test gets as far as MPI_Init.
find_povbench() {
	for mpi in openmpi mpich; do
		POVBENCH=$BATS_TEST_DIRNAME/../../build/povbench/$mpi/povbench
		[ ! -x "$POVBENCH" ] || return 0
	done
	skip "no build/povbench/<mpi>/povbench; run make povbench"
}

# refuses STATUS MESSAGE COMMAND...: ends with that status, has the message on stderr and nothing on stdout.
refuses() {
	local status=$1 message=$2 got=0
	shift 2
	"$@" >out 2>err || got=$?
	[ "$got" = "$status" ] || { echo "status $got: $*"; cat out err; return 1; }
	[ ! -s out ]
	grep -qF -- "$message" err || { cat err; return 1; }
}

# A block of data of a gnuplot script on stdin: the lines between "$NAME << …" and its end.
block() { awk -v head="\$$1 << " 'on && $0 == end {exit} on {print} index($0, head) == 1 {on = 1; end = $3}'; }
