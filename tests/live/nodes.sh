# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Two nodes on this machine, for tests that need no tracer: network namespaces joined by a veth of limited rate. Each has a host name and
# (with time namespaces) a monotonic clock of its own, the second one's 1000 s ahead. Launchers reach them by a script that they take for
# ssh.
# Sourced after lib.sh.

nodes_ahead_s=1000
nodes_a=198.18.77.1 nodes_b=198.18.77.2 # of a block for measurements of networks (RFC 2544)
nodes_ns=povt$$
nodes_limited=true # whether the rate is
nodes_cpus=false   # whether each node has one CPU: the first one 0, the second one 1
nodes_finalize=$programs/plain/mpich_finalize.so

nodes_leave() {
	ip netns del "$nodes_ns-a" 2>/dev/null
	ip netns del "$nodes_ns-b" 2>/dev/null
	at_exit
}

# Whether both links are up. They come up a moment after `ip link set up`, and UCX finds no route before that.
nodes_linked() {
	local n
	for n in a b; do ip -n "$nodes_ns-$n" link show veth0 | grep -q ' state UP ' || return; done
}

# nodes_make RATE_MBIT BURST_BYTES: skips the test where there are no such namespaces.
nodes_make() {
	local n clocks="-T --monotonic"
	need_root
	need ip unshare awk timeout taskset
	need_program "$nodes_finalize"
	trap nodes_leave EXIT
	ip netns add "$nodes_ns-a" 2>"$T/err" && ip netns add "$nodes_ns-b" 2>>"$T/err" &&
		ip link add veth0 netns "$nodes_ns-a" type veth peer name veth0 netns "$nodes_ns-b" 2>>"$T/err" &&
		ip -n "$nodes_ns-a" addr add $nodes_a/30 dev veth0 && ip -n "$nodes_ns-b" addr add $nodes_b/30 dev veth0 ||
		skip_all "no network namespaces with a veth here: $(tail -n 1 "$T/err")"
	for n in a b; do
		ip -n "$nodes_ns-$n" link set lo up && ip -n "$nodes_ns-$n" link set veth0 up
		ip netns exec "$nodes_ns-$n" tc qdisc add dev veth0 root tbf rate "$1"mbit burst "$2" latency 100ms 2>"$T/err" ||
			nodes_limited=false
	done
	wait_until 60 nodes_linked || skip_all "the veth between the namespaces stays down"
	$nodes_limited || skip "rate of the network" "no tc, or no tbf in this kernel: $(tail -n 1 "$T/err")"
	# shellcheck disable=SC2086 # words
	unshare $clocks $nodes_ahead_s true 2>"$T/err" || {
		skip "clocks of the nodes" "no time namespaces: $(tail -n 1 "$T/err")"
		clocks=
	}
	# ssh [-x] ADDRESS COMMAND…
	cat >"$T/ssh" <<-S
		#!/bin/sh
		while case \$1 in -*) true ;; *) false ;; esac; do shift; done
		address=\$1
		shift
		node=b cpu=1 ahead=$nodes_ahead_s
		[ "\$address" = $nodes_a ] && node=a cpu=0 ahead=0
		$nodes_cpus && taskset -pc \$cpu \$\$ >/dev/null
		exec ip netns exec $nodes_ns-\$node unshare -u ${clocks:+$clocks \$ahead} --fork \
			sh -c "hostname node-\$node; exec sh -c \"\\\$0\"" "\$*"
	S
	chmod +x "$T/ssh"
}

# nodes_run MPI RANKS ORDER SECONDS COMMAND…, in $T: runs a job on both nodes, for SECONDS at most. ORDER: ranks are dealt out in turn
# (turn), or the first ones are on the first node (blocks).
nodes_run() {
	local mpi=$1 ranks=$2 order=$3 seconds=$4 half=$((($2 + 1) / 2)) launch
	shift 4
	if [ "$mpi" = openmpi ]; then
		launch="mpirun.openmpi --mca plm_rsh_agent $T/ssh --mca oob_tcp_if_include veth0 --mca btl_tcp_if_include veth0
			--mca btl self,vader,tcp --mca mpi_yield_when_idle 1 --host $nodes_a:$half,$nodes_b:$half"
		[ "$order" = turn ] && launch="$launch --map-by node" || launch="$launch --map-by slot"
		launch="$launch -np $ranks"
	else
		# UCX would find that both nodes have one memory. Without the preloaded library, MPI_Finalize may hang.
		launch="mpiexec.hydra -launcher ssh -launcher-exec $T/ssh -hosts $nodes_a,$nodes_b -genv UCX_TLS tcp,self
			-genv LD_PRELOAD $nodes_finalize -n $ranks"
		[ "$order" = turn ] && launch="$launch -ppn 1" || launch="$launch -ppn $half"
	fi
	# shellcheck disable=SC2086 # words
	timeout -k 5 "$seconds" "$T/ssh" $nodes_a "cd $T; exec" $launch "$@" </dev/null
}
