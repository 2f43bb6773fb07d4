# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What the golden tests share.

bats_require_minimum_version 1.5.0

# For setup() and setup_file(): enters the test's (or the file's) own directory. "$make" makes traces from text.
begin() {
	here=$BATS_TEST_DIRNAME
	data=$here/../data
	tool=$here/../tool
	build=${BUILD:-build}
	[ "${build:0:1}" = / ] || build=$here/../../$build
	make=$build/tests/povmake
	[ -x "$make" ] || skip "no $make; run make tools"
	cd "${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}"
}

need() {
	for program; do
		command -v "$program" >/dev/null || skip "no $program here"
	done
}

# trace NAME: makes NAME.pov from stdin, whose text stays in NAME.txt.
trace() {
	cat >"$1.txt"
	"$make" "$1.txt" "$1.pov"
}

# same_as WANTED GOT: POV_GOLDEN_UPDATE=1 accepts what there is.
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

# A line for each object of the JSON on stdin: its path, and its members that are plain.
rows() {
	jq -r 'def plain: type | . != "object" and . != "array";
		def flat: plain or (type == "array" and all(.[]; plain));
		def rows($path):
			if type == "object" then "\($path) \(with_entries(select(.value | flat)) | tojson)" else empty end,
			(to_entries[] | select(.value | flat | not) | .key as $key | .value | rows("\($path)/\($key)"));
		rows("")'
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

# health TIMELINE TOTALS: where Perfetto's trace_processor is installed, it takes the timeline and counts the same. Else the status
# in $status is 77.
health() {
	run "$here/perfetto_health.sh" "$1" "$2"
	echo "$output"
	[ "$status" = 0 ] || [ "$status" = 77 ]
}

# Carries out each example in the help of COMMAND, and then CHECK, to which it is $line, and what it printed the file said.
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
