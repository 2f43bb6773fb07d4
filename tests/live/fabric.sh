# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Fabrics of ibsim, routed by opensm, and traffic for them. Sourced after lib.sh; goes into the test's own directory.
PATH=$PATH:/usr/sbin
need ibsim opensm ibnetdiscover dump_fts jq
simulated=$(find /usr/lib /usr/lib64 -name libumad2sim.so 2>/dev/null | head -n 1)
[ -n "$simulated" ] || skip_all "no libumad2sim.so"
net=$PWD/tests/tool/fabric_net
[ -x "$net" ] || net=$(dirname "$0")/../tool/fabric_net
net=$(readlink -f "$net")
cd "$T" || exit 1
# Other tests may simulate at the same time.
export IBSIM_SOCKNAME=povtrace-$$

# simulate NAME KIND NUMBERS…: starts the fabric, which nothing manages yet.
simulate() {
	local name=$1
	shift
	mkdir "$name"
	"$net" "$@" >"$name/net"
	(cd "$name" && exec ibsim -n -s -N 4096 -S 1024 -P 65536 net >ibsim.log 2>&1 </dev/null) &
	simulator=$!
	started+=("$simulator")
	wait_until 60 grep -q "@$IBSIM_SOCKNAME:out9@" /proc/net/unix
}
simulation_ends() {
	kill "$simulator"
	wait "$simulator" 2>/dev/null
}

# as HOST COMMAND…: on a host of the fabric
as() {
	local host=$1
	shift
	SIM_HOST=$host LD_PRELOAD=$simulated timeout 60 "$@" </dev/null
}

# manage NAME ENGINE HOST [SUFFIX]: routes the subnet of a host's first port; leaves NAME/{topo,fts,lfts}SUFFIX
manage() {
	local dir=$PWD/$1/sm$4
	mkdir "$dir"
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir as "$3" opensm -o -R "$2" -D 0x43 -f "$dir/osm.log" >"$dir/out" 2>&1
	as "$3" ibnetdiscover >"$1/topo$4" 2>"$dir/err"
	as "$3" dump_fts >"$1/fts$4" 2>>"$dir/err"
	cp "$dir/opensm-lfts.dump" "$1/lfts$4"
}

hosts() { for ((i = 0; i < $1; i++)); do echo "$i host$i"; done; }

# matrix RANKS BYTES KIND: alltoall, or a broadcast from rank 0 by a binomial tree
matrix() {
	awk -v n="$1" -v bytes="$2" -v kind="$3" 'BEGIN {
		for (i = 0; i < n; i++) for (j = 1; kind == "bcast" && j < n; j *= 2) if (i < j && i + j < n) to[i, i + j] = 1
		for (i = 0; i < n; i++) { line = ""
			for (j = 0; j < n; j++) line = line " " ((kind == "bcast" ? (i, j) in to : i != j) ? bytes : 0)
			print line }
	}'
}

# traffic RANKS TOPOLOGY…: as `povtrace report --traffic --csv` writes it: an all-to-all exchange whose messages take the subnets in turn,
# a broadcast by a binomial tree in the first subnet, and a ring in the last one
traffic() {
	local ranks=$1
	shift
	awk -v n="$ranks" '
	FNR == 1 { subnet++ }
	/^(Ca|Switch)/ { split($0, part, "\""); host = /^Ca/ && part[4] ~ /^host[0-9]+$/ ? substr(part[4], 5) : "" }
	host != "" && /^\[/ {
		split($1, part, "[][]")
		for (i = 1; i < NF; i++) if ($i == "lid") { lid[subnet, host] = $(i + 1); port[subnet, host] = part[2]; break }
	}
	function row(from, to, name, group, bytes, s) {
		printf "%d,0,%d,mlx5_0:%d,lid %d,nic,call,%s,%s,,,1,%d,0,0\r\n", from, 1000 + from, port[s, from], lid[s, to], name, group, bytes
	}
	END {
		printf "rank,job,pid,device,destination,carrier,context,function,group,phase,region,sent_messages,sent_bytes,read_messages,read_bytes\r\n"
		for (i = 0; i < n; i++) {
			for (j = 0; j < n; j++) if (i != j) row(i, j, "MPI_Alltoall", "collective", 65536, (i + j) % subnet + 1)
			for (j = 1; j < n; j *= 2) if (i < j && i + j < n) row(i, i + j, "MPI_Bcast", "collective", 1048576, 1)
			row(i, (i + 1) % n, "MPI_Sendrecv", "p2p", 4194304, subnet)
		}
	}' "$@"
}
