# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the tests in simulation share: running povbench and the finder of the truth in SimGrid, and looking into results.
# TAP and the temporary directory are those of the live tests.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"
here=$top/tests/simgrid
smpi=$top/build/povbench/smpi

need_simgrid() {
	need jq awk
	command -v smpirun >/dev/null || skip_all "no SimGrid here (package libsimgrid-dev)"
	[ -x "$smpi/povbench" ] || skip_all "no $smpi/povbench; run make simgrid-programs first"
}

# hosts NAME HOST...: a host file, one rank each
hosts() {
	local name=$1
	shift
	printf '%s\n' "$@" >"$T/$name.hosts"
}

# simulate PLATFORM HOSTS RANKS COMMAND...; simgrid_options are more of SimGrid's. Nothing of this machine's speed gets in:
# computation takes only the time that the program asks the simulation for.
simgrid_options=()
simulate() {
	local platform=$1 hosts=$2 ranks=$3
	shift 3
	smpirun -np "$ranks" -platform "$here/$platform.xml" -hostfile "$T/$hosts.hosts" \
		--cfg=smpi/simulate-computation:no --log=root.thres:error \
		${simgrid_options[@]+"${simgrid_options[@]}"} "$@"
}
