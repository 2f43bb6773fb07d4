/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI libraries: finds which MPI a file implements, its version, and the constants of its ABI. The
 * families are: Open MPI (handles are addresses); MPICH and all that keep its ABI (handles are
 * 32-bit numbers); and the ABI of MPI 5.0 (handles are pointers without meaning for us).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/mpi/library_mpi_layout.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/helper/library_kind.h"
#include "target/x86/x86_value.h"

/* ---- Open MPI's objects ---- */

/*
 * Open MPI's handles point to objects. Their layout changes between versions and builds. The offset
 * of a datatype's size is found with datatypes of known size. A communicator's members exist only
 * at run time; their offsets are found by following small functions that use them: PMPI_Comm_rank
 * stores my_rank, PMPI_Comm_size the count of the local group, and so on. The layouts known from
 * the sources only serve as a check.
 */

#define TYPE_SIZE_OFF 0x18

struct layout_known {
	uint16_t context, rank, group, remote, count;
};

static const struct layout_known known[] = {
	/* 4.0 and 4.1 */
	{0xe0, 0xe4, 0xf8, 0x100, 0x10},
	/* 5.0. Matching uses c_index. The 128-bit id beside it (0xa8) is 0 except for Sessions. */
	{0xd8, 0xdc, 0x108, 0x110, 0x10},
};

