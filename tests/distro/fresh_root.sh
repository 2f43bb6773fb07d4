#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What README promises for a Debian release, tried in a fresh root of it: `make demo`, then `make check`, as root, on this
# machine's kernel. Usage: fresh_root.sh RELEASE SUITE, e.g. 13 trixie. Prints TAP: the files of the demo, and each test of
# the inner run under its own name. POV_DISTRO_STAGES names the stages of the inner run; if it is empty, only the demo runs.
#
# The root is made by debootstrap from the mirror that this machine uses, once a month, and kept with the packages
# that were installed into it in ${POV_DISTRO_CACHE:-~/.cache/povtrace/distro}; each run gets a copy of its own, which
# is gone at the end, with all processes and mounts (with POV_KEEP set, the files stay).
#
# It is a chroot in a mount namespace, not in a pid namespace: the kernel half sees the pids of the whole machine.
set -u
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
top=$(cd "$(dirname "$0")/../.." && pwd)
name=debian_$1 suite=$2
cache=${POV_DISTRO_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/povtrace/distro}/$suite
stages=${POV_DISTRO_STAGES-unit golden fuzz live}
kept=$top/build/check/distro/$name # the inner run's logs
jobs=$(nproc) root='' inner=''
[ "$jobs" -le 4 ] || jobs=4

skip_all() {
	echo "1..0 # SKIP $*"
	echo "# $*"
	exit 77
}

# To the terminal, if tests/run has left it open as file descriptor 3.
tell() { { echo "         $name: $* (after $SECONDS s)" >&3; } 2>/dev/null; }

# ---- nothing stays behind ----

# Processes of the run: below its root, or marked in their environment (tests change their root, too).
processes() {
	local p
	for p in /proc/[0-9]*; do
		if [ "$p/root" -ef "$root" ] || grep -qszxF "POV_DISTRO_RUN=$root" "$p/environ"; then
			echo "${p#/proc/}"
		fi
	done 2>/dev/null
}

