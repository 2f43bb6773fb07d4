#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Dependencies point one way:
#   abi <- base <- trace <- layer <- model <- {analysis, site} <- {report, writer} <- cmd
#   abi <- elf <- attach <- collect <- {record, cmd_record, cmd_stat}
# Each directory may include from the directories (or single headers) named for it, and nothing else of
# ours. The function table and the recipes made from it (text of bpf/mpi.def) are needed to attach as well
# as to decode; and record may hand its finished file to the exporter.
cd "$(dirname "$0")/../.." || exit 1
. tests/lint/tap.bash

# directory: what it may include (besides itself and the system)
rules="
base:
elf: abi base
trace: abi base
layer: abi base trace
model: abi base trace layer
site: abi base trace layer model
analysis: abi base trace layer model
setting: base trace
finding: abi base trace layer model analysis site setting
report: abi base trace layer model analysis site finding
writer: abi base trace layer model analysis site finding
advise: abi base trace layer model analysis site finding setting mpi_t/mpi_t.h
mpi_t: base
attach: abi base elf trace layer/func_table.h
collect: abi base elf trace attach layer/func_table.h layer/signature.h clock/clock.h
libpov: abi
preload: abi base/cycles.h libpov/served.h
clock: abi base attach collect libpov/page.h
fabric: abi base
"

# "<file> <included path>" of all our own includes in these files.
includes() {
	grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" /dev/null |
		sed -E 's/^([^:]*):.*include[[:space:]]*"([^"]*)".*/\1 \2/'
}

while IFS=: read -r dir allowed; do
	[ -n "$dir" ] && [ -d "user/$dir" ] || continue
	files=$(tree_files "user/$dir/*.c" "user/$dir/*.h")
	[ -n "$files" ] || continue
	bad=$(includes $files | while read -r file path; do
		case $path in
		*/*) from=${path%%/*} ;;
		*) continue ;; # the skeleton, the version, mpi.def: judged below
		esac
		case " $dir $allowed " in
		*" $from "* | *" $path "*) ;;
		*) echo "$file includes $path" ;;
		esac
	done)
	check "user/$dir includes only:$allowed" "$bad"
done <<<"$rules"

# The model goes one way, too: who there is <- when they were in which state <- what was called <- records in.
model_steps="
who: record identity ending describe func image peer
when: state gap
what: history call operation past region
replay: replay pass model
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

reading=$(tree_files 'user/base/*' 'user/trace/*' 'user/layer/*' 'user/model/*' 'user/analysis/*' \
	'user/finding/*' 'user/report/*' 'user/writer/*' 'user/site/*' 'user/fabric/*' 'user/advise/*' 'user/setting/*' 'user/cmd_advise.c' 'user/cmd_report.c' 'user/cmd_diff.c' 'user/cmd_export.c' 'user/cmd_info.c' |
	grep '\.[ch]$' | grep -vxF user/site/debug_info.c)
check "reading a trace needs neither libbpf nor the kernel half, nor what else only the recording half and povtrace-lines are linked with" \
	"$(grep -nE '#[[:space:]]*include[[:space:]]*[<"](bpf/|linux/bpf|povtrace\.skel|hwloc|Zydis|gelf|libelf|elfutils|dwarf)' $reading /dev/null)"

bad=$(includes $(tree_files 'user/cmd_record.c' 'user/cmd_check.c' 'user/cmd_clock.c' 'user/cmd_dump.c' 'user/watch.[ch]' 'user/record.[ch]' 'user/record_last.[ch]') |
	grep -E ' (model|analysis|finding|report|writer|layer)/' | grep -vE ' (layer/func_table|layer/mpi_sig|writer/export)\.h')
check "record, dump, clock and check decode nothing" "$bad"

check "the ABI includes nothing but itself" \
	"$(grep -nE '#[[:space:]]*include' bpf/abi/*.h | grep -vE '"(event|config|thread)\.h"')"

check "the kernel half includes nothing of the user half" \
	"$(includes $(tree_files 'bpf/*.c' 'bpf/*.h') | grep -E ' (\.\./|base/|trace/|model/|layer/|writer/|user/)')"

check "main knows no subcommand" "$(grep -nE '\bcmd_[a-z]+\b' user/main.c)"
finish
