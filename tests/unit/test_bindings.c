/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Locations of bindings in processes: mappings over another file, forks, exits; and the contents of
 * the table of steps.
 */
#include "unit/test.h"
#include "target/code_file.h"
#include "record/probes/bindings.h"
#include "record/kernel.h"

static struct pov_step table[POV_STEPS], handed[POV_STEPS];
static uint64_t changes;
static struct kernel kernel = {
	.bindings_fd = -1, .binding_steps = table, .bindings_changes = &changes};
static struct bindings b = {.kernel = &kernel};
static struct code_file f08, mpifh, other;

/* Makes a file with that many bytes of code from 0x1000 on, at the same file offset. */
static void file_make(struct code_file *f, int bytes, json_t *steps)
{
	*f = (struct code_file){.segments = json_pack("[[i,i,i]]", 0x1000, 0x1000, bytes)};
	if (steps)
		f->binding = json_pack("{s:i,s:i,s:o}", "address", 0x1000, "bytes", bytes, "steps",
				       steps);
}

static void file_drop(struct code_file *f)
{
	json_decref(f->segments);
	json_decref(f->binding);
}

/* Returns "start+bytes=file …" of a process. */
static const char *ranges(pid_t pid)
{
	static char text[256];
	struct pov_bindings v;

	*text = '\0';
	bindings_get(&b, pid, &v, handed);
	for (unsigned int i = 0; i < POV_BINDINGS_MAX; i++)
		if (v.v[i].bytes)
			sprintf(text + strlen(text), "%s%llx+%x=%u", i ? " " : "",
				(unsigned long long)v.v[i].start, v.v[i].bytes, v.v[i].file);
	return text;
}

static unsigned int words_at(uint16_t file, uint32_t offset)
{
	for (unsigned int i = 0; i < POV_STEPS; i++)
		if (handed[i].words && handed[i].file == file && handed[i].offset == offset)
			return handed[i].words;
	return 0;
}

TEST(processes)
{
	file_make(&f08, 0x2000, json_pack("[i,i]", 0x10, 3));
	file_make(&mpifh, 0x3000, json_pack("[i,i,i,i]", 0x10, 7, 0x2a4, 9));
	file_make(&other, 0x1000, NULL);
	bindings_map(&b, 11, &other, 0x70000, 0x1000, 0x1000);
	assert_int_equal(changes, 0);
	bindings_map(&b, 11, &f08, 0x10000, 0x2000, 0x1000);
	bindings_map(&b, 11, &mpifh, 0x20000, 0x3000, 0x1000);
	assert_string_equal(ranges(11), "10000+2000=1 20000+3000=2");
	assert_int_equal(words_at(1, 0x10), 3);
	assert_int_equal(words_at(2, 0x10), 7);
	assert_int_equal(words_at(2, 0x2a4), 9);
	assert_int_equal(words_at(1, 0x2a4), 0);
	bindings_map(&b, 12, &mpifh, 0x90000, 0x3000, 0x1000);
	bindings_fork(&b, 11, 13);
	bindings_map(&b, 13, &other, 0x11000, 0x1000, 0x1000);
	assert_string_equal(ranges(13), "20000+3000=2");
	assert_string_equal(ranges(12), "90000+3000=2");
	bindings_map(&b, 11, &mpifh, 0x20000, 0x3000, 0x1000);
	assert_string_equal(ranges(11), "10000+2000=1 20000+3000=2");
	bindings_fork(&b, 77, 12);
	assert_string_equal(ranges(12), "");
	bindings_gone(&b, 11);
	assert_string_equal(ranges(11), "");
	assert_int_equal(changes, 8);
}

/* Uses at most half of the table, so that each of its steps is found soon. */
TEST(table)
{
	struct code_file large;
	json_t *steps = json_array();
	unsigned int cnt = 0;

	for (int i = 0; i < POV_STEPS; i++) {
		json_array_append_new(steps, json_integer(5 * i));
		json_array_append_new(steps, json_integer(2));
	}
	file_make(&large, 5 * POV_STEPS, steps);
	bindings_map(&b, 21, &large, 0x100000, 5 * POV_STEPS, 0x1000);
	for (unsigned int i = 0; i < POV_STEPS; i++)
		cnt += table[i].words != 0;
	assert_int_equal(cnt, POV_STEPS / 2);
	file_drop(&large);
}

static int all_drop(void **state)
{
	bindings_release(&b);
	file_drop(&f08);
	file_drop(&mpifh);
	file_drop(&other);
	return 0;
}

ALL_TESTS(NULL, all_drop);
