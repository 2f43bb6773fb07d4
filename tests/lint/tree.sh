#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What every file must have and must not: licence line, one fact in one place, plausible size.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap.bash

sources=$(tree_files '*.c' '*.h' '*.sh' '*.bats' '*.test' '*.f90' '*.f' '*.def' '*.mk' '*.html' '*.css' '*.js' tests/tool/browse Makefile tests/run .ci/run)

check "every source has a licence line" \
	"$(for f in $sources; do head -n 3 "$f" | grep -q 'SPDX-License-Identifier: ' || echo "$f"; done)"

# BPF programs must be under the GPL to use the kernel's helpers.
check "the kernel half is GPL-2.0-only OR BSD-2-Clause" \
	"$(for f in $(tree_files 'bpf/*.bpf.c' 'bpf/*.bpf.h'); do
		head -n 1 "$f" | grep -q 'GPL-2.0-only OR BSD-2-Clause' || echo "$f"
	done)"

check "licence texts are there" "$(for l in LGPL-2.1-only BSD-2-Clause GPL-2.0-only; do
	[ -s "LICENSES/$l.txt" ] || echo "LICENSES/$l.txt"
done)"

# A registered struct is named like its file, since the file names are the registry.
check "commands are named like their files" "$(for f in $(tree_files 'user/cmd/cmd_*.c'); do
	name=$(basename "$f" .c)
	grep -q "^const struct command $name = " "$f" || echo "$f: no const struct command $name"
	grep -q "\.name = \"${name#cmd_}\"" "$f" || echo "$f: not named ${name#cmd_}"
done)"

check "no file of the build is in the tree" \
	"$(git ls-files | grep -E '\.(o|a|so|pov|pftrace|d)$|\.skel\.h$|vmlinux\.h$')"

# Output of other programs that is kept as test data may have them.
check "no blanks at line ends" \
	"$(grep -nE '[[:space:]]+$' $sources $(tree_files '*.md' '*.txt' | grep -vE '^LICENSES/|^tests/data/fabric_') | cut -c 1-100)"

check "no bpf_printk, no unfinished marks" \
	"$(grep -nE 'bpf_printk|\b(TODO|FIXME|XXX)\b' $(tree_files 'bpf/*' 'user/*' 'bench/*') | cut -c 1-100)"

# Without a head, or with another one, no stage would run the file as its writer meant.
check "tests are executable" "$(for f in $(tree_files '*.test'); do [ -x "$f" ] || echo "$f"; done)"
check "live and timing tests say when they run" "$(
	grep -LE '^# run: check(-all)?( (openmpi|mpich))? [0-9]+ s( alone)?$' tests/live/*.test
	grep -LE '^# run: check-timing [0-9]+ s$' tests/timing/*.test
)"

check "documents name tests that exist" \
	"$(grep -noE 'tests/[a-z]+/[a-z0-9_/]+\.(test|c|bats|txt|calls|sh)\b' $(tree_files '*.md') | while IFS=: read -r doc line path; do
		[ -e "$path" ] || echo "$doc:$line: no $path"
	done)"

check "sources name sources that exist" \
	"$(grep -noE '\b(advise|analysis|clock|cmd|fabric|layers|lib|model|preload|record|report|site|target|timeline|trace)/[a-z0-9_/]+\.[ch]\b' $(tree_files 'user/*.[ch]' '*.md') |
		sort -u -t: -k3 | while IFS=: read -r file line path; do
		[ -e "user/$path" ] || echo "$file:$line: no $path"
	done)"

# clang-format leaves comments and strings as they are. Strings of tests may be data.
check "sources have at most 100 columns" "$(tree_files '*.c' '*.h' '*.cc' | xargs perl -CSD -ne '
	1 while s/\t/" " x (8 - $-[0] % 8)/e;
	print "$ARGV:$.: ", length() - 1, "\n" if length() > 101 && !($ARGV =~ /^tests/ && /"/);
	close ARGV if eof')"

# Longer files need a reason. They are printed and fail nothing.
for f in $(tree_files 'user/*.c' 'bpf/*.c' 'bench/*.c'); do
	lines=$(wc -l <"$f")
	[ "$lines" -gt 500 ] && echo "# warning: $f has $lines lines"
done
finish
