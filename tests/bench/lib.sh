# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What the benchmark scripts share. Sourced with bash; sets top, pov, mpis.
set -u
export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
pov=$top/build/povtrace
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

work=$(mktemp -d)
at_exit() { rm -rf "$work"; }
trap at_exit EXIT

skip() {
	echo "$(basename "$0" .sh): skipped: $*"
	exit 77
}

[ "$(id -u)" = 0 ] || skip "needs root to attach probes"
[ -x "$pov" ] || skip "no build/povtrace; run make first"

mpis=
for m in openmpi mpich; do
	command -v "mpirun.$m" >/dev/null && [ -d "$top/build/mpi/$m" ] && mpis="$mpis $m"
done
[ -n "$mpis" ] || skip "no MPI"

# launch MPI RANKS PROGRAM ARGUMENT…; the words, so that they can stand behind another command.
launcher() { # MPI RANKS
	case $1 in
	openmpi) echo "mpirun.openmpi -np $2 --bind-to none" ;;
	mpich) echo "mpiexec.hydra -n $2" ;;
	esac
}

# The MPI library a program was linked with.
library_of() { ldd "$1" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }' | xargs -r readlink -f; }

median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# ratio A B DIGITS
ratio() { awk -v a="$1" -v b="$2" -v d="${3:-2}" 'BEGIN { if (b > 0) printf "%.*f\n", d, a / b; else print "nan" }'; }
minus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f\n", a - b }'; }
