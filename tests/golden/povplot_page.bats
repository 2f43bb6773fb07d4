#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povplot -o FILE.html: everything in a result file on one page.

load bench

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	"$tool/bench_json" launches launches=2 seed=1 >run.json
	"$POVPLOT" run.json -o run.html
}

setup() {
	need gnuplot
	begin
}

# The pictures' SVG, decoded, into 1.svg, 2.svg …
pictures() {
	grep -o 'src="data:image/svg+xml,[^"]*"' "$1" | sed 's/^[^,]*,//; s/"$//' | while IFS= read -r url; do
		n=$((n + 1))
		printf '%b' "$(sed 's/%/\\x/g' <<<"$url")" >$n.svg
	done
}

@test "page: each sentence, with a link to its picture, and the factors" {
	"$POVPLOT" --words run.json >words
	[ -s words ]
	while IFS= read -r line; do
		grep -qF ">$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<<"$line")</a></li>" run.html || { echo "not there: $line"; return 1; }
	done <words
	grep -o 'href="#[^"]*"' run.html | sed 's/.*#//; s/"//' | while IFS= read -r id; do
		grep -qF "<a id=\"$id\">" run.html || { echo "no $id"; return 1; }
	done
	grep -q '"library"' <(sed -n '/<pre>/,/<\/pre>/p' run.html | sed 's/&quot;/"/g')
}

@test "page: its pictures are SVG, in the page itself" {
	pictures run.html
	[ -s 2.svg ]
	for svg in *.svg; do
		grep -q '<svg' "$svg" && grep -q '</svg>' "$svg"
	done
	! grep -qE '(src|href)="(http|file|/)' run.html
	[ -z "$(find . -type f ! -name '[0-9]*.svg' ! -name run.html ! -name run.json)" ]
}

@test "page: results without a picture have no link" {
	"$tool/bench_json" "Open MPI v4.1.4" self,tcp node7 sender=map:eager odd >two.json
	"$POVPLOT" two.json -o two.html
	[ "$(grep -c '<li><a href=' two.html)" = 1 ]
	[ "$(grep -c '<li>' two.html)" = 2 ]
}

@test "page: results that cannot be drawn have no link, and the others are there" {
	"$tool/bench_json" "Open MPI v4.1.4" self,tcp node7 sender=map:eager receiver=map:none >two.json
	# Two points of one cell.
	sed -i '/"benchmark":"receiver"/,$ s/"compute_ns":2000,/"compute_ns":1000,/' two.json
	"$POVPLOT" two.json -o two.html 2>err || true
	grep -q 'receiver: .*several points' err
	[ "$(grep -c '<li><a href=' two.html)" = 1 ]
	[ "$(grep -c '<li>' two.html)" = 2 ]
}

@test "page: contents of files are treated as text" {
	sed -i 's/"benchmark": *"sender"/"benchmark":"<script>alert(1)<\/script>"/' run.json
	"$POVPLOT" run.json -o run.html || true
	! grep -q '<script' run.html
}

@test "page: only the selected benchmarks; selecting none is an error" {
	"$POVPLOT" run.json -b sender -o run.html
	[ "$(grep -c '<li>' run.html)" = 1 ]
	run "$POVPLOT" run.json -b nothing -o no.html
	[ "$status" = 1 ] && [ ! -e no.html ]
}

@test "page: an output that cannot be written" {
	run "$POVPLOT" run.json -o no/such/run.html
	[ "$status" = 1 ]
	grep -qF 'no/such/run.html: cannot be written: No such file or directory' <<<"$output"
}

# ---- what to change ----

# made LIBRARY COMPONENTS CPUS RESULT...: made.json; ranks on one node, each with these CPUs.
made() {
	"$tool/bench_json" "$1" "" node7 "${@:4}" | jq --arg parts "$2" --arg cpus "$3" '
		.factors.components = ($parts | split(",")) | .factors.ranks = [{host: "node7", $cpus}, {host: "node7", $cpus}] |
		.factors.transport = {MPIR_CVAR_ASYNC_PROGRESS: 0} | .factors.environment = {}' >made.json
}

# change FILTER: of made.json
change() { jq "$1" made.json >changed.json && mv changed.json made.json; }

