#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# clang-format changes no source. Its versions differ in details; version 14 decides.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap.bash

major=$(clang-format --version 2>/dev/null | grep -oE 'version [0-9]+' | grep -oE '[0-9]+')
if [ "$major" != 14 ]; then
	skip "clang-format" "version 14 judges, here is ${major:-none}"
	finish
fi
bad=$(tree_files '*.c' '*.h' | xargs clang-format --dry-run --Werror --ferror-limit=1 2>&1 |
	sed -nE 's/^([^ :]*):[0-9]*:.*/\1: not formatted (make format)/p' | sort -u)
check "clang-format" "$bad"
finish
