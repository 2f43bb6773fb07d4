#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What all subcommands have in common: help, version, wrong usage, the manual, completion.

load lib

commands() {
	"$POVTRACE" help | sed -n '/^Commands:/,/^$/p' | awk '/^  / && $1 != "help" {print $1}'
}

@test "version" {
	run -0 "$POVTRACE" --version
	[[ $output =~ ^povtrace\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "nothing asked: help on stderr, status 2" {
	run -2 bash -c '"$POVTRACE" 2>/dev/null'
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
	fails 2 'did you mean "help"?' "$POVTRACE" hepl
	fails 2 '"povtrace help" lists them' "$POVTRACE" zzzzzz
}

@test "an unknown option is refused with the nearest name, status 2, nothing on stdout" {
	for c in $(commands); do
		fails 2 "$c: no option --hlep; did you mean --help?" bash -c '"$POVTRACE" "$1" --hlep 2>&1 >/dev/null' - "$c"
		[[ $output == *"povtrace help $c"* ]]
	done
}

@test "an option in front of the command is not taken silently" {
	run -2 "$POVTRACE" --output x info
}

@test "a stdout that cannot be written is a failure" {
	[ -e /dev/full ] || skip "no /dev/full"
	for words in --version help; do
		fails 1 "stdout: No space left on device" bash -c '"$POVTRACE" $1 >/dev/full' - "$words"
	done
	run -1 bash -c '"$POVTRACE" --version >&-'
}

@test "quiet keeps errors" {
	fails 2 "did you mean" "$POVTRACE" -q hepl
}

@test "manual pages are good roff" {
	command -v groff >/dev/null || skip "groff is not installed"
	for c in "" $(commands); do
		"$POVTRACE" --man $c >"$BATS_TEST_TMPDIR/page.1"
		run -0 groff -Kutf8 -man -ww -z -Tutf8 "$BATS_TEST_TMPDIR/page.1"
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

@test "completion knows the groups of --mpi, and help lists them" {
	"$POVTRACE" --completion >"$BATS_TEST_TMPDIR/completion"
	run bash -uc '
		. "$1"
		COMP_WORDS=(povtrace record --mpi "") COMP_CWORD=3
		_povtrace
		echo "${COMPREPLY[*]}"' - "$BATS_TEST_TMPDIR/completion"
	[ "$status" = 0 ]
	groups="$(sed -n 's/^POV_FUNC([A-Za-z_]*, \([a-z0-9_]*\),.*/\1/p' "$BATS_TEST_DIRNAME/../../bpf/mpi.def" |
		sort -u) default local all"
	"$POVTRACE" help record | tr -s '\n ' ' ' | grep -o 'There are: [^.]*' | tr -d , >"$BATS_TEST_TMPDIR/help"
	for group in $groups; do
		[[ " $output " == *" $group "* ]] || { echo "completion: no $group"; return 1; }
		grep -qw -- "$group" "$BATS_TEST_TMPDIR/help" || { echo "help: no $group"; return 1; }
	done
}

@test "every choice of every option is in the help" {
	for c in $(commands); do
		"$POVTRACE" --completion | sed -n "/^\t$c)/,/esac/p" | sed -n "s/.*--\([a-z-]*\).*) words='\(..*\)' ;;/\1 \2/p" \
			>"$BATS_TEST_TMPDIR/choices"
		[ "$c" != record ] || [ "$(wc -l <"$BATS_TEST_TMPDIR/choices")" -ge 3 ]
		"$POVTRACE" help "$c" | tr -s '\n ' ' ' >"$BATS_TEST_TMPDIR/help"
		while read -r option choices; do
			for choice in $choices; do
				grep -qE -- "--$option [A-Z].*(One of|There are):[^.]*\b$choice\b" "$BATS_TEST_TMPDIR/help" ||
					{ echo "$c: --$option: $choice"; return 1; }
			done
		done <"$BATS_TEST_TMPDIR/choices"
	done
}

@test "check without privileges says what it cannot try, and nothing false" {
	run=("$POVTRACE")
	if [ "$(id -u)" = 0 ]; then
		command -v setpriv >/dev/null || skip "setpriv is not installed"
		run=(setpriv --reuid 54321 --regid 54321 --clear-groups "$POVTRACE")
		"${run[@]}" --version || skip "another user may not run $POVTRACE"
	fi
	run -1 "${run[@]}" check
	[[ $output != *"needs Linux"* ]]
	[[ $output != *"do not load"* ]]
	[[ $output == *"  ?     BPF ring buffer"*"without privileges"* ]]
	[[ $output == *"brary that can be recorded"* || $output == *"Libraries that can be recorded, by layer:"* ]]
	[ "$(grep -c '^  NO ' <<<"$output")" -le 2 ] # privilege; and BTF, where there is none
	[[ ${lines[${#lines[@]} - 1]} == *"sudo povtrace check" ]]
}

@test "export under sudo writes as the user who typed it" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	begin
	dir=$(mktemp -d)
	chmod 755 "$dir"
	mkdir "$dir/theirs"
	chown 54321:54322 "$dir/theirs"
	"$make" "$data/export_run.txt" "$dir/run.pov"
	echo "root's" >"$dir/secret.json"
	chmod 600 "$dir/secret.json"
	ln -s "$dir/secret.json" "$dir/theirs/link.json"
	under_sudo() { SUDO_UID=54321 SUDO_GID=54322 "$POVTRACE" export "$dir/run.pov" -o "$@"; }
	under_sudo "$dir/theirs/run.json"
	[ "$(stat -c %u:%g "$dir/theirs/run.json")" = 54321:54322 ]
	run under_sudo "$dir/theirs/run.json"
	[[ $output == *"run.json existed and was replaced"* ]]
	under_sudo "$dir/theirs/link.json"
	fails 1 "cannot create $dir/secret.json as uid 54321: Permission denied" under_sudo "$dir/secret.json"
	[ "$(cat "$dir/secret.json")" = "root's" ]
	[ "$(stat -c %u:%a "$dir/secret.json")" = 0:600 ]
	[ "$(ls "$dir")" = "$(printf '%s\n' run.pov secret.json theirs)" ]
	rm -r "$dir"
}
