/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Open MPI's handles point to objects whose layout changes between versions and builds. The offset
 * of a datatype's size is found with datatypes of known size. A communicator's members exist only
 * at run time; their offsets are found by following small functions that use them: PMPI_Comm_rank
 * stores my_rank, PMPI_Comm_size the count of the local group, and so on. The layouts known from
 * the sources are a second opinion, not a source.
 */
#include "layers/mpi/library_mpi_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "target/elf/elf_file.h"
#include "target/x86/x86_value.h"

#define TYPE_SIZE_OFF 0x18

struct layout_known {
	const char *versions;
	uint16_t context, rank, group, remote, count;
};

static const struct layout_known known[] = {
	{"4.0 and 4.1", 0xe0, 0xe4, 0xf8, 0x100, 0x10},
	/* Matching uses c_index. The 128-bit id beside it (0xa8) is 0 except for Sessions. */
	{"5.0", 0xd8, 0xdc, 0x108, 0x110, 0x10},
};

static void unsure_add(char *unsure, size_t bytes, const char *what)
{
	size_t used = strlen(unsure);

	snprintf(unsure + used, bytes - used, "%s%s",
		 used ? ", " : "cannot tell from the file: ", what);
}

/* Returns true if all datatypes of known size have a type_size member of this width at +0x18. */
static bool type_size_holds(const struct elf_file *f)
{
	static const struct {
		const char *symbol;
		uint64_t size;
	} type[] = {
		{"ompi_mpi_char", 1},  {"ompi_mpi_short", 2},  {"ompi_mpi_int", sizeof(int)},
		{"ompi_mpi_float", 4}, {"ompi_mpi_double", 8}, {"ompi_mpi_byte", 1},
	};

	for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		const struct elf_symbol *s = elf_file_find(f, type[i].symbol);
		uint64_t size;

		if (!s || !s->is_object || s->size < TYPE_SIZE_OFF + sizeof(size) ||
		    elf_file_read_addr(f, s->addr + TYPE_SIZE_OFF, &size, sizeof(size)) !=
			    (long)sizeof(size) ||
		    size != type[i].size)
			return false;
	}
	return true;
}

#if defined(__x86_64__)

static bool member_find(const struct elf_file *f, const char *function, enum x86_value_want want,
			struct x86_loads *out)
{
	const struct elf_symbol *s = elf_file_find(f, function);

	return s && s->is_func && !x86_value_find(f, s, want, out);
}

/* Returns the offset of a number of this many bytes that a function reads with one load. */
static uint16_t direct_off(const struct elf_file *f, const char *function, enum x86_value_want want,
			   uint8_t bytes)
{
	struct x86_loads l;

	if (!member_find(f, function, want, &l) || l.loads != 1 || l.bytes != bytes)
		return POV_OFF_NONE;
	return (uint16_t)l.off[0];
}

/*
 * Returns the offset of a pointer through which a function reads an int; *count is the int's
 * offset.
 */
static uint16_t pointer_off(const struct elf_file *f, const char *function, uint16_t *count)
{
	struct x86_loads l;

	if (!member_find(f, function, X86_STORED, &l) || l.loads != 2 || l.bytes != 4)
		return POV_OFF_NONE;
	*count = (uint16_t)l.off[1];
	return (uint16_t)l.off[0];
}

static uint16_t type_size_off_by_code(const struct elf_file *f)
{
	return direct_off(f, "PMPI_Type_size", X86_STORED, 8);
}

static void comm_layout(const struct elf_file *f, struct pov_lib *layout)
{
	uint16_t count = POV_OFF_NONE, remote_count = POV_OFF_NONE;
	uint16_t direct = direct_off(f, "PMPI_Group_size", X86_STORED, 4);

	layout->comm_rank_off = direct_off(f, "PMPI_Comm_rank", X86_STORED, 4);
	layout->comm_group_off = pointer_off(f, "PMPI_Comm_size", &count);
	layout->comm_remote_off = pointer_off(f, "PMPI_Comm_remote_size", &remote_count);
	if (layout->comm_remote_off != POV_OFF_NONE && remote_count != count)
		layout->comm_remote_off = POV_OFF_NONE;
	/* Two functions must agree on the offset of the group's count. */
	layout->group_count_off = count == direct ? count : POV_OFF_NONE;
	layout->comm_context_off = direct_off(
		f,
		elf_file_find(f, "ompi_comm_print_cid") ? "ompi_comm_print_cid" : "ompi_comm_dump",
		X86_PASSED, 4);
	layout->comm_context_bytes = 4;
}

#else

static uint16_t type_size_off_by_code(const struct elf_file *f)
{
	(void)f;
	return POV_OFF_NONE;
}

static void comm_layout(const struct elf_file *f, struct pov_lib *layout)
{
	(void)f;
	(void)layout;
}

#endif

static bool layout_is_known(const struct pov_lib *l)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (l->comm_context_off == known[i].context && l->comm_rank_off == known[i].rank &&
		    l->comm_group_off == known[i].group && l->comm_remote_off == known[i].remote &&
		    l->group_count_off == known[i].count)
			return true;
	return false;
}

static void type_size_layout(const struct elf_file *f, struct pov_lib *layout, char *unsure,
			     size_t bytes)
{
	uint16_t by_code = type_size_off_by_code(f);

	if (type_size_holds(f) && (by_code == POV_OFF_NONE || by_code == TYPE_SIZE_OFF))
		layout->type_size_off = TYPE_SIZE_OFF;
	else if (!type_size_holds(f))
		layout->type_size_off = by_code;
	if (layout->type_size_off == POV_OFF_NONE)
		unsure_add(unsure, bytes, "datatype size");
}

void mpi_openmpi_layout(const struct elf_file *f, struct pov_lib *layout, char *unsure,
			size_t bytes)
{
	unsure[0] = 0;
	comm_layout(f, layout);
	type_size_layout(f, layout, unsure, bytes);
	if (layout->comm_rank_off == POV_OFF_NONE)
		unsure_add(unsure, bytes, "communicator's rank");
	if (layout->comm_group_off == POV_OFF_NONE || layout->group_count_off == POV_OFF_NONE)
		unsure_add(unsure, bytes, "communicator's size");
	if (layout->comm_remote_off == POV_OFF_NONE)
		unsure_add(unsure, bytes, "remote group");
	if (layout->comm_context_off == POV_OFF_NONE)
		unsure_add(unsure, bytes, "context id");
	if (!unsure[0] && !layout_is_known(layout))
		snprintf(unsure, bytes,
			 "communicators laid out as in no known version, believing the code");
}