static void unsure_add(char *unsure, size_t bytes, const char *what)
{
	size_t used = strlen(unsure);

	snprintf(unsure + used, bytes - used, "%s%s",
		 used ? ", " : "not found in the file: ", what);
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

static bool layout_is_known(const struct pov_lib *l)
{
	return table_any(sizeof(known) / sizeof(*known), i,
			 l->comm_context_off == known[i].context &&
				 l->comm_rank_off == known[i].rank &&
				 l->comm_group_off == known[i].group &&
				 l->comm_remote_off == known[i].remote &&
				 l->group_count_off == known[i].count);
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

/*
 * Fills the member offsets of *layout from the file; POV_OFF_NONE if unknown. unsure describes what
 * is missing or odd ("": nothing).
 */
static void mpi_openmpi_layout(const struct elf_file *f, struct pov_lib *layout, char *unsure,
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
			 "communicators have the layout of no known version, as found in the code");
}

/* ---- predefined objects ---- */

/*
 * The predefined objects of each MPI family: the names of handle values. If one value has two names
 * (MPICH's null request and null message), the first one here is shown.
 */

#define TYPE_SIZE_MAX 4096

/* Open MPI lays out this datatype only at run time, so its size is not in the file. */
#define LATE 0x8000

struct predefined {
	const char *name;
	const char *openmpi; /* the object whose address is the handle; NULL if it has none */
	uint32_t mpich;	     /* 0 if it has none */
	uint16_t abi;	     /* in MPI 5.0, chapter 20; 0 if it has none */
	uint16_t type_bytes; /* size of a datatype, else 0 */
};

static const struct predefined predefined[] = {
	{"MPI_COMM_NULL", "ompi_mpi_comm_null", 0x04000000, 0x100, 0},
	{"MPI_COMM_WORLD", "ompi_mpi_comm_world", 0x44000000, 0x101, 0},
	{"MPI_COMM_SELF", "ompi_mpi_comm_self", 0x44000001, 0x102, 0},
	{"MPI_GROUP_NULL", "ompi_mpi_group_null", 0x08000000, 0x108, 0},
	{"MPI_GROUP_EMPTY", "ompi_mpi_group_empty", 0x48000000, 0x109, 0},
	{"MPI_REQUEST_NULL", "ompi_request_null", 0x2c000000, 0x180, 0},
	/* returned by operations that complete at once */
	{"ompi_request_empty", "ompi_request_empty", 0, 0, 0},
	{"MPI_MESSAGE_NULL", "ompi_message_null", 0x2c000000, 0x128, 0},
	{"MPI_MESSAGE_NO_PROC", "ompi_message_no_proc", 0x6c000000, 0x129, 0},
	{"MPI_WIN_NULL", "ompi_mpi_win_null", 0x20000000, 0x110, 0},
	{"MPI_FILE_NULL", "ompi_mpi_file_null", 0, 0x118, 0},
	{"MPI_INFO_NULL", "ompi_mpi_info_null", 0x1c000000, 0x130, 0},
	{"MPI_INFO_ENV", "ompi_mpi_info_env", 0x5c000001, 0x131, 0},
	{"MPI_SESSION_NULL", "ompi_mpi_instance_null", 0x38000000, 0x120, 0},
	{"MPI_ERRHANDLER_NULL", "ompi_mpi_errhandler_null", 0x14000000, 0x140, 0},
	{"MPI_ERRORS_ARE_FATAL", "ompi_mpi_errors_are_fatal", 0x54000000, 0x141, 0},
	{"MPI_ERRORS_RETURN", "ompi_mpi_errors_return", 0x54000001, 0x143, 0},
	{"MPI_ERRORS_ABORT", "ompi_mpi_errors_abort", 0x54000003, 0x142, 0},
	{"MPI_OP_NULL", "ompi_mpi_op_null", 0x18000000, 0x20, 0},
	{"MPI_MAX", "ompi_mpi_op_max", 0x58000001, 0x23, 0},
	{"MPI_MIN", "ompi_mpi_op_min", 0x58000002, 0x22, 0},
	{"MPI_SUM", "ompi_mpi_op_sum", 0x58000003, 0x21, 0},
	{"MPI_PROD", "ompi_mpi_op_prod", 0x58000004, 0x24, 0},
	{"MPI_LAND", "ompi_mpi_op_land", 0x58000005, 0x30, 0},
	{"MPI_BAND", "ompi_mpi_op_band", 0x58000006, 0x28, 0},
	{"MPI_LOR", "ompi_mpi_op_lor", 0x58000007, 0x31, 0},
	{"MPI_BOR", "ompi_mpi_op_bor", 0x58000008, 0x29, 0},
	{"MPI_LXOR", "ompi_mpi_op_lxor", 0x58000009, 0x32, 0},
	{"MPI_BXOR", "ompi_mpi_op_bxor", 0x5800000a, 0x2a, 0},
	{"MPI_MAXLOC", "ompi_mpi_op_maxloc", 0x5800000c, 0x39, 0},
	{"MPI_MINLOC", "ompi_mpi_op_minloc", 0x5800000b, 0x38, 0},
	{"MPI_REPLACE", "ompi_mpi_op_replace", 0x5800000d, 0x3c, 0},
	{"MPI_NO_OP", "ompi_mpi_op_no_op", 0x5800000e, 0x3d, 0},
	{"MPI_DATATYPE_NULL", "ompi_mpi_datatype_null", 0x0c000000, 0x200, 0},
	{"MPI_BYTE", "ompi_mpi_byte", 0x4c00010d, 0x247, 1},
	{"MPI_PACKED", "ompi_mpi_packed", 0x4c00010f, 0x207, 1},
	{"MPI_CHAR", "ompi_mpi_char", 0x4c000101, 0x243, 1},
	{"MPI_SHORT", "ompi_mpi_short", 0x4c000203, 0x208, 2},
	{"MPI_INT", "ompi_mpi_int", 0x4c000405, 0x209, 4},
	{"MPI_LONG", "ompi_mpi_long", 0x4c000807, 0x20a, 8},
	{"MPI_FLOAT", "ompi_mpi_float", 0x4c00040a, 0x210, 4},
	{"MPI_DOUBLE", "ompi_mpi_double", 0x4c00080b, 0x214, 8},
	{"MPI_LONG_DOUBLE", "ompi_mpi_long_double", 0x4c00100c, 0x220, 16},
	{"MPI_UNSIGNED_CHAR", "ompi_mpi_unsigned_char", 0x4c000102, 0x245, 1},
	{"MPI_SIGNED_CHAR", "ompi_mpi_signed_char", 0x4c000118, 0x244, 1},
	{"MPI_UNSIGNED_SHORT", "ompi_mpi_unsigned_short", 0x4c000204, 0x20c, 2},
	{"MPI_UNSIGNED_LONG", "ompi_mpi_unsigned_long", 0x4c000808, 0x20e, 8},
	{"MPI_UNSIGNED", "ompi_mpi_unsigned", 0x4c000406, 0x20d, 4},
	{"MPI_FLOAT_INT", "ompi_mpi_float_int", 0x8c000000, 0x228, 8 | LATE},
	{"MPI_DOUBLE_INT", "ompi_mpi_double_int", 0x8c000001, 0x229, 12 | LATE},
	{"MPI_LONG_DOUBLE_INT", "ompi_mpi_longdbl_int", 0x8c000004, 0x22d, 20 | LATE},
	{"MPI_LONG_INT", "ompi_mpi_long_int", 0x8c000002, 0x22a, 12 | LATE},
	{"MPI_SHORT_INT", "ompi_mpi_short_int", 0x8c000003, 0x22c, 6 | LATE},
	{"MPI_2INT", "ompi_mpi_2int", 0x4c000816, 0x22b, 8 | LATE},
	{"MPI_WCHAR", "ompi_mpi_wchar", 0x4c00040e, 0x23c, 4},
	{"MPI_LONG_LONG", "ompi_mpi_long_long_int", 0x4c000809, 0x20b, 8},
	{"MPI_UNSIGNED_LONG_LONG", "ompi_mpi_unsigned_long_long", 0x4c000819, 0x20f, 8},
	{"MPI_2COMPLEX", "ompi_mpi_2cplex", 0, 0, 16 | LATE},
	{"MPI_2DOUBLE_COMPLEX", "ompi_mpi_2dblcplex", 0, 0, 32 | LATE},
	{"MPI_CHARACTER", "ompi_mpi_character", 0x4c00011a, 0x21e, 1},
	{"MPI_LOGICAL", "ompi_mpi_logical", 0x4c00041d, 0x218, 4},
	{"MPI_LOGICAL1", "ompi_mpi_logical1", 0, 0x2c0, 1},
	{"MPI_LOGICAL2", "ompi_mpi_logical2", 0, 0x2c8, 2},
	{"MPI_LOGICAL4", "ompi_mpi_logical4", 0, 0x2d0, 4},
	{"MPI_LOGICAL8", "ompi_mpi_logical8", 0, 0x2d8, 8},
	{"MPI_INTEGER", "ompi_mpi_integer", 0x4c00041b, 0x219, 4},
	{"MPI_INTEGER1", "ompi_mpi_integer1", 0x4c00012d, 0x2c1, 1},
	{"MPI_INTEGER2", "ompi_mpi_integer2", 0x4c00022f, 0x2c9, 2},
	{"MPI_INTEGER4", "ompi_mpi_integer4", 0x4c000430, 0x2d1, 4},
	{"MPI_INTEGER8", "ompi_mpi_integer8", 0x4c000831, 0x2d9, 8},
	{"MPI_INTEGER16", "ompi_mpi_integer16", 0, 0x2e1, 16},
	{"MPI_REAL", "ompi_mpi_real", 0x4c00041c, 0x21a, 4},
	{"MPI_REAL4", "ompi_mpi_real4", 0x4c000427, 0x2d2, 4},
	{"MPI_REAL8", "ompi_mpi_real8", 0x4c000829, 0x2da, 8},
	{"MPI_REAL16", "ompi_mpi_real16", 0x4c00102b, 0x2e2, 16},
	{"MPI_DOUBLE_PRECISION", "ompi_mpi_dblprec", 0x4c00081f, 0x21c, 8},
	{"MPI_COMPLEX", "ompi_mpi_cplex", 0x4c00081e, 0x21b, 8},
	{"MPI_COMPLEX8", "ompi_mpi_complex8", 0x4c000828, 0x2db, 8},
	{"MPI_LOGICAL16", NULL, 0, 0x2e0, 16},
	{"MPI_COMPLEX16", "ompi_mpi_complex16", 0x4c00102a, 0x2e3, 16},
	{"MPI_COMPLEX32", "ompi_mpi_complex32", 0x4c00202c, 0x2eb, 32},
	{"MPI_DOUBLE_COMPLEX", "ompi_mpi_dblcplex", 0x4c001022, 0x21d, 16},
	{"MPI_2REAL", "ompi_mpi_2real", 0x4c000821, 0x230, 8 | LATE},
	{"MPI_2DOUBLE_PRECISION", "ompi_mpi_2dblprec", 0x4c001023, 0x231, 16 | LATE},
	{"MPI_2INTEGER", "ompi_mpi_2integer", 0x4c000820, 0x232, 8 | LATE},
	{"MPI_INT8_T", "ompi_mpi_int8_t", 0x4c000137, 0x240, 1},
	{"MPI_UINT8_T", "ompi_mpi_uint8_t", 0x4c00013b, 0x241, 1},
	{"MPI_INT16_T", "ompi_mpi_int16_t", 0x4c000238, 0x248, 2},
	{"MPI_UINT16_T", "ompi_mpi_uint16_t", 0x4c00023c, 0x249, 2},
	{"MPI_INT32_T", "ompi_mpi_int32_t", 0x4c000439, 0x250, 4},
	{"MPI_UINT32_T", "ompi_mpi_uint32_t", 0x4c00043d, 0x251, 4},
	{"MPI_INT64_T", "ompi_mpi_int64_t", 0x4c00083a, 0x258, 8},
	{"MPI_UINT64_T", "ompi_mpi_uint64_t", 0x4c00083e, 0x259, 8},
	{"MPI_AINT", "ompi_mpi_aint", 0x4c000843, 0x201, 8},
	{"MPI_OFFSET", "ompi_mpi_offset", 0x4c000844, 0x203, 8},
	{"MPI_C_BOOL", "ompi_mpi_c_bool", 0x4c00013f, 0x238, 1},
	{"MPI_C_FLOAT_COMPLEX", "ompi_mpi_c_float_complex", 0x4c000840, 0x212, 8},
	{"MPI_C_DOUBLE_COMPLEX", "ompi_mpi_c_double_complex", 0x4c001041, 0x216, 16},
	{"MPI_C_LONG_DOUBLE_COMPLEX", "ompi_mpi_c_long_double_complex", 0x4c002042, 0x224, 32},
	{"MPI_CXX_BOOL", "ompi_mpi_cxx_bool", 0x4c000133, 0x239, 1},
	{"MPI_CXX_FLOAT_COMPLEX", "ompi_mpi_cxx_cplex", 0x4c000834, 0x213, 8},
	{"MPI_CXX_DOUBLE_COMPLEX", "ompi_mpi_cxx_dblcplex", 0x4c001035, 0x217, 16},
	{"MPI_CXX_LONG_DOUBLE_COMPLEX", "ompi_mpi_cxx_ldblcplex", 0x4c002036, 0x225, 32},
	{"MPI_COUNT", "ompi_mpi_count", 0x4c000845, 0x202, 8},
	{"MPI_LB", "ompi_mpi_lb", 0x4c000010, 0, 0},
	{"MPI_UB", "ompi_mpi_ub", 0x4c000011, 0, 0},
	{"MPI_REAL2", "ompi_mpi_real2", 0, 0x2ca, 2},
	{"MPI_COMPLEX4", "ompi_mpi_complex4", 0, 0x2d3, 4},
};

/* Reads a datatype's size from the file. */
static uint32_t type_size_read(const struct elf_file *f, uint64_t addr, uint16_t size_off)
{
	uint64_t size;

	if (size_off == POV_OFF_NONE ||
	    elf_file_read_addr(f, addr + size_off, &size, sizeof(size)) != (long)sizeof(size))
		return 0;
	return size <= TYPE_SIZE_MAX ? (uint32_t)size : 0;
}

/*
 * Fills lib->named by lib->flavour. For Open MPI these are the objects that the file defines, with
 * sizes read by lib->layout.
 */
static void mpi_named_fill(const struct elf_file *f, struct mpi_library *lib)
{
	size_t rows = sizeof(predefined) / sizeof(predefined[0]);
	const struct elf_symbol *s;

	lib->named = xcalloc(rows, sizeof(*lib->named));
	lib->named_cnt = 0;
	for (const struct predefined *p = predefined; p < predefined + rows; p++) {
		struct mpi_named n = {.name = p->name, .size = p->type_bytes & ~LATE};

		if (lib->flavour == MPI_MPICH) {
			n.value = p->mpich;
		} else if (lib->flavour == MPI_ABI5) {
			n.value = p->abi;
		} else if (lib->flavour == MPI_OPENMPI && p->openmpi) {
			s = elf_file_find(f, p->openmpi);
			n.value = s && s->is_object ? s->addr : 0;
			if (n.size && !(p->type_bytes & LATE))
				n.size = type_size_read(f, n.value, lib->layout.type_size_off);
		}
		if (n.value)
			lib->named[lib->named_cnt++] = n;
	}
}

/* ---- recognising a library ---- */

static bool is_implementation(const struct elf_file *f)
{
	static const char *const init[] = {"PMPI_Init", "PMPI_Init_thread", "PMPI_Session_init"};

	return table_any(sizeof(init) / sizeof(*init), i, elf_file_defines(f, init[i]));
}

static bool soname_is_mpich(const char *soname)
{
	size_t len = strlen(soname);

	/*
	 * The soname on which MPICH, Intel MPI, Cray MPT and MVAPICH agreed ends in their common
	 * ABI version.
	 */
	return !strncmp(soname, "libmpich.so", 11) ||
	       (!strncmp(soname, "libmpi", 6) && len > 6 && !strcmp(soname + len - 6, ".so.12"));
}

static enum mpi_flavour flavour_find(const struct elf_file *f)
{
	static const char *const mpich[] = {"MPII_Version_string", "MPIR_Version_string",
					    "MPIR_Process", "MPIR_Err_create_code"};
	const struct elf_symbol *world = elf_file_find(f, "ompi_mpi_comm_world");
	const char *soname = elf_file_headers(f)->soname;

	if (!strncmp(soname, "libmpi_abi.so", 13))
		return MPI_ABI5;
	if (world && world->is_object)
		return MPI_OPENMPI;
	for (size_t i = 0; i < sizeof(mpich) / sizeof(mpich[0]); i++)
		if (elf_file_find(f, mpich[i]))
			return MPI_MPICH;
	return soname_is_mpich(soname) ? MPI_MPICH : MPI_UNKNOWN;
}

/* Constants of a family's ABI. */
struct family {
	const char *name;
	uint8_t handle_bytes, status_bytes;
	uint16_t flags;
	pov_u64 skip[4]; /* for struct pov_lib */
	int32_t root, proc_null;
};

static const struct family families[] = {
	[MPI_NONE] = {.name = "none"},
	/* skip: MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */
	[MPI_OPENMPI] = {"openmpi", 8, 24, POV_LIB_HANDLE_PTR, {1, 2, 3}, -4, -2},
	/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, MPI_IN_PLACE */
	[MPI_MPICH] = {"mpich", 4, 20, POV_LIB_TYPE_IN_HANDLE, {1, (pov_u64)-1}, -3, -1},
	/* MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */
	[MPI_ABI5] = {"mpi-abi", sizeof(void *), 32, 0, {1, 2, 10, 11}, -4, -3},
	[MPI_UNKNOWN] = {.name = "unknown"},
};

static void layout_fill(const struct family *family, struct pov_lib *l)
{
	l->elem_bytes[POV_ELEM_HANDLE] = family->handle_bytes;
	l->elem_bytes[POV_ELEM_STATUS] = family->status_bytes;
	l->flags = family->flags;
	memcpy(l->skip, family->skip, sizeof(l->skip));
	l->root = family->root;
	l->proc_null = family->proc_null;
}

int mpi_library_probe(const struct elf_file *f, struct mpi_library *out)
{
	struct mpi_library lib = {.layout = POV_LIB_UNKNOWN};

	if (!is_implementation(f))
		return 0;
	lib.flavour = flavour_find(f);
	if (lib.flavour == MPI_UNKNOWN)
		snprintf(lib.unsure, sizeof(lib.unsure),
			 "unknown MPI library: requests, datatypes and statuses are not read");
	else
		layout_fill(&families[lib.flavour], &lib.layout);
	if (lib.flavour == MPI_OPENMPI)
		mpi_openmpi_layout(f, &lib.layout, lib.unsure, sizeof(lib.unsure));
	mpi_named_fill(f, &lib);
	library_version_mpi(f, lib.version, sizeof(lib.version));
	*out = lib;
	return 1;
}

void mpi_library_release(struct mpi_library *lib)
{
	free(lib->named);
	lib->named = NULL;
	lib->named_cnt = 0;
}

const char *mpi_flavour_name(enum mpi_flavour f)
{
	return families[f].name;
}

static json_t *named_json(const struct mpi_library *mpi)
{
	json_t *a = json_array(), *row;

	for (uint32_t i = 0; i < mpi->named_cnt; i++) {
		row = json_pack("[s,o,I]", mpi->named[i].name, json_hex(mpi->named[i].value),
				(json_int_t)mpi->named[i].size);
		json_array_append_new(a, row);
	}
	return a;
}

static json_t *layout_json(const struct pov_lib *l)
{
	return json_pack("{s:i,s:i,s:b,s:b,s:i,s:i,s:i}", "handle_bytes",
			 l->elem_bytes[POV_ELEM_HANDLE], "status_bytes",
			 l->elem_bytes[POV_ELEM_STATUS], "handle_is_pointer",
			 (l->flags & POV_LIB_HANDLE_PTR) != 0, "type_in_handle",
			 (l->flags & POV_LIB_TYPE_IN_HANDLE) != 0, "type_size_off",
			 l->type_size_off, "undefined", l->undefined, "root", l->root);
}

/*
 * Lists predefined objects whose handles are addresses, with the symbols that a program may have
 * copied.
 */
static json_t *copies_json(const struct elf_file *elf, const struct mpi_library *mpi)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < mpi->named_cnt && (mpi->layout.flags & POV_LIB_HANDLE_PTR); i++) {
		const struct elf_symbol *own = elf_file_symbol_from(elf, mpi->named[i].value);

		if (own && own->addr == mpi->named[i].value)
			json_array_append_new(a, json_pack("[s,s]", mpi->named[i].name, own->name));
	}
	return a;
}

static bool mpi_describe(const struct elf_file *f, struct library_facts *out)
{
	struct mpi_library mpi;

	if (mpi_library_probe(f, &mpi) <= 0)
		return false;
	out->layout = mpi.layout;
	out->meta = json_pack("{s:s,s:s,s:s,s:o,s:o}", "flavour", mpi_flavour_name(mpi.flavour),
			      "version", mpi.version, "unsure", mpi.unsure, "layout",
			      layout_json(&mpi.layout), "named", named_json(&mpi));
	out->copies = copies_json(f, &mpi);
	mpi_library_release(&mpi);
	return true;
}

const struct library_kind library_kind_mpi = {
	.layer = "mpi",
	.describe = mpi_describe,
	.find = elf_file_find_mpi,
};
