# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What the golden tests share; bench.bash has what those of povbench and povplot share besides.

bats_require_minimum_version 1.5.0

here=$BATS_TEST_DIRNAME
data=$here/../data
tool=$here/../tool
build=${BUILD:-build}
[ "${build:0:1}" = / ] || build=$here/../../$build
needed=()
make=$build/tests/povmake # makes traces from text

# For setup() and setup_file(): enters the test's (or the file's) own directory. A test's begins with the files that setup_file() made.
begin() {
	[ -x "$make" ] || skip "no $make; run make tools"
	cd "${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}"
	[ -z "${BATS_TEST_TMPDIR-}" ] || cp -r "$BATS_FILE_TMPDIR"/. .
}

need() {
	for program; do
		command -v "$program" >/dev/null || skip "no $program here"
	done
}

# needs PROGRAM…: before each test of a file without a setup() of its own.
needs() { needed=("$@"); }
setup() {
	begin
	need "${needed[@]}"
}

# trace NAME: makes NAME.pov from the script on stdin, which is stored in NAME.txt.
trace() {
	cat >"$1.txt"
	"$make" "$1.txt" "$1.pov"
}

# functions NAME…: the table of these MPI functions, as mpi.def has them, with the numbers 1, 2, … Each number is in a variable of that name.
functions() {
	local n=0 name
	for name; do declare -g "$name=$((n += 1))"; done
	function_table=$("$here/../tool/table_rows" "$here/../../user/layers/mpi/mpi.def" | sed \
		's/^POV_FUNC(\([^,]*\), \([^,]*\), \([^"]*\), "\(.*\)")$/\1 "name":"\1","group":"\2","attrs":"\3","sig":"\4"/' | awk -v names="$*" '
		{ key = $1; sub(/^[^ ]* /, ""); row[key] = $0 }
		END {
			n = split(names, name, " ")
			for (i = 1; i <= n; i++) rows = rows (i > 1 ? "," : "") "{\"id\":" i "," row["MPI_" name[i]] "}"
			print "meta {\"type\":\"functions\",\"layer\":\"mpi\",\"rows\":[" rows "]}"
		}')
}

# same_as WANTED GOT: with POV_GOLDEN_UPDATE=1, GOT becomes the expected output.
same_as() {
	[ -z "${POV_GOLDEN_UPDATE-}" ] || cp "$2" "$1"
	diff -u "$1" "$2"
}

# Stdin's lines of one section of a report, by the beginning of its title.
section() { awk -v t="$1" '/^[A-Z]/ { on = index($0, t) == 1 } on'; }

# no PATTERN: no line of stdin matches. A "! grep" would fail nothing, unless it is a test's last command.
no() { [ "$(grep -c "$@")" = 0 ]; }

# fails STATUS TEXT COMMAND…: COMMAND ends with this status and prints TEXT.
fails() {
	run "-$1" "${@:3}"
	echo "$output"
	[[ $output == *"$2"* ]]
}

# help_fits FILE: is within 80 columns; examples and usage are not broken.
help_fits() { awk '!/^  [^ -]/ && !/^Usage/ && length > 80 {print; bad = 1} END {exit bad}' "$1"; }

# help_is_good FILE [EXAMPLES]: the help fits, and has at least so many examples (3), whose options exist.
help_is_good() {
	local o
	help_fits "$1" || return
	[ "$(sed -n '/^Examples:/,$p' "$1" | grep -c '^  [^ ]')" -ge "${2-3}" ] || return
	for o in $(sed -n '/^Examples:/,$p' "$1" | grep -oE '^  [^ ].*' | sed 's/.*pov\(bench\|plot\|trace\)//; s/ -- .*//' |
		grep -oE ' --?[a-z][a-z-]*' | sort -u); do
		sed '/^Examples:/,$d' "$1" | grep -qE "^ .*(^|[ ,])$o\b" || { echo "no option $o"; return 1; }
	done
}

# options_of FILE: the long options that a help text has.
options_of() { sed '/^Examples:/,$d' "$1" | grep -oE '^ .*  --[a-z-]+|^  -., --[a-z-]+' | grep -oE -- '--[a-z-]+'; }

# page_is_good TEXT COMMAND...: prints a manual page of good roff that has the text.
page_is_good() {
	need groff
	"${@:2}" >page.1
	run -0 groff -Kutf8 -man -ww -z -Tutf8 page.1
	[ -z "$output" ]
	groff -Kutf8 -man -Tutf8 -P-c page.1 | tr -s ' \n' ' ' | grep -qF -- "$1"
}

# disk_is_full STATUS COMMAND...: if its stdout cannot be written, the command ends with this status and a message.
disk_is_full() {
	[ -e /dev/full ] || skip "no /dev/full"
	fails "$1" "stdout: No space left on device" bash -c '"$@" >/dev/full' - "${@:2}"
}

# completes WORD...: what the completion in the file "completion" offers for the last word.
completes() {
	bash -uc '. ./completion
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_$1
		echo "${COMPREPLY[*]-}"' - "$@"
}

# A line for each object of the JSON on stdin: its path, and its plain members. jq 1.7 prints numbers as they came, unless it computes with
# them.
rows() {
	jq -r 'def plain: type | . != "object" and . != "array";
		def flat: plain or (type == "array" and all(.[]; plain));
		def rows($path):
			if type == "object" then "\($path) \(with_entries(select(.value | flat)) | tojson)" else empty end,
			(to_entries[] | select(.value | flat | not) | .key as $key | .value | rows("\($path)/\($key)"));
		(.. | numbers) += 0 | rows("")'
}

# A line for each packet of the decoded protobuf on stdin, with strings in place of the numbers under which they are interned.
packets() {
	awk '
		/^packet \{/ { n = 0; next }
		/^  interned_data \{/ { interned = 1; next }
		/^  }/ && interned { interned = 0; next }
		interned { if ($1 == "iid:") iid = $2; else if (sub(/^ *(name|str): /, "")) text[iid] = $0; next }
		!/^}/ { line[n++] = $0; next }
		{
			out = ""
			for (i = 0; i < n; i++) {
				if (match(line[i], /iids?: /) && substr(line[i], RSTART + RLENGTH) in text)
					line[i] = substr(line[i], 1, RSTART + RLENGTH - 1) text[substr(line[i], RSTART + RLENGTH)]
				sub(/^ */, "", line[i])
				out = out (i ? " " : "") line[i]
			}
			print out
		}'
}

# Perfetto's trace_processor, which is no package: fetch it from get.perfetto.dev, or set TRACE_PROCESSOR.
tp=${TRACE_PROCESSOR:-$(command -v trace_processor_shell || command -v trace_processor || true)}
need_tp() { [ -n "$tp" ] || skip "no trace_processor_shell in PATH, and TRACE_PROCESSOR is not set"; }

# health TIMELINE TOTALS: if there is a trace_processor, it reads the timeline without complaint, and its counts are those that `povtrace
# export --totals` reported.
health() {
	[ -n "$tp" ] || return 0
	"$tp" -q "$here/perfetto_health.sql" "$1" 2>"$1.tp.log" | sed -n 's/^"\(.*\)",\([0-9]*\)$/\1=\2/p' >health
	[ "$(wc -l <health)" = 21 ] || { tail -n 5 "$1.tp.log"; return 1; }
	grep -v '=0$\|^total_data_loss' health | sort >got
	jq -r '{open, slices: (.slices + .instants), flows, counters, switches} | to_entries[] | select(.value > 0) | "total_\(.key)=\(.value)"' \
		"$2" | sort | diff - got
}

# Runs each example in the help of COMMAND, then CHECK, which has the example in $line and its output in the file "said".
each_example() { # COMMAND CHECK
	povtrace() { "$POVTRACE" "$@"; }
	povtrace help "$1" | sed -n "s/^  *\(povtrace $1 .*\)/\1/p" >examples
	[ "$(wc -l <examples)" -ge 3 ]
	while read -r line; do
		echo "$line"
		eval "set -o pipefail; $line" >said
		"$2"
	done <examples
}
