# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Launched programs with exact counts, for kernels on which every probe is an event of its own and slow to remove: only functions that a
# program names in its source are recorded. C and Fortran, threads, late loading, a chain of processes, a killed rank.
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"
need_live

# -f options for the functions that sources name and that are in the table
functions_in() { # SOURCE…
	grep -ohi 'MPI_[A-Za-z_]*' "$@" "$top/tests/mpi/expect.h" | tr '[:upper:]' '[:lower:]' | sort -u |
		awk 'FILENAME != "-" { name[tolower($2)] = $2; next } $1 in name { printf "-f %s ", name[$1] }' \
			FS='[(, ]+' <("$top/tests/tool/table_rows" "$top/user/layers/mpi/mpi.def" | grep -o '^POV_FUNC([A-Za-z_]*') -
}

exact() { # TEXT MPI SOURCE COMMAND…
	local text="$2: $1" source=$top/tests/mpi/$3
	shift 3
	record run $(functions_in "$source") -- "$@"
	is "$text: status" $? 0
	counts_match "$text" run
	bytes_match "$text" run
	nothing_lost "$text" run
}

launched() { # MPI
	local mpi=$1 run lib
	run="$(launcher "$mpi" 2)"
	exact "point-to-point" "$mpi" p2p.c $run "$programs/$mpi/p2p"
	exact "collectives" "$mpi" coll.c $run "$programs/$mpi/coll"
	exact "derived datatypes" "$mpi" types.c "$programs/plain/chain" 6 $run "$programs/$mpi/types"
	exact "threads" "$mpi" threads.c $run "$programs/$mpi/threads"
	exact "Fortran 2008" "$mpi" f_calls.inc $run "$programs/$mpi/f_f08"
	case $mpi in openmpi) lib=libmpi.so.40 ;; *) lib=libmpich.so.12 ;; esac
	exact "loaded by dlopen" "$mpi" plain/plugin.c $run "$programs/plain/plugin" $lib

	record run $(functions_in "$top/tests/mpi/ends.c") -- $run "$programs/$mpi/ends" kill
	counts_match "$mpi: a killed rank" run
	nothing_lost "$mpi: a killed rank" run
}
