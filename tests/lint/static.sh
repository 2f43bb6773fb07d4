#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# Static checkers: cppcheck for C, shellcheck for scripts. Two checks of cppcheck's are off: gcc and clang define shifts of signed numbers,
# and uninitStructMember takes structs filled by a callee for unset, which compilers judge better.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap.bash

# Versions of cppcheck differ in what they warn of. Only warnings of 2.10 fail; those of others are printed.
if command -v cppcheck >/dev/null; then
	# The bytes of the BPF programs would take most of its time.
	mkdir -p build/cppcheck/gen
	for f in build/gen/*.skel.h; do
		[ -e "$f" ] && sed '/^\\.*\\$/d' "$f" >"build/cppcheck/gen/${f##*/}"
	done
	version=$(cppcheck --version | grep -oE '[0-9]+\.[0-9]+')
	found=$(cppcheck -q -j2 --cppcheck-build-dir=build/cppcheck --std=c11 \
		--enable=warning,performance,portability --inline-suppr -D_GNU_SOURCE -D__cppcheck__ -Iuser -Ibpf -Ibuild/cppcheck/gen -Ibuild/gen \
		--suppress=missingInclude --suppress=missingIncludeSystem --suppress=unknownMacro \
		--suppress=normalCheckLevelMaxBranches --suppress=shiftTooManyBitsSigned \
		--suppress=uninitStructMember \
		--template='{file}:{line}: {severity}: {id}: {message}' user bench/*.c tests/tool 2>&1)
	if [ "$version" = 2.10 ]; then
		check "cppcheck" "$found"
	else
		printf '%s\n' "$found" | sed 's/^/# /'
		skip "cppcheck" "version 2.10 judges, here is $version"
	fi
else
	skip "cppcheck" "not installed"
fi

if command -v shellcheck >/dev/null; then
	scripts=$(for f in $(tree_files .ci tests bench viz); do
		head -n 1 "$f" | grep -qE '^#!.*\b(ba)?sh\b' && echo "$f"
	done)
	# SC2086, SC2046: lists of words are kept in variables and split on purpose. SC1091, SC2154: what is sourced is not followed.
	check "shellcheck" "$(shellcheck -f gcc -S warning -e SC2086,SC2046,SC1091,SC2154 $scripts)"
else
	skip "shellcheck" "not installed"
fi
# The limit of Linux 6.1, which this kernel may not have: "combined stack size of N calls is M. Too large".
if command -v llvm-objdump >/dev/null && [ -e build/bpf/povtrace.linked.o ]; then
	ways=$(tests/tool/bpf_stack build/bpf/povtrace.linked.o)
	check "stacks of BPF programs, 512 bytes at most" "$(awk '$1 > 512' <<<"$ways"; [ -n "$ways" ] || echo "no program was found")"
else
	skip "stacks of BPF programs, 512 bytes at most" "no llvm-objdump, or not built"
fi

finish