# advised [LINE...]: these lines on made.json's page, in order, each with a link.
advised() {
	"$POVPLOT" made.json -o made.html
	grep -F '<li class="advice">' made.html >lines || true
	[ $# = 0 ] || diff <(printf '%s\n' "$@") <(sed 's/<[^>]*>//g' lines)
	[ "$(wc -l <lines)" = $# ]
	[ "$(grep -c '<li class="advice"><a href="#r[0-9]*">.*</a></li>' lines)" = $# ]
}

thread="try mpirun --mca btl_tcp_progress_thread 1. A library thread then moves the data and uses CPU time of its own, so compare the total times"
tests="call MPI_Test or MPI_Testall now and then within the computation, which overlaps here (test_sprinkled)"
none="is known to change that; povbench test_sprinkled shows whether MPI_Test within the computation does"

@test "advice: the settings of the library at hand, from the size on from which nothing overlaps" {
	made "Open MPI v4.1.4" mca_btl_self,mca_btl_tcp,mca_pml_ob1 0-1 sender=map:eager receiver=map:none both_sides=map:perfect
	advised "sender: no overlap from 32 KiB on: $thread" "receiver: no overlap from 1 KiB on: $thread"
	change '.factors.environment.OMPI_MCA_btl_tcp_progress_thread = "1"'
	advised "sender: no overlap from 32 KiB on: no setting of Open MPI $none" \
		"receiver: no overlap from 1 KiB on: no setting of Open MPI $none"
	made "Open MPI v4.1.4" mca_btl_self,mca_btl_tcp,mca_btl_vader,mca_pml_ob1 0-1 sender=map:eager
	advised "sender: no overlap from 32 KiB on: no setting of Open MPI $none"
	change '.factors.ranks[1].host = "node8"'
	advised "sender: no overlap from 32 KiB on: $thread"
	change '.factors.components += ["mca_btl_openib"]'
	advised "sender: no overlap from 32 KiB on: no setting of Open MPI $none"
}

@test "advice: a library's thread only where ranks have cores for it" {
	made "MPICH Version: 4.0.2" libucp 0-3,8 sender=map:worse
	advised "sender: no overlap from 1 KiB on: try MPIR_CVAR_ASYNC_PROGRESS=1, since each rank has a free core for the thread that polls then"
	change '.factors.ranks |= map(.cpus = "0-2")'
	advised "sender: no overlap from 1 KiB on: no setting of MPICH $none"
	change '.factors.ranks |= map(.cpus = "0-3") | .factors.transport.MPIR_CVAR_ASYNC_PROGRESS = 1'
	advised "sender: no overlap from 1 KiB on: no setting of MPICH $none"
}

@test "advice: settings that help according to the file come first" {
	made "Open MPI v4.1.4" mca_btl_self,mca_btl_tcp,mca_pml_ob1 0-1 sender=map:eager receiver=map:eager test_sprinkled=map:perfect progress_thread=map:none
	advised "sender: no overlap from 32 KiB on: $tests; $thread" "receiver: no overlap from 32 KiB on: $thread"
	change '.results[3].points |= map(.values.ratio = 0)'
	advised "sender: no overlap from 32 KiB on: $tests; have a thread call MPI meanwhile, which overlaps here (progress_thread); $thread" \
		"receiver: no overlap from 32 KiB on: $thread"
	change '.results[2].disturbed = "x" | .results[3].ranks = 3'
	advised "sender: no overlap from 32 KiB on: $thread" "receiver: no overlap from 32 KiB on: $thread"
}

@test "advice: none about disturbed results, and none if everything overlaps" {
	made "MPICH Version: 4.0.2" libucp 0-3 sender=map:none receiver=map:perfect
	change '.results[0].disturbed = "its ranks waited for a core 9 % of the time"'
	advised
	grep -qF '<p>There is no advice on disturbed results: measure them again.</p>' made.html
	made "MPICH Version: 4.0.2" libucp 0-3 sender=map:perfect broadcast
	advised
	! grep -qE 'What to change|nothing is advised' made.html
}

@test "advice: for an unknown library, and for files that do not name theirs" {
	made "Other MPI 1.0" mca_pml_ob1,mca_btl_tcp 0-3 sender=map:eager test_sprinkled=map:perfect
	advised "sender: no overlap from 32 KiB on: $tests"
	change '.results |= [.[0]]'
	advised "sender: no overlap from 32 KiB on: no setting of this library $none"
	change '.factors = {}'
	advised "sender: no overlap from 32 KiB on: no setting of a library that the file does not name $none"
	change '.factors = {mpi: {library: "MPICH Version: 4"}, ranks: [1, {cpus: "0-"}], components: {}, transport: 3}'
	advised "sender: no overlap from 32 KiB on: no setting of MPICH $none"
	change '.results += .results | .results[0].points |= map(.bytes = 1e300) | .results[0].points[0] = {bytes: -5, times: 3}'
	advised "sender: no overlap from 32 KiB on: no setting of MPICH $none"
}

@test "advice: computing threads that make messages late" {
	made "MPICH Version: 4.0.2" libucp 0-3 load
	change '.results[0].points |= map(.rank_cpus = "0-3" | .threads_cpus = "0-3" |
		.values.late_pct = (if .threads > 4 then 50 else 0 end))'
	advised "nload: with 5 or more computing threads per rank, messages are late; with this binding, start at most 4 besides the communicating thread, or give each rank one core more than it has computing threads (mpiexec -bind-to core:N, N = cores per rank)"
	change '.results[0].points |= map(.values.late_pct = (if .threads > 0 then 50 else 0 end))'
	advised "nload: with 1 or more computing threads per rank, messages are late; with this binding, start none besides the communicating thread, or give each rank one core more than it has computing threads (mpiexec -bind-to core:N, N = cores per rank)"
	change '.results[0].points |= map(.rank_cpus = "0" | .threads_cpus = "1-3")'
	advised
	change '.results[0].points |= map(.rank_cpus = "0-1" | .values.late_pct = 0)'
	advised
	change '.results[0].points |= map(.values.late_pct = 50)'
	advised
}
