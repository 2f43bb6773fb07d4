#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# make install: all that help and README refer to is installed, and make uninstall removes it. sudo make demo: no file is left that belongs
# to root.

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

@test "install: the schemas of the JSON" {
	for name in report scaling diff; do
		grep -q '"$schema"' "$doc/$name.schema.json"
	done
}

@test "uninstall leaves no file" {
	make -s uninstall DESTDIR="$root" PREFIX=/usr/local
	run find "$root" ! -type d
	[ -z "$output" ]
}

# demo_as USER: sudo make demo of that user in a clone of its own, $clone. The build is a file; what is recorded is another.
demo_as() {
	clone=$BATS_TEST_TMPDIR/clone
	mkdir -p "$clone/.ci"
	cp Makefile "$clone"
	ln -s "$PWD"/{bench,bpf,kmod-docs,tests,user,viz} "$clone"
	printf '#!/bin/sh\n' >"$clone/.ci/deps.sh"
	cat >"$clone/.ci/demo.sh" <<-E
		#!/bin/bash
		[ "\$1" = run ] && exec touch build/demo/demo.pov
		. "$PWD/.ci/demo.sh"
	E
	cat >"$clone/make" <<-E
		#!/bin/sh
		case "\$*" in
		*demo-run) exec make -o all demo-run ;;
		*) mkdir -p build/obj && echo >build/obj/main.o && exit \${BUILD_STATUS:-0} ;;
		esac
	E
	chmod +x "$clone"/{make,.ci/*.sh}
	chown -Rh "$1:$1" "$clone"
	SUDO_UID=$1 SUDO_GID=$1 make -s -C "$clone" MAKE=./make demo
}

@test "sudo make demo: all files belong to the user, whether the build succeeds or fails" {
	[ "$(id -u)" = 0 ] || skip "needs root, to give files away"
	demo_as 65534
	[ -e "$clone/build/obj/main.o" ]
	[ -e "$clone/build/demo/demo.pov" ]
	[ -z "$(find "$clone" ! -uid 65534)" ]
	rm -r "$clone"
	BUILD_STATUS=1 run demo_as 65534
	[ "$status" != 0 ]
	clone=$BATS_TEST_TMPDIR/clone
	[ -e "$clone/build/obj/main.o" ]
	[ -z "$(find "$clone" ! -uid 65534)" ]
}
