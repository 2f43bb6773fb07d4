/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Fuzzes the reading of ELF files. Random bytes are hardly ever an ELF file. So most inputs are
 * changes to a small real file that is always available: the kernel's vDSO. Inputs that begin like
 * an ELF file are used unchanged.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/elf_exercise.h"

#define IMAGE_MAX (256u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
extern volatile unsigned long elf_exercise_sink;
volatile unsigned long elf_exercise_sink;

static size_t vdso_copy(uint8_t *image)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t bytes;

	if (!h)
		return 0;
	bytes = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
	if (bytes > IMAGE_MAX)
		return 0;
	memcpy(image, h, bytes);
	return bytes;
}

/*
 * Applies the changes, each with an offset (3 bytes) and a value (1 byte). The last byte may cut
 * the file.
 */
static size_t image_make(const uint8_t *data, size_t bytes, uint8_t *image)
{
	bool is_file = bytes > SELFMAG && !memcmp(data, ELFMAG, SELFMAG);
	size_t cnt = is_file ? 0 : vdso_copy(image);

	if (cnt == 0) {
		cnt = bytes < IMAGE_MAX ? bytes : IMAGE_MAX;
		memcpy(image, data, cnt);
		return cnt;
	}
	for (size_t i = 1; i + 5 <= bytes; i += 4)
		image[(data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) % cnt] =
			data[i + 3];
	return data[0] & 8 ? cnt * data[bytes - 1] / 255 : cnt;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t image[IMAGE_MAX];
	struct elf_file *f;
	size_t cnt;
	int fd;

	if (bytes == 0)
		return 0;
	cnt = image_make(data, bytes, image);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (pwrite(fd, image, cnt, 0) == (ssize_t)cnt && !elf_file_open_fd(fd, &f)) {
		elf_exercise_sink = elf_exercise(f);
		elf_file_close(f);
	}
	close(fd);
	return 0;
}
