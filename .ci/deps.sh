#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Installs what povtrace needs to be built and tested, if something is missing: on Debian 12 (libbpf and
# its relatives from backports), Debian 13 and Ubuntu 24.04 (untested). Elsewhere it prints the list.
#
#   .ci/deps.sh          build, tests, benchmarks
#   .ci/deps.sh vm       and what the tests in virtual machines need
#   .ci/deps.sh distro   and what the tests in fresh Debian roots need
#   .ci/deps.sh list     print the packages only
#
# Does nothing, quickly, when all is there. Exit status: 0 all there, 1 something is missing.
set -u
cd "$(dirname "$0")/.." || exit 1

say() { echo "deps: $*" >&2; }

. /etc/os-release 2>/dev/null || ID=unknown
ID=${ID:-unknown}
VERSION_ID=${VERSION_ID:-0}
BACKPORTS=bookworm-backports

build="gcc clang llvm make pkg-config libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev
	libzydis-dev libhwloc-dev libjansson-dev"
# libomp-dev: povbench's sources, compiled by clang for the build with sanitizers.
tests="libcmocka-dev libomp-dev bats openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran protobuf-compiler zstd
	clang-format cppcheck shellcheck jq util-linux procps gnuplot-nox"
case $ID-$VERSION_ID in
debian-12)
	build+=" bpftool"
	tests+=" libclang-rt-14-dev"
	;;
ubuntu-*)
	# The real bpftool lies in the package of some kernel's tools; any will do.
	build+=" linux-tools-common linux-tools-generic"
	tests+=" libclang-rt-dev"
	;;
*)
	build+=" bpftool"
	tests+=" libclang-rt-dev"
	;;
esac

# Packages that only some tests want; without one of these they skip, and say so.
listed() { sed 's/#.*//' "$@" 2>/dev/null; }
extra=$(listed tests/live/packages.txt tests/golden/packages.txt tests/simgrid/packages.txt)
vm=$(listed tests/vm/packages.txt)
distro=$(listed tests/distro/packages.txt)

wanted="$build $tests $extra"
for more; do
	case $more in
	vm) wanted+=" $vm" ;;
	distro) wanted+=" $distro" ;;
	esac
done
wanted=$(printf '%s\n' $wanted | awk '!seen[$0]++')

if [ "${1-}" = list ]; then
	printf '%s\n' $wanted $vm $distro | sort -u
	exit 0
fi

# What decides: each tool answers and each library is found, however it was installed.
missing_things() {
	local t m
	for t in gcc clang make pkg-config; do
		command -v "$t" >/dev/null || echo "$t"
	done
	for m in "libbpf >= 1.3" libelf libdw hwloc libzstd zlib jansson cmocka; do
		pkg-config --exists "$m" 2>/dev/null || echo "$m"
	done
	[ -e /usr/include/Zydis/Zydis.h ] || [ -e /usr/local/include/Zydis/Zydis.h ] || echo zydis
	bpftool_works || echo bpftool
}

bpftool_works() {
	local t
	for t in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
		"$t" version >/dev/null 2>&1 && return 0
	done
	return 1
}

have_apt() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

missing_packages() {
	# One query for all: this is what runs when nothing is to be done.
	# Of packages that it has only heard of, or that were removed, dpkg tells a state, too.
	local have
	have=" $(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $wanted 2>/dev/null |
		awk '$1 == "ii" { printf "%s ", $2 }') "
	for p in $wanted; do
		case $have in
		*" $p "*) ;;
		*) echo "$p" ;;
		esac
	done
}

# Packages that a former run could not get are not tried every time.
given_up=build/deps-given-up
not_given_up() { grep -vxF -e '' -f <(cat $given_up 2>/dev/null || true) || true; }

known_system() {
	case $ID-$VERSION_ID in
	debian-12 | debian-13* | ubuntu-24.04 | ubuntu-24.10 | ubuntu-25.*) have_apt ;;
	*) return 1 ;;
	esac
}

if ! known_system; then
	things=$(missing_things)
	[ -z "$things" ] && exit 0
	say "this system ($ID $VERSION_ID) is not known here; missing:" $things
	say "install what corresponds to these Debian packages:"
	printf '%s\n' $build $tests | sort | tr '\n' ' ' | fold -s -w 90 >&2
	echo >&2
	exit 1
fi

packages=$(missing_packages | not_given_up)
things=$(missing_things)
[ -z "$packages$things" ] && exit 0

if [ "$(id -u)" != 0 ]; then
	if [ -z "$things" ]; then
		say "tests will be skipped for want of:" $packages
		exit 0
	fi
	say "missing:" $packages
	say "run \"sudo make deps\" to install them"
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt="apt-get -q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 --no-install-recommends"

say "installing" $packages
if [ "$ID-$VERSION_ID" = debian-12 ] && ! apt-cache policy 2>/dev/null | grep -q "n=$BACKPORTS"; then
	if ! grep -rqs "$BACKPORTS" /etc/apt/sources.list /etc/apt/sources.list.d; then
		# From the mirror this machine already uses.
		mirror=$(grep -hoE 'https?://[^ ]+/debian/?( |$)' -rs /etc/apt/sources.list /etc/apt/sources.list.d |
			head -1)
		echo "deb ${mirror:-http://deb.debian.org/debian} $BACKPORTS main" \
			>/etc/apt/sources.list.d/$BACKPORTS.list
	fi
fi
$apt update >&2 || say "the package lists could not be renewed; trying with the old ones"

# Debian 12's own libbpf is too old; the newer one brings a newer libelf. Only the same version of libdw fits
# that; perf and gdb want one, too.
if [ "$ID-$VERSION_ID" = debian-12 ]; then
	$apt install -t $BACKPORTS libbpf-dev libelf-dev libdw-dev bpftool >&2 || exit 1
fi

# All at once; if one of the test packages cannot be had, that must not keep the rest from being there.
if ! $apt install $packages >&2; then
	$apt install $build >&2 || exit 1
	for p in $packages; do
		$apt install "$p" >&2 && continue
		say "could not install $p; what needs it will be skipped"
		mkdir -p build && echo "$p" >>$given_up
	done
fi

things=$(missing_things)
[ -z "$things" ] && exit 0
say "still missing:" $things
exit 1
