#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# povtrace report --traffic in its three forms, and povplot's matrix of it, from records of MPI, UCT, verbs and the kernel.

load lib

setup() {
	begin
	need jq
	"$make" "$data/traffic_run.txt" run.pov
}

traffic() { "$POVTRACE" report --traffic --explain "$@" run.pov; }

json() {
	traffic --json | jq '{schema_version, povtrace: "1", trace, ranks: [.ranks[] | {rank, job}], traffic}'
}

@test "traffic: text" {
	traffic >got
	same_as "$data/traffic_run.out" got
}

@test "traffic: CSV" {
	traffic --csv >got
	same_as "$data/traffic_run.csv" got
}

@test "traffic: JSON" {
	json | rows >got
	same_as "$data/traffic_run.rows" got
}

@test "traffic: its matrix" {
	povplot=${POVTRACE%/*}/povplot
	[ -x "$povplot" ] || skip "no $povplot; run make check-golden"
	json >got.json
	"$povplot" got.json --script >got
	same_as "$data/traffic_run.gp" got
}

@test "traffic: of selected ranks" {
	traffic --csv --rank 1 | cut -d, -f1,5,10,13,20,23 >got
	diff got - <<-'END'
		rank,destination,transport,function,sent_bytes,read_bytes
		1,pid 101,cma,MPI_Barrier,0,5000
		1,10.0.0.9,tcp,,700,0
		1,fe80::2,rc,MPI_Barrier,64,0
		1,,,MPI_Barrier,0,0
	END
}
