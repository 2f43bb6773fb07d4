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

@test "no arguments: help on stderr, status 2" {
	run -2 --separate-stderr "$POVTRACE"
	[ -z "$output" ]
}

@test "help, --help and -h print the same text; the help of every command has examples whose options exist" {
	"$POVTRACE" help >help
	"$POVTRACE" --help | cmp - help
	"$POVTRACE" -h | cmp - help
	[ "$(awk 'length > 80' help | wc -l)" = 0 ]
	for c in $(commands); do
		"$POVTRACE" help "$c" >help
		"$POVTRACE" "$c" --help | cmp - help
		grep -q "^Usage: povtrace $c" help
		help_is_good help || { echo "$c"; return 1; }
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

@test "an option before the command is not ignored silently" {
	run -2 "$POVTRACE" --output x info
}

@test "a stdout that cannot be written is a failure" {
	for word in --version help; do
		disk_is_full 1 "$POVTRACE" $word
	done
	run -1 bash -c '"$POVTRACE" --version >&-'
}

@test "--quiet still shows errors" {
	fails 2 "did you mean" "$POVTRACE" -q hepl
}

@test "manual pages are valid roff" {
	for c in "" $(commands); do
		page_is_good "povtrace${c:+-$c} - " "$POVTRACE" --man $c
	done
}

@test "completion knows commands, options and the groups of --mpi, which help lists, too" {
	"$POVTRACE" --completion >completion
	[ "$(completes povtrace he)" = help ]
	for c in $(commands); do
		offered=$(completes povtrace "$c" --)
		"$POVTRACE" help "$c" >help
		for o in $(options_of help); do
			[[ " $offered " == *" $o "* ]] || { echo "$c: $o: $offered"; return 1; }
		done
	done
	offered=$(completes povtrace record --mpi "")
	"$POVTRACE" help record | tr -s '\n ' ' ' | grep -o 'There are: [^.]*' | tr -d , >help
	"$here/../tool/table_rows" "$here/../../user/layers/mpi/mpi.def" >rows
	for group in $(sed -n 's/^POV_FUNC([A-Za-z_]*, \([a-z0-9_]*\),.*/\1/p' rows | sort -u) default local all; do
		[[ " $offered " == *" $group "* ]] || { echo "completion: no $group"; return 1; }
		grep -qw -- "$group" help || { echo "help: no $group"; return 1; }
	done
}

@test "every choice of every option is in the help" {
	for c in $(commands); do
		"$POVTRACE" --completion | sed -n "/^\t$c)/,/esac/p" | sed -n "s/.*--\([a-z-]*\).*) words='\(..*\)' ;;/\1 \2/p" \
			>choices
		[ "$c" != record ] || [ "$(wc -l <choices)" -ge 3 ]
		"$POVTRACE" help "$c" | tr -s '\n ' ' ' >help
		while read -r option choices; do
			for choice in $choices; do
				grep -qE -- "--$option [A-Z].*(One of|There are):[^.]*\b$choice\b" help ||
					{ echo "$c: --$option: $choice"; return 1; }
			done
		done <choices
	done
}

@test "without privileges: check lists what it cannot try, and claims nothing false; record prints one error" {
	run=("$POVTRACE")
	if [ "$(id -u)" = 0 ]; then
		command -v setpriv >/dev/null || skip "setpriv is not installed"
		run=(setpriv --reuid 54321 --regid 54321 --clear-groups "$POVTRACE")
		"${run[@]}" --version || skip "another user may not run $POVTRACE"
	fi
	run -1 "${run[@]}" check
	[[ $output != *"needs Linux"* ]]
	[[ $output != *"do not load"* ]]
	[[ $output == *"  ?     BPF ring buffer"*"unknown without root"* ]]
	[[ $output == *"brary that can be recorded"* || $output == *"Libraries that can be recorded, by layer:"* ]]
	[ "$(grep -c '^  NO ' <<<"$output")" -le 2 ] # privilege; and BTF, where there is none
	[[ ${lines[${#lines[@]} - 1]} == *"sudo povtrace check" ]]
	cd "$BATS_TEST_TMPDIR" && chmod 777 .
	run -1 "${run[@]}" record -- true
	[ "$output" = "povtrace: recording needs root to load BPF programs: run it with sudo" ]
}

@test "export under sudo writes files of the user who ran sudo" {
	[ "$(id -u)" = 0 ] || skip "needs root"
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
