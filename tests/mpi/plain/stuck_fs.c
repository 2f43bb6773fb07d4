/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file system that is stuck: one file that can be found, opened and mapped, but whose contents
 * never arrive. It serves /dev/fuse itself, so that nothing needs to be installed. stuck_fs
 * DIRECTORY; prints "mounted".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_INO 2
#define FILE_BYTES 65536
#define REQUEST_BYTES (1 << 18)

static void reply(int fd, const struct fuse_in_header *in, int error, const void *data,
		  size_t bytes)
{
	struct fuse_out_header out = {
		.len = sizeof(out) + bytes,
		.error = error,
		.unique = in->unique,
	};
	struct iovec io[] = {{&out, sizeof(out)}, {(void *)data, bytes}};

	if (writev(fd, io, bytes ? 2 : 1) < 0 && errno != ENOENT)
		perror("stuck_fs: reply");
}

static struct fuse_attr attr_of(uint64_t ino)
{
	return (struct fuse_attr){
		.ino = ino,
		.size = ino == FILE_INO ? FILE_BYTES : 0,
		.mode = ino == FILE_INO ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void serve(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
	struct fuse_entry_out entry = {.nodeid = FILE_INO, .attr = attr_of(FILE_INO)};
	struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
	/* dropping the cache would wait for the earlier reader */
	struct fuse_open_out open = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(fd, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(fd, in, 0, &open, sizeof(open));
		break;
	case FUSE_READ: /* no reply: this is the point */
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(fd, in, 0, NULL, 0);
		break;
	default:
		reply(fd, in, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char *buf = malloc(REQUEST_BYTES), options[128];
	ssize_t n;

	if (argc != 2 || fd < 0 || !buf) {
		perror("stuck_fs: /dev/fuse");
		return 1;
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other",
		 fd);
	if (mount("stuck", argv[1], "fuse.stuck", MS_NODEV, options)) {
		perror("stuck_fs: mount");
		return 1;
	}
	puts("mounted");
	fflush(stdout);
	while ((n = read(fd, buf, REQUEST_BYTES)) > 0 || errno == EINTR || errno == ENOENT)
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve(fd, (const struct fuse_in_header *)buf);
	return 0;
}
