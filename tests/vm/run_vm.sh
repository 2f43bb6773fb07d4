#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Runs a command on another kernel: a Debian kernel in QEMU, without KVM, on this machine's own files.
# The host's root is seen read-only through 9p, with a layer of memory above it, so that whatever the
# command does is gone afterwards; only the directory given by -o is written through, as /mnt/out.
#
#   run_vm.sh [-k SERIES] [-c CPUS] [-m MIB] [-t SECONDS] [-o DIR] [-n N -l DIR] [-r] -- COMMAND [ARGUMENT...]
#
#   -k SERIES   6.1 (default) or 6.12: the newest linux-image-SERIES.* that apt knows
#   -o DIR      kept afterwards; DIR/console.log holds what the kernel said
#   -n N        1 or 2: the machine is called nodeN, and a cable (two sockets in the directory of -l) joins it to
#               the other node
#   -r          with an RDMA adapter in software, rxe0, on a network of its own: addresses fe80::… and 10.0.2.15
#
# Stdout is the command's, its stderr included; status is the command's, or 124 (too slow), 125 (the
# machine died), 126 (this host lacks something; said on stderr). The kernel and its first files are
# kept in ${POV_VM_CACHE:-~/.cache/povtrace/vm}.
set -u
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

series=6.1 cpus=2 mib=3072 limit=300 out='' node='' cable='' rdma=''
cache=${POV_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/povtrace/vm}

give_up() {
	echo "run_vm: $*" >&2
	exit 126
}

while getopts k:c:m:t:o:n:l:r opt; do
	case $opt in
	k) series=$OPTARG ;;
	c) cpus=$OPTARG ;;
	m) mib=$OPTARG ;;
	t) limit=$OPTARG ;;
	o) out=$OPTARG ;;
	n) node=$OPTARG ;;
	l) cable=$OPTARG ;;
	r) rdma=1 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || give_up "no command given"
[ "$(uname -m)" = x86_64 ] || give_up "only x86_64 hosts are supported"
case $node/$cable in
/ | [12]/?*) ;;
*) give_up "-n takes 1 or 2, and needs -l" ;;
esac
for tool in qemu-system-x86_64 busybox cpio depmod modprobe xz apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || give_up "no $tool; see tests/vm/packages.txt"
done

newest_kernel() {
	apt-cache pkgnames "linux-image-$series." |
		grep -E -- "^linux-image-[0-9][0-9a-z.+~-]*-amd64$" | grep -vE -- '-(cloud|rt)-amd64$' |
		sort -V | tail -1
}

# Modules with all they depend on, in loading order, unpacked: busybox knows no compression here.
pick_modules() { # ROOT VERSION DEST
	local module file
	for module in virtio_pci 9p 9pnet_virtio overlay virtio_net dummy crc32_generic ib_uverbs rdma_rxe rdma_ucm; do
		modprobe -d "$1" -S "$2" --show-depends "$module" || return 1
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$3/list" || return 1
	while read -r file; do
		module=$(basename "$file")
		module=${module%%.ko*}.ko
		case $file in
		*.xz) xz -dc "$file" ;;
		*.zst) zstd -qdc "$file" ;;
		*) cat "$file" ;;
		esac >"$3/$module" || return 1
		echo "$module" >>"$3/order"
	done <"$3/list"
}

write_init() { # FILE
	cat >"$1" <<'INIT'
#!/bin/busybox sh
# First process of the guest: builds a root from the host's, and executes the command in it.
b=/bin/busybox
$b mkdir -p /proc /sys /dev /host /layer /root
$b mount -t proc none /proc
$b mount -t sysfs none /sys
$b mount -t devtmpfs none /dev
while read -r m; do $b insmod /modules/$m || echo "init: cannot load $m"; done </modules/order
options=trans=virtio,version=9p2000.L,msize=524288
$b mount -t 9p -o $options,ro,cache=loose host /host || echo "init: no host files"
$b mount -t tmpfs none /layer
$b mkdir /layer/upper /layer/work
$b mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work none /root
for d in proc sys dev; do $b mount --move /$d /root/$d; done
$b mount -t tmpfs none /root/run # not over /tmp: the tree may lie there
$b chmod 1777 /root/tmp
$b mkdir -p /root/dev/shm /root/dev/pts /root/mnt/out
$b mount -t tmpfs none /root/dev/shm
$b mount -t devpts none /root/dev/pts
$b mount -t 9p -o $options,rw,cache=none out /root/mnt/out || echo "init: no output directory"
$b chroot /root /bin/bash /mnt/out/.guest
$b sync
$b poweroff -f
INIT
	chmod +x "$1"
}

