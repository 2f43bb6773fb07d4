# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# For the lint checks: each prints TAP; what is wrong stands in "# " lines before the "not ok".
tap_cnt=0
tap_bad=0

# check NAME FINDINGS: passes if FINDINGS is empty.
check() {
	tap_cnt=$((tap_cnt + 1))
	if [ -z "$2" ]; then
		echo "ok $tap_cnt - $1"
	else
		printf '%s\n' "$2" | sed 's/^/# /'
		echo "not ok $tap_cnt - $1"
		tap_bad=$((tap_bad + 1))
	fi
}

# skip NAME REASON
skip() {
	tap_cnt=$((tap_cnt + 1))
	echo "ok $tap_cnt - $1 # SKIP $2"
}

finish() {
	echo "1..$tap_cnt"
	[ "$tap_bad" = 0 ]
	exit
}

# Files of the tree with these endings: known to git, or new and not ignored.
tree_files() {
	git ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r f; do
		[ -f "$f" ] && printf '%s\n' "$f"
	done
}
