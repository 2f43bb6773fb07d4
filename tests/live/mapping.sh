# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Four ranks on two nodes (tests/mpi/planted_advice.c pairs4), recorded on each node. Sourced after lib.sh and nodes.sh, in $T.

mapping_run() { nodes_run openmpi 4 "$1" 120 "$programs/openmpi/planted_advice" pairs4 60 65536 "${@:2}" 2>>run.err; } # turn|blocks [FILE]

# pairs_record NAME turn|blocks: NAME-node-a.pov and NAME-node-b.pov. The ranks begin when both recorders run.
pairs_record() {
	local pid node recorders=()
	local -A of=()
	rm -f go
	mapping_run "$2" "$T/go" >"$1.out" &
	job=$!
	started+=("$job")
	# past MPI_Init
	wait_until 60 sh -c "[ \$(cat '$T'/go.ready.* 2>/dev/null | wc -l) = 4 ]" || return 1
	for pid in $(cat go.ready.*); do
		node=$(nsenter -t "$pid" -u hostname)
		of[$node]+=" -p $pid"
	done
	for node in node-a node-b; do
		# shellcheck disable=SC2086 # words
		watch "$1-$node" ${of[$node]} && recorders+=("$tracer")
	done
	touch go
	wait "$job"
	wait_until 60 sh -c "! kill -0 ${recorders[*]} 2>/dev/null" # they end with their processes
	rm -f go.ready.*
}
