#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Real posts to a real queue: an RDMA adapter in software (rdma_rxe), the programs of libibverbs, and MPI over it. The number of requests by
# kind and size is known, the programs print the numbers of their queue pairs, and the adapter counts its packets. Runs where there is such
# an adapter (run_vm.sh -r).
. "$(dirname "$0")/../live/lib.sh"
need_tracer
find_mpis
need ibv_rc_pingpong ibv_ud_pingpong
port=/sys/class/infiniband/rxe0/ports/1
[ -d $port ] || skip_all "no RDMA adapter rxe0"
cd "$T" || exit 1

sent_packets() { cat $port/hw_counters/sent_pkts; }

# posts_of NAME: what each post_send or the like shows, a line each: function, op, bytes, requests, queue pair, destination
posts_of() {
	facts "$1" && "$pov" export "$1.pov" -o "$1.json" 2>>"$1.err" || return 1
	jq -r '.traceEvents[] | select(.ph == "X" and (.name | test("^(post_|wr_complete)"))) |
		[.name, .args.op, .args.bytes, .args.requests // 1, .args.qp_num // 0, .args.dest // "-", .pid] | @tsv' \
		"$1.json" >"$1.posts"
}

# sums NAME: requests and bytes by operation: "SEND 100 409600"
sums() {
	awk -F'\t' '{ n[$2] += $4; bytes[$2] += $3 } END { for (op in n) printf "%s %d %.0f\n", op, n[op], bytes[op] }' \
		"$1.posts" | sort
}
sum_of() { sums "$1" | awk -v op="$2" '$1 == op { print $2, $3 }'; }
calls_of() { tally_trace "$1" nested | awk -F'\t' -v f="$2" '$2 == f { n += $3 } END { print n + 0 }'; }

# While the last recording's probes are removed, new ones wait, and so do the programs that need them. The scheduler is recorded for the
# first program only: an emulated adapter keeps it so busy that its switches would take longer than the rest of the test.
sched=all
record_alone() {
	local name=$1
	shift
	closers_gone
	record "$name" --sched $sched "$@"
}

# ended NAME STATUS FILE…: files: the outputs
ended() {
	local name=$1 status=$2
	shift 2
	if [ "$status" = 0 ]; then ok "$name: status"; else tail -n 12 "$@" | not_ok "$name: status $status" 60; fi
}

# both NAME COMMAND…: server and client of a program, recorded; $sent: packets that the adapter sent meanwhile
both() {
	local name=$1 before
	shift
	cat >pair.sh <<SH
$* >$name.server 2>&1 &
# waits until the server listens; all use port 18515
for i in {1..300}; do
	[[ \$(</proc/net/tcp)\$(</proc/net/tcp6) =~ :4853\ [0-9A-F:]+\ 0A ]] && break
	sleep 0.2
done
$* localhost >$name.client 2>&1
status=\$?
wait
exit \$status
SH
	before=$(sent_packets)
	record_alone "$name" -f MPI_Init --layers verbs -- bash pair.sh
	ended "$name" $? "$name.server" "$name.client" "$name.err"
	posts_of "$name" || { cat "$name.err" | not_ok "$name: no trace"; return; }
	nothing_lost "$name" "$name"
	sent=$(($(sent_packets) - before))
	holds "$name: the adapter sent packets" test $sent -gt 0
}

# ---- libibverbs' own programs ----

# numbers_of NAME: "QPN 0x000011" of both, as each prints it for itself and for the other side: "17 18"
numbers_of() { # NAME
	sed -n 's/.*local address:.*QPN \(0x[0-9a-f]*\).*/\1/p' "$1.server" "$1.client" | while read -r n; do
		echo $((n))
	done
}
pingpong() { # NAME PROGRAM BYTES
	local a b
	both "$1" "$2" -d rxe0 -g 1 -n 53 -r 101 -s 1024
	is "$1: 2 × 53 requests" "$(sum_of "$1" SEND)" "106 $((106 * $3))"
	is "$1: queue pairs" "$(calls_of "$1" ibv_create_qp)" 2
	{ read -r a && read -r b; } < <(numbers_of "$1")
	awk -F'\t' '$1 == "post_send" { print $5, $6 }' "$1.posts" | sort -u >"$1.ends"
	printf '%s 10.0.2.15 qp %s\n' "$a" "$b" "$b" "$a" | sort >"$1.wanted"
	same "$1: from and to the queue pairs that it printed" "$1.ends" "$1.wanted"
}
pingpong rc ibv_rc_pingpong 1024
# A request is one packet; the others are acknowledgements and repeated packets.
holds "rc: $sent packets, 106 requests and $((sent - 106)) others" test $sent -ge 212
sched=off
pingpong ud ibv_ud_pingpong 1024
is "ud: each request is a packet, and there are no others" $sent 106
# Receives: the depth of the queue, once or more; each has the size of its buffer.
holds "rc: receives" test "$(sum_of rc RECV | cut -d' ' -f1)" -ge 202

# ---- perftest ----

if command -v ib_send_bw >/dev/null; then
	both send_bw ib_send_bw -d rxe0 -x 1 -F -n 107 -s 4096 --use_old_post_send
	is "send_bw: 107 requests of 4096 bytes" "$(sum_of send_bw SEND)" "107 $((107 * 4096))"
	both read_bw ib_read_bw -d rxe0 -x 1 -F -n 103 -s 8192 --use_old_post_send
	is "read_bw: 103 requests of 8 KiB" "$(sum_of read_bw RDMA_READ)" "103 $((103 * 8192))"
	both write_lat ib_write_lat -d rxe0 -x 1 -F -n 109 -s 64 --use_old_post_send
	is "write_lat: 2 × 109 requests of 64 bytes" "$(sum_of write_lat RDMA_WRITE)" "218 $((218 * 64))"
	both lists ib_send_bw -d rxe0 -x 1 -F -n 192 -s 512 -l 48 --use_old_post_send
	is "lists of 48 requests" "$(sum_of lists SEND)" "192 $((192 * 512))"
	is "lists: calls" "$(calls_of lists post_send)" 4
	both either ib_write_bw -d rxe0 -x 1 -F -n 101 -s 2048
	is "either way that perftest prefers: 101 requests" "$(sum_of either RDMA_WRITE)" "101 $((101 * 2048))"
else
	skip "perftest" "not installed"
fi

# ---- MPI ----

# over NAME MPI COMMAND…: 20 messages of 256 KiB; all that the adapter moves was posted
over() {
	local name=$1 before payload=$((20 * 262144)) moved
	shift
	before=$(sent_packets)
	record_alone "$name" -f MPI_Send -f MPI_Recv --layers verbs -- "$@" "$programs/${name%%_*}/pingpong" 262144 5 1
	ended "$name" $? "$name.err" "$name.out"
	posts_of "$name" || { cat "$name.err" | not_ok "$name: no trace"; return; }
	# An emulated machine may be too slow to inspect each file in time: then the bytes prove that nothing is missing.
	is "$name: nothing dropped" "$(lost_of "$name" | grep -v '^missed: wait')" ""
	sums "$name" | sed 's/^/# /'
	moved=$(sums "$name" | awk '$1 != "RECV" { n += $3 } END { printf "%.0f\n", n }')
	holds "$name: $moved bytes posted, $payload sent" test "$moved" -ge "$payload" -a "$moved" -le $((payload + payload / 4))
	holds "$name: the adapter sent packets" test "$(sent_packets)" -gt $((before + payload / 4096))
	is "$name: every data post leads to this host" "$(awk -F'\t' '/RDMA/ { sub(/ qp .*/, "", $6); print $6 }' \
		"$name.posts" | sort -u)" "${TO-10.0.2.15}"
}

# ends NAME TRANSPORT: sources and destinations of its posts, by process
ends() {
	jq -r --arg t "$2" '.traceEvents[] | select(.args.transport == $t and .args.op != "get_address" and .args.queue) |
		"\(.pid) \(.args.local_end) \(.args.remote_end)"' "$1.json" | sort -u
}

# UCX's lower layer knows the ends by its own addresses, verbs by its queue pairs.
ends_agree() { # NAME COMMAND…
	local name=$1
	shift
	record "$name" --sched $sched --layers uct,verbs -- "$@" "$programs/${name%%_*}/pingpong" 20011 5 1
	is "$name: status" $? 0
	"$pov" export "$name.pov" -o "$name.json" 2>>"$name.err"
	ends "$name" rc >"$name.wanted"
	ends "$name" rc_verbs >"$name.seen"
	holds "$name: two ends of a connection" test "$(wc -l <"$name.wanted")" -eq 2
	same "$name: where UCT's posts lead to is where those of verbs do" "$name.seen" "$name.wanted"
}

# Returns true if Open MPI has it, where Debian or Open MPI itself puts it.
component() {
	local dir
	dir=$(dirname "$(library_of "$programs/openmpi/p2p")")
	compgen -G "$dir/openmpi*/mca_$1.so" >/dev/null || compgen -G "$dir/openmpi/lib/openmpi*/mca_$1.so" >/dev/null
}

export UCX_TLS=rc_v,self UCX_NET_DEVICES=rxe0:1 UCX_UD_VERBS_ETH_DGID_CHECK=n
export OMPI_MCA_btl=^openib,ofi OMPI_MCA_mtl=^psm,psm2,ofi OMPI_MCA_plm=isolated PSM2_DEVICES=self
for mpi in $mpis; do
	case $mpi in
	mpich) ldd "$(soname_of "$programs/mpich/p2p")" | grep -q libucp || continue ;;
	openmpi) component pml_ucx || continue ;;
	esac
	OMPI_MCA_pml=ucx over ${mpi}_ucx $(launcher "$mpi" 2)
	OMPI_MCA_pml=ucx ends_agree ${mpi}_ends $(launcher "$mpi" 2)
done
if component mtl_ofi; then
	export FI_PROVIDER='verbs;ofi_rxm' FI_UNIVERSE_SIZE=4 OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_btl=^openib
	export OMPI_MCA_opal_common_ofi_provider_include='verbs;ofi_rxm'
	over openmpi_ofi $(launcher openmpi 2)
fi
finish
