# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Drives a page in a browser, through the coprocess tests/tool/browse. Sourced after lib.sh, with the path of browse in $browse.

need_browser() {
	need python3
	command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null || [ -n "${POV_CHROMIUM-}" ] ||
		skip_all "no Chromium here"
}

# browser WORD…: sends a line to browse, and prints the answer
browser() {
	local answer
	echo "$*" >&"$browser_in" && IFS= read -t 60 -r answer <&"$browser_out" && echo "$answer"
}

# A member of the page's own state.
state() { browser js "fabricView.state.$1"; }

# Functions for the page, under names that pages do not use: whether two colours are equal but for rounding; the middle of an element; to
# choose from a select.
# shellcheck disable=SC2016 # the page's own
browser_helpers='window.like = (a, b) => { const [x, y] = [a, b].map(s => s.match(/[0-9]+/g)); return x.every((v, i) => Math.abs(v - y[i]) <= 3); };
window.at = s => { const b = document.querySelector(s).getBoundingClientRect(); return { x: b.left + b.width / 2, y: b.top + b.height / 2 }; };
window.choose = (id, value) => { const s = document.getElementById(id); s.value = value; s.dispatchEvent(new Event("change")); }; true'

browser_open() { # PAGE
	local answer
	coproc BROWSER { exec "$browse" "$1" 2>browser.err; }
	browser_pid=$BROWSER_PID
	# Copies the coprocess's descriptors, because subshells have none of the original ones.
	exec {browser_in}>&"${BROWSER[1]}" {browser_out}<&"${BROWSER[0]}" {BROWSER[1]}>&- {BROWSER[0]}<&-
	if ! IFS= read -t 60 -r answer <&"$browser_out" || [ "$answer" != '"open"' ]; then
		{ echo "$answer"; cat browser.err; } | not_ok "$1 opens"
		finish
	fi
	browser js "${browser_helpers//$'\n'/ }" >/dev/null
}

# browse closes the browser at the end of its input.
browser_close() {
	exec {browser_in}>&- {browser_out}<&-
	wait "$browser_pid" 2>/dev/null
}
