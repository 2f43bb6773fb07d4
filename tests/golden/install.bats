#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# make install: what help and README refer to is there, and make uninstall takes all of it away.

setup_file() {
	export root=$BATS_FILE_TMPDIR/root
	unset MAKEFLAGS MAKELEVEL POVTRACE BUILD
	make -s -C "$BATS_TEST_DIRNAME/../.." install DESTDIR="$root" PREFIX=/usr/local >&2
}

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	unset MAKEFLAGS MAKELEVEL POVTRACE BUILD
	doc=$root/usr/local/share/doc/povtrace
}

@test "install: every program has its manual page and its completion" {
	for program in povtrace povbench povplot; do
		[ -x "$root/usr/local/bin/$program" ] || continue # povbench needs an MPI
		[ -s "$root/usr/local/share/man/man1/$program.1" ]
		"$root/usr/local/bin/$program" --version | grep -q "^$program "
		bash -uc '. "$1" && complete -p "$2"' - "$root/usr/local/share/bash-completion/completions/$program" $program
	done
	if [ -x "$root/usr/local/bin/povbench" ]; then
		for program in povbench-run povbench-algorithms; do
			"$root/usr/local/bin/$program" --help | grep -q "^Usage: $program "
			[ -s "$root/usr/local/share/man/man1/$program.1" ]
		done
		[ -s "$root/usr/local/share/man/man1/povbench-compare.1" ]
	fi
	[ -x "$root/usr/local/bin/povtrace" ]
	[ -x "$root/usr/local/bin/povplot" ]
}

@test "install: the documents that help and README name" {
	for command in record report export info check; do
		"$root/usr/local/bin/povtrace" help $command
	done | tr -s '\n ' ' ' | grep -o 'kmod-docs/[A-Z_]*\.md' >"$BATS_TEST_TMPDIR/named"
	grep -q REPORT "$BATS_TEST_TMPDIR/named"
	grep -oE '\]\([^):]*\)' "$doc/README.md" | tr -d ']()' | sed 's/#.*//' >>"$BATS_TEST_TMPDIR/named"
	while read -r name; do
		[ -e "$doc/$name" ] || { echo "$name is not installed"; return 1; }
	done <"$BATS_TEST_TMPDIR/named"
}

@test "install: the queries for Perfetto" {
	[ "$(ls "$root/usr/local/share/povtrace/sql")" = "$(ls viz/sql)" ]
}

@test "uninstall leaves no file" {
	make -s uninstall DESTDIR="$root" PREFIX=/usr/local
	run find "$root" ! -type d
	[ -z "$output" ]
}
