# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What the golden tests of povbench and povplot share.
bats_require_minimum_version 1.5.0

tool=$BATS_TEST_DIRNAME/../tool
POVPLOT=${POVTRACE%/*}/povplot

# To be called by setup(): works in the test's own directory, which begins with the files that setup_file() made in
# $BATS_FILE_TMPDIR.
begin() {
	cd "$BATS_TEST_TMPDIR"
	cp -r "$BATS_FILE_TMPDIR"/. .
}

need() {
	for program; do
		command -v "$program" >/dev/null || skip "no $program here"
	done
}

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

# help_fits FILE: is within 80 columns; examples and usage are not broken.
help_fits() { awk '!/^  [^ -]/ && !/^Usage/ && length > 80 {print; bad = 1} END {exit bad}' "$1"; }

# help_is_good FILE: fits, and its examples have options that exist.
help_is_good() {
	local o
	help_fits "$1" || return
	for o in $(sed -n '/^Examples:/,$p' "$1" | grep -oE '^  [^ ].*' | sed 's/.*pov\(bench\|plot\)//' |
		grep -oE ' --?[a-z][a-z-]*' | sort -u); do
		sed '/^Examples:/,$d' "$1" | grep -qE "^ .*(^|[ ,])$o\b" || { echo "no option $o"; return 1; }
	done
}

# page_is_good TEXT COMMAND...: prints a manual page of good roff that has the text.
page_is_good() {
	need groff
	"${@:2}" >page.1
	run -0 groff -Kutf8 -man -ww -z -Tutf8 page.1
	[ -z "$output" ]
	groff -Kutf8 -man -Tutf8 -P-c page.1 | tr -s ' \n' ' ' | grep -qF -- "$1"
}

# disk_is_full STATUS COMMAND...: cannot write its stdout, and says so.
disk_is_full() {
	[ -e /dev/full ] || skip "no /dev/full"
	run "-$1" bash -c '"$@" >/dev/full' - "${@:2}"
	[[ $output == *"stdout: No space left on device"* ]]
}

# options_of FILE: the long options that a help text has.
options_of() { sed '/^Examples:/,$d' "$1" | grep -oE '^ .*  --[a-z-]+|^  -., --[a-z-]+' | grep -oE -- '--[a-z-]+'; }

# A block of data of a gnuplot script on stdin: the lines between "$NAME << …" and its end.
block() { awk -v head="\$$1 << " 'on && $0 == end {exit} on {print} index($0, head) == 1 {on = 1; end = $3}'; }
