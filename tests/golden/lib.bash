# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What the golden tests share.

# To be called by setup(): works in the test's own directory, and makes traces from text with "$make".
begin() {
	data=$BATS_TEST_DIRNAME/../data
	tool=$BATS_TEST_DIRNAME/../tool
	build=${BUILD:-build}
	[ "${build:0:1}" = / ] || build=$BATS_TEST_DIRNAME/../../$build
	make=$build/tests/povmake
	[ -x "$make" ] || skip "no $make; run make tools"
	cd "$BATS_TEST_TMPDIR"
}

need() {
	for program; do
		command -v "$program" >/dev/null || skip "no $program here"
	done
}

# Carries out each example in the help of COMMAND, and then CHECK, to which it is $line, and what it printed the file said.
each_example() { # COMMAND CHECK
	povtrace() { "$POVTRACE" "$@"; }
	povtrace help "$1" | sed -n "s/^  *\(povtrace $1 .*\)/\1/p" >examples
	[ "$(wc -l <examples)" -ge 3 ]
	while read -r line; do
		echo "$line"
		eval "set -o pipefail; $line" >said
		"$2"
	done <examples
}
