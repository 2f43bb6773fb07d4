#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What all subcommands have in common: help, version, wrong usage, the manual, completion.

commands() {
	"$POVTRACE" help | sed -n '/^Commands:/,/^$/p' | awk '/^  / && $1 != "help" {print $1}'
}

@test "version" {
	run "$POVTRACE" --version
	[ "$status" = 0 ]
	[[ $output =~ ^povtrace\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "nothing asked: help on stderr, status 2" {
	run bash -c '"$POVTRACE" 2>/dev/null'
	[ "$status" = 2 ]
	[ -z "$output" ]
}

@test "help, --help and -h say the same" {
	"$POVTRACE" help >"$BATS_TEST_TMPDIR/a"
	"$POVTRACE" --help >"$BATS_TEST_TMPDIR/b"
	"$POVTRACE" -h >"$BATS_TEST_TMPDIR/c"
	cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/c"
}

@test "every command explains itself with three examples or more, within 80 columns" {
	[ "$("$POVTRACE" help | awk 'length > 80' | wc -l)" = 0 ]
	for c in $(commands); do
		"$POVTRACE" help "$c" >"$BATS_TEST_TMPDIR/help"
		"$POVTRACE" "$c" --help | cmp - "$BATS_TEST_TMPDIR/help"
		grep -q "^Usage: povtrace $c" "$BATS_TEST_TMPDIR/help"
		[ "$(sed -n '/^Examples:/,$p' "$BATS_TEST_TMPDIR/help" | grep -c '^  [^ ]')" -ge 3 ]
		# Examples and usage are not broken: they are to be copied.
		awk '!/^  [^ -]/ && !/^Usage/ && length > 80 {print FILENAME ": " $0; bad = 1} END {exit bad}' \
			"$BATS_TEST_TMPDIR/help"
	done
}

@test "the examples name only options that exist" {
	for c in $(commands); do
		"$POVTRACE" help "$c" >"$BATS_TEST_TMPDIR/help"
		for o in $(sed -n '/^Examples:/,$p' "$BATS_TEST_TMPDIR/help" | grep "^  .*povtrace $c" | sed 's/ -- .*//' |
			grep -oE ' --?[a-z][a-z-]*' | sort -u); do
			sed '/^Examples:/,$d' "$BATS_TEST_TMPDIR/help" | grep -qE "^ .*(^|[ ,])$o\b" ||
				{ echo "$c: $o"; return 1; }
		done
	done
}

@test "an unknown command is refused with the nearest name" {
	run "$POVTRACE" hepl
	[ "$status" = 2 ]
	[[ $output == *'did you mean "help"?'* ]]
	run "$POVTRACE" zzzzzz
	[ "$status" = 2 ]
	[[ $output == *'"povtrace help" lists them'* ]]
}

@test "an unknown option is refused with the nearest name, status 2, nothing on stdout" {
	for c in $(commands); do
		run bash -c '"$POVTRACE" "$1" --hlep 2>&1 >/dev/null' - "$c"
		[ "$status" = 2 ]
		[[ $output == *"$c: no option --hlep; did you mean --help?"* ]]
		[[ $output == *"povtrace help $c"* ]]
	done
}

@test "an option in front of the command is not taken silently" {
	run "$POVTRACE" --output x info
	[ "$status" = 2 ]
}

@test "a stdout that cannot be written is a failure" {
	[ -e /dev/full ] || skip "no /dev/full"
	for words in --version help; do
		run bash -c '"$POVTRACE" $1 >/dev/full' - "$words"
		[ "$status" = 1 ]
		[[ $output == *"stdout: No space left on device"* ]]
	done
	run bash -c '"$POVTRACE" --version >&-'
	[ "$status" = 1 ]
}

@test "quiet keeps errors" {
	run "$POVTRACE" -q hepl
	[ "$status" = 2 ]
	[[ $output == *"did you mean"* ]]
}

@test "manual pages are good roff" {
	command -v groff >/dev/null || skip "groff is not installed"
	for c in "" $(commands); do
		"$POVTRACE" --man $c >"$BATS_TEST_TMPDIR/page.1"
		run groff -Kutf8 -man -ww -z -Tutf8 "$BATS_TEST_TMPDIR/page.1"
		[ "$status" = 0 ]
		[ -z "$output" ] || { echo "$c: $output"; return 1; }
		groff -Kutf8 -man -Tutf8 -P-c "$BATS_TEST_TMPDIR/page.1" | grep -q "povtrace${c:+-$c} - "
	done
}

@test "completion knows commands, options and choices" {
	"$POVTRACE" --completion >"$BATS_TEST_TMPDIR/completion"
	run bash -uc '
		. "$1"
		COMP_WORDS=(povtrace he) COMP_CWORD=1
		_povtrace
		echo "${COMPREPLY[*]}"' - "$BATS_TEST_TMPDIR/completion"
	[ "$status" = 0 ]
	[ "$output" = help ]
	for c in $(commands); do
		run bash -uc '
			. "$1"
			COMP_WORDS=(povtrace "$2" --) COMP_CWORD=2
			_povtrace
			echo "${COMPREPLY[*]}"' - "$BATS_TEST_TMPDIR/completion" "$c"
		[ "$status" = 0 ]
		for o in $("$POVTRACE" help "$c" | sed '/^Examples:/,$d' | grep -oE '^ .*  --[a-z-]+|^  -., --[a-z-]+' |
			grep -oE -- '--[a-z-]+'); do
			[[ " $output " == *" $o "* ]] || { echo "$c: $o: $output"; return 1; }
		done
	done
}
