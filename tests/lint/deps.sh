#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Dependencies point one way. Each room (a folder of user/, or a file of one) may include what its rule names, and nothing else of ours;
# "record" stands for the whole folder, "layers/func_table.h" for one header.
#
# A layer's folder has two parts: library*.c, which look into libraries, are linked into povtrace-record only; the rest decodes. What is in
# layers/ itself serves both. Recording uses of it the table of functions and the recipes made from it.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap.bash

# room: what it may include (besides itself and the system)
rules="
lib:
trace: abi lib
layers: abi lib trace
layers/*/library*: abi lib target layers/func_table.h
model: abi lib trace layers
site: abi lib trace layers model
analysis: abi lib trace layers model site
report: abi lib trace layers model analysis site
timeline: abi lib trace layers model analysis site
advise: abi lib trace layers model analysis site
target: abi lib trace layers/func_table.h
record: abi lib trace target layers/func_table.h layers/signature.h layers/mpi/library_mpi_layout.h clock/clock.h
preload: abi lib/cycles.h
clock: abi lib target record clock/libpov/page.h
clock/libpov: abi
fabric: abi lib
"

# "<file> <included path>" of all our own includes in these files.
includes() {
	grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" /dev/null |
		sed -E 's/^([^:]*):.*include[[:space:]]*"([^"]*)".*/\1 \2/'
}

# room_files ROOM: its sources, without those of rooms within it that have a rule of their own.
room_files() {
	local inner
	inner=$(sed -n "s#^\($1/[^:]*\):.*#\1#p" <<<"$rules" | sed 's#\*#[^/]*#g; s#^#^user/#')
	case $1 in
	*'*'*) tree_files "user/$1.[ch]" ;;
	*) tree_files "user/$1/*.[ch]" ;;
	esac | grep -vE "${inner:-^$}"
}
while IFS=: read -r room allowed; do
	[ -n "$room" ] || continue
	files=$(room_files "$room")
	[ -n "$files" ] || {
		check "user/$room has sources" none
		continue
	}
	bad=$(includes $files | while read -r file path; do
		case $path in
		*.def) continue ;; # rows of a layer's table
		*/*) from=${path%%/*} ;;
		*) continue ;; # the skeleton, the version
		esac
		case " ${room%%/*} $allowed " in
		*" $from "* | *" $path "*) ;;
		*) echo "$file includes $path" ;;
		esac
	done)
	check "user/$room includes only:$allowed" "$bad"
done <<<"$rules"

# The model goes one way, too: who there is <- when they were in which state <- what was called <- records in.
model_steps="
who: identity ending describe func image peer
when: state
what: history call operation call_order region
replay: replay model
"
bad=$(while IFS=: read -r step files; do
	for f in $files; do
		[ "$(includes "user/model/$f.c" | awk '{ print $2 }' | grep -xE 'model/(who|when|what|replay)\.h')" = "model/$step.h" ] ||
			echo "user/model/$f.c: not by model/$step.h alone"
	done
done <<<"$model_steps"
for f in $(tree_files 'user/model/*.c'); do
	f=${f##*/}
	grep -qw "${f%.c}" <<<"$model_steps" || echo "user/model/$f: of no step"
done)
check "each file of the model knows only the steps before its own" "$bad"

reading=$(tree_files 'user/lib/*' 'user/trace/*' 'user/layers/*' 'user/model/*' 'user/analysis/*' 'user/report/*' \
	'user/timeline/*' 'user/site/*' 'user/fabric/*' 'user/advise/*' 'user/cmd/*.[ch]' |
	grep '\.[ch]$' | grep -vE '^user/site/debug_info\.c$|^user/layers/[a-z0-9]*/library')
check "reading a trace needs neither libbpf nor the kernel half, nor what else only povtrace-record and povtrace-lines are linked with" \
	"$(grep -nE '#[[:space:]]*include[[:space:]]*[<"](bpf/|linux/bpf|povtrace\.skel|hwloc|Zydis|gelf|libelf|elfutils|dwarf)' $reading /dev/null)"

bad=$(includes $(tree_files 'user/cmd/cmd_'{record,check,clock,dump}.c user/cmd/recording/{watch,recording_common,run_record,run_clock,run_check}.[ch]) |
	grep -E ' (model|analysis|report|timeline|layers)/' | grep -vE ' (layers/func_table|timeline/export)\.h')
check "record, dump, clock and check decode nothing" "$bad"

check "the ABI includes nothing but itself" \
	"$(grep -nE '#[[:space:]]*include' bpf/abi/*.h | grep -vE '"(event|config|thread)\.h"')"

check "the kernel half includes nothing of the user half but rows of layers" \
	"$(includes $(tree_files 'bpf/*.c' 'bpf/*.h') | grep -E ' (\.\./|lib/|trace/|model/|layers/|timeline/|user/)' | grep -v '\.def$')"

check "main knows no subcommand" "$(grep -nE '\bcmd_[a-z]+\b' user/cmd/main.c)"
finish
