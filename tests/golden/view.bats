#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace view: makes the timeline if necessary, prints addresses, serves one file to those who may have it, and ends.

load lib

setup() {
	begin
	"$make" "$data/export_findings.txt" run.pov
	server=
}

teardown() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; }

# view [OPTIONS]: starts it at a free port. Sets $port and $token to those of the printed address.
view() {
	: >out
	env -u SSH_CONNECTION DISPLAY=:0 "$POVTRACE" view --port 0 "$@" >out 2>err 3>&- &
	server=$!
	while ! grep -q . out && kill -0 $server; do sleep 0.05; done
	[[ $(tail -1 out) =~ ^http://127\.0\.0\.1:([0-9]+)/([0-9a-f]{32})/$ ]]
	port=${BASH_REMATCH[1]} token=${BASH_REMATCH[2]}
}

# ask METHOD PATH [HEADER…]: the answer goes to "answer".
ask() {
	exec 7<>"/dev/tcp/127.0.0.1/$port"
	printf '%s\r\n' "$1 $2 HTTP/1.1" "${@:3}" '' >&7
	cat <&7 >answer
	exec 7>&-
}
host='Host: 127.0.0.1' ui='Origin: https://ui.perfetto.dev'
status() { head -1 answer | cut -d' ' -f2; }
body() { sed '1,/^\r$/d' answer; }

# answers STATUS METHOD PATH [HEADER…]
answers() {
	ask "${@:2}"
	echo "$* → $(status)"
	[ "$(status)" = "$1" ]
}

@test "view: the UI gets the timeline, and then it ends" {
	view run.pov
	[ "$(wc -l <out)" = 1 ]
	grep -q '^povtrace: wrote run.pftrace' err
	no 'ssh -L' err
	answers 200 OPTIONS "/$token/run.pftrace" "$host" "$ui"
	grep -q '^Access-Control-Allow-Private-Network: true' answer
	answers 200 HEAD "/$token/run.pftrace" "$host" "$ui"
	[ -z "$(body)" ]
	grep -q "^Content-Length: $(wc -c <run.pftrace)" answer
	kill -0 $server
	answers 200 GET "/$token/run.pftrace" "$host:$port" "$ui"
	[ "$(grep -ac '^Access-Control-Allow-Origin: https://ui.perfetto.dev' answer)" = 1 ]
	body | cmp - run.pftrace
	wait $server
	grep -q 'run.pftrace has been fetched' err
	"$POVTRACE" export run.pov -o wanted.pftrace
	cmp wanted.pftrace run.pftrace
}

@test "view: nobody else gets it" {
	view run.pov
	for path in / /run.pftrace "/$token" "/$token/run.pov" "/$token/../run.pov" "/$token/run.pftrace?x" "/${token//[0-9]/x}/run.pftrace" "//$token/run.pftrace" "${token}/run.pftrace"; do
		answers 404 GET "$path" "$host"
		[ -z "$(body)" ]
	done
	answers 403 GET "/$token/run.pftrace" "$host" 'Origin: https://ui.perfetto.dev.evil.example'
	answers 403 GET "/$token/run.pftrace" "$host" 'origin: null'
	answers 403 GET "/$token/run.pftrace" 'Host: evil.example'
	answers 403 GET "/$token/run.pftrace" 'Host: 127.0.0.1.evil.example'
	answers 403 GET "/$token/run.pftrace"
	answers 405 POST "/$token/run.pftrace" "$host" "$ui"
	answers 400 GET "/x FTP" "$host"
	kill -0 $server
	# another address of this machine has no such port
	run ! bash -c "exec 7<>/dev/tcp/127.0.0.2/$port"
}

@test "view: connections without a request, or with half of one, delay nobody" {
	view run.pov
	exec 4<>"/dev/tcp/127.0.0.1/$port" 5<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET /' >&5
	for ((i = 0; i < 20; i++)); do (exec 6<>"/dev/tcp/127.0.0.1/$port"); done
	head -c 9000 /dev/zero | tr '\0' x >long
	(exec 6<>"/dev/tcp/127.0.0.1/$port" && cat long >&6) || true
	answers 200 GET "/$token/run.pftrace" "$host"
	wait $server
	exec 4>&- 5>&-
}

@test "view: its page hands the timeline to the UI" {
	view run.pov
	answers 200 GET "/$token/" "$host"
	body >page.html
	grep -q "window.open(ui + '/#!/?')" page.html
	grep -q "fetch('run.pftrace')" page.html
	no -E 'src=|href=' page.html
	kill -0 $server
}

@test "view: a file name with special characters of addresses and HTML" {
	cp run.pov "a<b>'%?.pov"
	view "a<b>'%?.pov"
	answers 200 GET "/$token/" "$host"
	body >page.html
	grep -qF "fetch('a%3Cb%3E%27%25%3F.pftrace')" page.html
	no 'a<b' page.html
	answers 200 GET "/$token/a%3Cb%3E%27%25%3F.pftrace" "$host"
	body | cmp - "a<b>'%?.pftrace"
	wait $server
}

@test "view: a timeline newer than its recording is not made again, an older one is" {
	echo made earlier >run.pftrace
	touch -d '2001-01-01' run.pov
	view run.pov
	grep -q 'run.pftrace is newer than run.pov' err
	answers 200 GET "/$token/run.pftrace" "$host"
	[ "$(body)" = 'made earlier' ]
	wait $server
	touch -d '2000-01-01' run.pftrace
	view run.pov
	grep -q 'wrote run.pftrace' err
	kill $server
	wait $server || true
	view run.pftrace # of several recordings, for example
	answers 200 GET "/$token/run.pftrace" "$host"
	wait $server
}

@test "view: the moment shown first is converted to the timeline's clock" {
	need jq
	view --at 12ms --for 3ms run.pov
	answers 200 GET "/$token/" "$host"
	# when the recording began, in BOOTTIME
	start=$("$POVTRACE" info --meta run.pov | jq -s 'map(select(.type == "recording"))[0].start_ns as $s | map(select(.type == "clocks"))[0] | $s + .boottime_ns - .monotonic_ns')
	body | grep -qF "/#!/?visStart=$((start + 12000000))&visEnd=$((start + 15000000))'"
}

@test "view: what it prints for a browser on another machine, and for port 9001" {
	[ -z "$(grep -i ' 0100007F:2329 00000000:0000 0A' /proc/net/tcp)" ] || skip "port 9001 is taken here"
	: >out
	env -u DISPLAY -u WAYLAND_DISPLAY "$POVTRACE" view run.pov >out 2>err 3>&- &
	server=$!
	while [ "$(wc -l <out)" -lt 2 ] && kill -0 $server; do sleep 0.05; done
	[[ $(head -1 out) =~ ^https://ui\.perfetto\.dev/#!/\?url=http://127\.0\.0\.1:9001/[0-9a-f]{32}/run\.pftrace$ ]]
	[[ $(tail -1 out) =~ ^http://127\.0\.0\.1:9001/[0-9a-f]{32}/$ ]]
	grep -q "type there first: ssh -L 9001:127.0.0.1:9001 $(hostname)" err
	fails 1 'port 9001 of 127.0.0.1 is taken' "$POVTRACE" view run.pov
}

@test "view: wrong usage and what cannot be shown" {
	fails 2 'give one recording' "$POVTRACE" view
	fails 2 'give one recording' "$POVTRACE" view run.pov run.pov
	fails 1 'No such file' "$POVTRACE" view none.pov
	fails 1 'No such file' "$POVTRACE" view none.pftrace
	fails 1 'not a povtrace file' "$POVTRACE" view "$data/export_findings.txt"
	fails 1 'is past the end of run.pov' "$POVTRACE" view --at 100 run.pov
	fails 2 'needs the recording' "$POVTRACE" view --at 1 run.pftrace
	mkfifo fifo.json
	fails 1 'not a regular file' "$POVTRACE" view fifo.json
	[ "$(echo *)" = "fifo.json run.pov" ]
}
