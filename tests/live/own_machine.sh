# shellcheck shell=bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Restarts the test in a mount namespace of its own, as if it had a machine for itself. Sourced after lib.sh. /run/povtrace, where recorders
# find each other's sockets, is empty there, and user_make adds a user who exists only there.
if [ -z "${POV_OWN_MACHINE-}" ]; then
	need unshare
	unshare -m --propagation private true 2>/dev/null || skip_all "cannot make a mount namespace"
	rmdir "$T"
	POV_OWN_MACHINE=1 exec unshare -m --propagation private "$0"
fi
mkdir -p /run/povtrace && mount -t tmpfs -o mode=755 tmpfs /run/povtrace || skip_all "cannot mount over /run/povtrace"
chmod 755 "$T"

mount_over() { mount --bind "$1" "$2" || skip_all "cannot mount over $2"; } # OURS THEIRS

# etc_append FILE LINE…: adds lines to a file of /etc.
etc_append() {
	local file=$1
	shift
	cp -p "/etc/$file" "$T/etc.$file"
	printf '%s\n' "$@" >>"$T/etc.$file"
	mount_over "$T/etc.$file" "/etc/$file"
}

# user_make: sets $user, $uid, $gid, the user's further group $group, and $home.
user_make() {
	user=povuser uid=54321 gid=54322 group=54323 home=$T/home
	mkdir "$home"
	chown $uid:$gid "$home"
	etc_append passwd "$user:x:$uid:$gid::$home:/bin/bash"
	etc_append shadow "$user:*:19000:0:99999:7:::"
	etc_append group "$user:x:$gid:" "povhelpers:x:$group:$user"
}