# Downloads and unpacks a kernel, once; the cache holds vmlinuz, initrd and the package's name.
prepare() {
	local package version dir=$cache/$series
	package=$(newest_kernel)
	[ -n "$package" ] || give_up "apt knows no linux-image-$series.* package"
	[ -s "$dir/ready" ] && [ "$(cat "$dir/ready")" = "$package 5" ] && return
	rm -rf "$dir"
	mkdir -p "$dir/x" "$dir/initrd/bin" "$dir/initrd/modules" && cd "$dir" || give_up "cannot write $dir"
	apt-get -o APT::Sandbox::User=root -qq download "$package" >&2 || give_up "cannot download $package"
	dpkg-deb -x ./*.deb x || give_up "cannot unpack $package"
	[ -d x/lib ] || ln -s usr/lib x/lib
	version=$(ls x/lib/modules)
	cp "x/boot/vmlinuz-$version" vmlinuz || give_up "no vmlinuz in $package"
	depmod -b "$dir/x" "$version" || give_up "depmod"
	pick_modules "$dir/x" "$version" "$dir/initrd/modules" || give_up "modules of $package"
	cp "$(command -v busybox)" initrd/bin/busybox || give_up "busybox"
	write_init initrd/init
	(cd initrd && find . | cpio -o -H newc --quiet | gzip -1) >initrd.gz || give_up "cpio"
	rm -rf x initrd ./*.deb
	echo "$package 5" >ready
}

write_guest() { # FILE COMMAND...
	local file=$1
	shift
	{
		echo "cd $(printf %q "$PWD") || exit 125"
		echo "node=$node rdma=$rdma"
		echo "export PATH=$PATH HOME=/root LC_ALL=C.UTF-8 TMPDIR=/run POV_IN_VM=1"
		env | sed -n 's/^\(POV_[A-Z_]*\)=.*/\1/p' | while read -r v; do
			echo "export $v=$(printf %q "${!v}")"
		done
		cat <<'GUEST'
busybox ifconfig lo up
if [ -n "$node" ]; then
	hostname "node$node"
	printf '10.9.0.%s node%s\n' 1 1 2 2 >>/etc/hosts
	busybox ifconfig eth0 "10.9.0.$node" netmask 255.255.255.0 up
else
	hostname guest
	grep -q '[[:space:]]guest$' /etc/hosts || echo '127.0.0.1 guest' >>/etc/hosts
fi
if [ -n "$rdma" ]; then
	ip link add rdma0 type dummy
	ip addr add 10.0.2.15/24 dev rdma0
	ip link set rdma0 up
	rdma link add rxe0 type rxe netdev rdma0
	port=/sys/class/infiniband/rxe0/ports/1
	for i in $(seq 100); do
		grep -q :ffff: $port/gids/1 && grep -q ACTIVE $port/state && break
		sleep 0.1
	done 2>/dev/null
fi
ln -sfn /proc/self/fd /dev/fd
for i in 0:stdin 1:stdout 2:stderr; do ln -sf /proc/self/fd/${i%:*} /dev/${i#*:}; done
mount -t tracefs none /sys/kernel/tracing
mount -t bpf none /sys/fs/bpf
mount -t cgroup2 none /sys/fs/cgroup
ulimit -l unlimited
cut -d' ' -f1 /proc/uptime >/mnt/out/.began
GUEST
		printf '%q ' "$@"
		echo '</dev/null >/mnt/out/output 2>&1'
		echo 'echo $? >/mnt/out/.status'
	} >"$file"
}

mkdir -p "$cache" || give_up "cannot write $cache"
(flock 9 && prepare) 9>"$cache/.lock" || exit 126

keep=1
[ -n "$out" ] || { out=$(mktemp -d) && keep=0; }
mkdir -p "$out" && out=$(cd "$out" && pwd) || give_up "cannot write $out"
write_guest "$out/.guest" "$@"

network=(-nic none)
[ -z "$node" ] || network=(
	-netdev "dgram,id=cable,local.type=unix,local.path=$cable/cable$node,remote.type=unix,remote.path=$cable/cable$((3 - node))"
	-device "virtio-net-pci,netdev=cable,mac=52:54:00:00:00:0$node,romfile="
)

boot() {
	rm -f "$out/output" "$out/.status" "$out/.began"
	timeout -k 5 $((limit - SECONDS)) qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp "$cpus" -m "$mib" \
		-nographic -vga none "${network[@]}" -no-reboot \
		-kernel "$cache/$series/vmlinuz" -initrd "$cache/$series/initrd.gz" \
		-append 'console=ttyS0 panic=-1 softlockup_panic=1 watchdog_thresh=20 rcupdate.rcu_cpu_stall_timeout=40 sysctl.kernel.panic_on_rcu_stall=1 quiet mitigations=off rdinit=/init' \
		-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$out,mount_tag=out,security_model=none,multidevs=remap" \
		</dev/null >"$out/console.log" 2>&1
}

# While booting, or when tracing begins, an emulated processor sometimes fails at code that another one patches. It stands still, which the
# guest's watchdog or RCU reports (40 s, then a panic), or it dies of a breakpoint that was there for a moment and that the kernel no longer
# knows. Then the machine is started once more.
tripped() {
	[ ! -e "$out/.began" ] ||
		{ [ ! -s "$out/.status" ] && grep -qE 'Kernel panic.*(softlockup|RCU Stall)|int3: 0000' "$out/console.log"; }
}
SECONDS=0
for _ in 1 2 3; do
	boot
	qemu=$?
	[ $qemu = 124 ] || [ $qemu = 137 ] || ! tripped || [ $SECONDS -ge $((limit - 60)) ] || continue
	break
done

[ -f "$out/output" ] && cat "$out/output"
if [ -s "$out/.status" ]; then
	status=$(cat "$out/.status")
elif [ $qemu = 124 ] || [ $qemu = 137 ]; then
	status=124
	echo "run_vm: stopped after $limit s" >&2
else
	status=125
	echo "run_vm: the machine died; what it first complained of, and its last words:" >&2
	grep -aE -m 3 -A 8 'Oops|BUG:|int3:|general protection|Kernel panic' "$out/console.log" >&2
	tail -20 "$out/console.log" >&2
fi
[ $keep = 1 ] || rm -rf "$out"
exit "$status"