# The mounts are those of a namespace, and end with its last process.
clean_up() {
	local pids
	trap '' INT TERM HUP
	[ -n "$root" ] || return 0
	for _ in {1..50}; do
		pids=$(processes)
		[ -n "$pids" ] || break
		kill -KILL $pids 2>/dev/null
		sleep 0.1
	done
	[ -n "${POV_KEEP-}" ] && echo "# kept: $root" || rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- the root ----

# The first Debian mirror in this machine's lists, and apt's settings for reaching it.
mirror=$(grep -hoE 'https?://[^ ]+/debian/?( |$)' -rs /etc/apt/sources.list /etc/apt/sources.list.d | head -n 1)
mirror=${mirror%% *}
mirror=${POV_DISTRO_MIRROR:-${mirror:-http://deb.debian.org/debian}}
for scheme in http https; do
	eval "$(apt-config shell proxy "Acquire::$scheme::Proxy" 2>/dev/null)"
	[ -n "${proxy-}" ] && [ "$proxy" != DIRECT ] && export "${scheme}_proxy=$proxy"
	unset proxy
done

needs() {
	[ "$(id -u)" = 0 ] || skip_all "needs root, to change the root directory"
	command -v debootstrap >/dev/null || skip_all "needs debootstrap (.ci/deps.sh distro installs it)"
	unshare -m true 2>/dev/null || skip_all "cannot make a mount namespace here"
	mkdir -p "$cache/debs" || skip_all "cannot write $cache"
	wget -q -T 20 -t 2 -O /dev/null "$mirror/dists/$suite/Release" ||
		skip_all "cannot reach the mirror $mirror, or it has no $suite"
}

# Lets apt in the root reach the mirror as this machine does.
configure_apt() { # ROOT
	printf 'deb %s %s main\n' "$mirror" "$suite" "$mirror" "$suite-updates" >"$1/etc/apt/sources.list"
	apt-config dump 2>/dev/null |
		grep -E '^Acquire::((https?|Check-)[^ ]*|Retries|ForceIPv[46]|Max-FutureTime) "' |
		grep -viE '^Acquire::https::[^ ]*(Ca|Ssl)' >"$1/etc/apt/apt.conf.d/50host"
	cp /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/" 2>/dev/null &&
		chroot "$1" update-ca-certificates >/dev/null 2>&1
	return 0
}

# Makes the base root, or makes it anew after a month. If that fails, the old one is used.
make_base() {
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -n "$(find "$cache/base" -maxdepth 0 -mtime -30 2>/dev/null)" ] &&
		[ "$(cat "$cache/mirror" 2>/dev/null)" = "$mirror" ] && return
	[ -e $keyring ] || skip_all "needs $keyring (.ci/deps.sh distro installs it)"
	tell "making a root of $suite"
	rm -rf "$cache/new"
	if ! debootstrap --variant=minbase --include=make,ca-certificates --keyring=$keyring "$suite" \
		"$cache/new" "$mirror" >"$cache/log" 2>&1; then
		sed 's/^/# /' "$cache/log" | tail -n 20
		rm -rf "$cache/new"
		[ -e "$cache/base" ]
		return
	fi
	configure_apt "$cache/new"
	rm -rf "$cache/base"
	mv "$cache/new" "$cache/base"
	touch "$cache/base"
	echo "$mirror" >"$cache/mirror"
}

# Removes what killed runs have left, whose locks nobody holds any more.
remove_old() {
	local old
	for old in "$cache"/run.*; do
		[ -e "$old" ] && flock -n "$old" true && (root=$old && clean_up)
	done
	return 0
}

copy_root() {
	root=$(mktemp -d "$cache/run.XXXXXX")
	exec 8<"$root"
	flock 8
	cp -a "$cache/base/." "$root/" && chmod 755 "$root" || return 1
	cp -l "$cache/debs"/*.deb "$root/var/cache/apt/archives/" 2>/dev/null
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null
	mkdir "$root/povtrace"
	tar -C "$top" --exclude=./build --exclude=./.git -cf - . | tar -C "$root/povtrace" --no-same-owner -xf -
}

# ---- inside ----

# Runs in the namespace and never returns.
enter() { # ROOT JOBS COMMAND
	local n
	cd "$1" || exit
	mount --bind . . && cd "$1" || exit # tests make their own namespaces: that wants a mount point for a root
	mount -t proc proc proc && mount --rbind /sys sys && mount -t tmpfs -o mode=755 dev dev || exit
	mountpoint -q sys/fs/bpf || mount -t bpf bpf sys/fs/bpf
	mountpoint -q sys/kernel/tracing || mount -t tracefs tracefs sys/kernel/tracing
	mkdir dev/shm dev/pts
	mount -t tmpfs -o mode=1777 shm dev/shm
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts && ln -s pts/ptmx dev/ptmx
	for n in null zero full random urandom tty; do
		: >"dev/$n" && mount --bind "/dev/$n" "dev/$n"
	done
	ln -s /proc/self/fd dev/fd
	for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "dev/${n#*:}"; done
	exec chroot . /usr/bin/env -i PATH="$PATH" HOME=/root TERM=dumb POV_DISTRO_RUN="$1" MAKEFLAGS="-j$2" \
		${http_proxy+http_proxy="$http_proxy"} ${https_proxy+https_proxy="$https_proxy"} \
		/bin/bash -c "cd /povtrace && $3"
}

# Runs in the background, so that this script handles signals at once. bash lets such a command ignore SIGINT.
inside() { # COMMAND
	env --default-signal=INT,QUIT POV_DISTRO_RUN="$root" unshare -m --propagation private \
		bash -c "$(declare -f enter); enter \"\$@\"" enter "$root" $jobs "$1" </dev/null 3>&- 8>&- 9>&- &
	inner=$!
	wait $inner
}

# ---- what is tested ----

tap_cnt=0 tap_bad=0
holds() { # NAME COMMAND…
	local text=$1
	shift
	tap_cnt=$((tap_cnt + 1))
	if "$@" >/dev/null 2>&1; then
		echo "ok $tap_cnt - $text"
	else
		tap_bad=$((tap_bad + 1))
		echo "not ok $tap_cnt - $text"
	fi
}

demo() {
	local status demo=$root/povtrace/build/demo
	inside "make demo" >"$kept/demo.log" 2>&1
	status=$?
	[ $status = 0 ] || tail -n 40 "$kept/demo.log" | sed 's/^/# /'
	holds "make demo: status" test $status = 0
	holds "make demo: the recording saw both ranks" grep -qE 'demo\.pov: .*: 2 MPI processes, .*, 0 lost,' "$demo/log"
	holds "make demo: prints at most 60 lines" test "$(wc -l <"$kept/demo.log")" -le 60
	for f in demo.pov demo.json demo.pftrace away.pov away.pftrace sender.json sender.svg; do
		holds "make demo: leaves $f" test -s "$demo/$f"
	done
	# Packages for the next run; those that the mirror has replaced are not kept.
	inside "apt-get autoclean" >/dev/null 2>&1
	rm -f "$cache/debs"/*.deb
	cp -l "$root/var/cache/apt/archives"/*.deb "$cache/debs/" 2>/dev/null
}

check() {
	local status tap=$root/povtrace/build/results.tap
	inside "POV_TAP=build/results.tap make check STAGES='$stages'" >"$kept/check.log" 2>&1
	status=$?
	cp -r "$root/povtrace/build/check/." "$kept/" 2>/dev/null
	sed 's/^/# /' "$kept/check.log"
	holds "make check: comes to its end" grep -qE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$kept/check.log"
	if [ -s "$tap" ]; then
		awk -v n=$tap_cnt '{ sub(/ok [0-9]+ /, "ok " (++n) " "); print }' "$tap"
		tap_cnt=$((tap_cnt + $(wc -l <"$tap")))
	fi
	[ $status = 0 ] || tap_bad=$((tap_bad + 1))
}

needs
exec 9>"$cache/.lock"
flock 9
remove_old
make_base || {
	echo "not ok 1 - debootstrap makes a root of $suite"
	echo "1..1"
	exit 1
}
copy_root || exit 1
flock -u 9
rm -rf "$kept"
mkdir -p "$kept"
tell "make demo"
demo
if [ -n "$stages" ]; then
	tell "make check"
	check
fi
echo "1..$tap_cnt"
[ $tap_bad = 0 ]
