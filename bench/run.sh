#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Runs every benchmark script beside it in order; each prints its ratio lines. Fails if one failed.
cd "$(dirname "$0")" || exit 1
failed=0 skipped=0
for script in ./*.sh; do
	case $script in ./run.sh | ./lib.sh) continue ;; esac
	bash "$script"
	case $? in
	0) ;;
	77) skipped=$((skipped + 1)) ;;
	*) failed=$((failed + 1)) && echo "bench: $script failed" ;;
	esac
done
[ $skipped = 0 ] || echo "bench: $skipped skipped"
[ $failed = 0 ]
