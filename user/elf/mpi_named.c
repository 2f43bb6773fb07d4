/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The predefined objects of each MPI family: what a handle's value is called. Where one value has two names
 * (MPI_LONG_LONG and MPI_LONG_LONG_INT, MPICH's null request and null message) the first here is the one to show.
 */
#include "elf/mpi_named.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "elf/elf_file.h"

#define TYPE_SIZE_MAX 4096

struct named_object { /* Open MPI: the handle is the address of an object */
	const char *name, *symbol;
	uint8_t size; /* of a datatype that the library only lays out at run time, or SIZE_… */
};

enum { SIZE_NONE = 0, SIZE_READ = 255 };

static const struct named_object openmpi_objects[] = {
	{"MPI_COMM_NULL", "ompi_mpi_comm_null", SIZE_NONE},
	{"MPI_COMM_WORLD", "ompi_mpi_comm_world", SIZE_NONE},
	{"MPI_COMM_SELF", "ompi_mpi_comm_self", SIZE_NONE},
	{"MPI_GROUP_NULL", "ompi_mpi_group_null", SIZE_NONE},
	{"MPI_GROUP_EMPTY", "ompi_mpi_group_empty", SIZE_NONE},
	{"MPI_REQUEST_NULL", "ompi_request_null", SIZE_NONE},
	/* what operations that are done at once return */
	{"ompi_request_empty", "ompi_request_empty", SIZE_NONE},
	{"MPI_MESSAGE_NULL", "ompi_message_null", SIZE_NONE},
	{"MPI_MESSAGE_NO_PROC", "ompi_message_no_proc", SIZE_NONE},
	{"MPI_WIN_NULL", "ompi_mpi_win_null", SIZE_NONE},
	{"MPI_FILE_NULL", "ompi_mpi_file_null", SIZE_NONE},
	{"MPI_INFO_NULL", "ompi_mpi_info_null", SIZE_NONE},
	{"MPI_INFO_ENV", "ompi_mpi_info_env", SIZE_NONE},
	{"MPI_SESSION_NULL", "ompi_mpi_instance_null", SIZE_NONE},
	{"MPI_ERRHANDLER_NULL", "ompi_mpi_errhandler_null", SIZE_NONE},
	{"MPI_ERRORS_ARE_FATAL", "ompi_mpi_errors_are_fatal", SIZE_NONE},
	{"MPI_ERRORS_RETURN", "ompi_mpi_errors_return", SIZE_NONE},
	{"MPI_ERRORS_ABORT", "ompi_mpi_errors_abort", SIZE_NONE},
	{"MPI_OP_NULL", "ompi_mpi_op_null", SIZE_NONE},
	{"MPI_MAX", "ompi_mpi_op_max", SIZE_NONE},
	{"MPI_MIN", "ompi_mpi_op_min", SIZE_NONE},
	{"MPI_SUM", "ompi_mpi_op_sum", SIZE_NONE},
	{"MPI_PROD", "ompi_mpi_op_prod", SIZE_NONE},
	{"MPI_LAND", "ompi_mpi_op_land", SIZE_NONE},
	{"MPI_BAND", "ompi_mpi_op_band", SIZE_NONE},
	{"MPI_LOR", "ompi_mpi_op_lor", SIZE_NONE},
	{"MPI_BOR", "ompi_mpi_op_bor", SIZE_NONE},
	{"MPI_LXOR", "ompi_mpi_op_lxor", SIZE_NONE},
	{"MPI_BXOR", "ompi_mpi_op_bxor", SIZE_NONE},
	{"MPI_MAXLOC", "ompi_mpi_op_maxloc", SIZE_NONE},
	{"MPI_MINLOC", "ompi_mpi_op_minloc", SIZE_NONE},
	{"MPI_REPLACE", "ompi_mpi_op_replace", SIZE_NONE},
	{"MPI_NO_OP", "ompi_mpi_op_no_op", SIZE_NONE},
	{"MPI_DATATYPE_NULL", "ompi_mpi_datatype_null", SIZE_NONE},
	{"MPI_BYTE", "ompi_mpi_byte", SIZE_READ},
	{"MPI_PACKED", "ompi_mpi_packed", SIZE_READ},
	{"MPI_CHAR", "ompi_mpi_char", SIZE_READ},
	{"MPI_SHORT", "ompi_mpi_short", SIZE_READ},
	{"MPI_INT", "ompi_mpi_int", SIZE_READ},
	{"MPI_LONG", "ompi_mpi_long", SIZE_READ},
	{"MPI_FLOAT", "ompi_mpi_float", SIZE_READ},
	{"MPI_DOUBLE", "ompi_mpi_double", SIZE_READ},
	{"MPI_LONG_DOUBLE", "ompi_mpi_long_double", SIZE_READ},
	{"MPI_UNSIGNED_CHAR", "ompi_mpi_unsigned_char", SIZE_READ},
	{"MPI_SIGNED_CHAR", "ompi_mpi_signed_char", SIZE_READ},
	{"MPI_UNSIGNED_SHORT", "ompi_mpi_unsigned_short", SIZE_READ},
	{"MPI_UNSIGNED_LONG", "ompi_mpi_unsigned_long", SIZE_READ},
	{"MPI_UNSIGNED", "ompi_mpi_unsigned", SIZE_READ},
	{"MPI_FLOAT_INT", "ompi_mpi_float_int", 8},
	{"MPI_DOUBLE_INT", "ompi_mpi_double_int", 12},
	{"MPI_LONG_DOUBLE_INT", "ompi_mpi_longdbl_int", 20},
	{"MPI_LONG_INT", "ompi_mpi_long_int", 12},
	{"MPI_SHORT_INT", "ompi_mpi_short_int", 6},
	{"MPI_2INT", "ompi_mpi_2int", 8},
	{"MPI_WCHAR", "ompi_mpi_wchar", SIZE_READ},
	{"MPI_LONG_LONG", "ompi_mpi_long_long_int", SIZE_READ},
	{"MPI_UNSIGNED_LONG_LONG", "ompi_mpi_unsigned_long_long", SIZE_READ},
	{"MPI_2COMPLEX", "ompi_mpi_2cplex", 16},
	{"MPI_2DOUBLE_COMPLEX", "ompi_mpi_2dblcplex", 32},
	{"MPI_CHARACTER", "ompi_mpi_character", SIZE_READ},
	{"MPI_LOGICAL", "ompi_mpi_logical", SIZE_READ},
	{"MPI_LOGICAL1", "ompi_mpi_logical1", SIZE_READ},
	{"MPI_LOGICAL2", "ompi_mpi_logical2", SIZE_READ},
	{"MPI_LOGICAL4", "ompi_mpi_logical4", SIZE_READ},
	{"MPI_LOGICAL8", "ompi_mpi_logical8", SIZE_READ},
	{"MPI_INTEGER", "ompi_mpi_integer", SIZE_READ},
	{"MPI_INTEGER1", "ompi_mpi_integer1", SIZE_READ},
	{"MPI_INTEGER2", "ompi_mpi_integer2", SIZE_READ},
	{"MPI_INTEGER4", "ompi_mpi_integer4", SIZE_READ},
	{"MPI_INTEGER8", "ompi_mpi_integer8", SIZE_READ},
	{"MPI_INTEGER16", "ompi_mpi_integer16", SIZE_READ},
	{"MPI_REAL", "ompi_mpi_real", SIZE_READ},
	{"MPI_REAL4", "ompi_mpi_real4", SIZE_READ},
	{"MPI_REAL8", "ompi_mpi_real8", SIZE_READ},
	{"MPI_REAL16", "ompi_mpi_real16", SIZE_READ},
	{"MPI_DOUBLE_PRECISION", "ompi_mpi_dblprec", SIZE_READ},
	{"MPI_COMPLEX", "ompi_mpi_cplex", SIZE_READ},
	{"MPI_COMPLEX8", "ompi_mpi_complex8", SIZE_READ},
	{"MPI_COMPLEX16", "ompi_mpi_complex16", SIZE_READ},
	{"MPI_COMPLEX32", "ompi_mpi_complex32", SIZE_READ},
	{"MPI_DOUBLE_COMPLEX", "ompi_mpi_dblcplex", SIZE_READ},
	{"MPI_2REAL", "ompi_mpi_2real", 8},
	{"MPI_2DOUBLE_PRECISION", "ompi_mpi_2dblprec", 16},
	{"MPI_2INTEGER", "ompi_mpi_2integer", 8},
	{"MPI_INT8_T", "ompi_mpi_int8_t", SIZE_READ},
	{"MPI_UINT8_T", "ompi_mpi_uint8_t", SIZE_READ},
	{"MPI_INT16_T", "ompi_mpi_int16_t", SIZE_READ},
	{"MPI_UINT16_T", "ompi_mpi_uint16_t", SIZE_READ},
	{"MPI_INT32_T", "ompi_mpi_int32_t", SIZE_READ},
	{"MPI_UINT32_T", "ompi_mpi_uint32_t", SIZE_READ},
	{"MPI_INT64_T", "ompi_mpi_int64_t", SIZE_READ},
	{"MPI_UINT64_T", "ompi_mpi_uint64_t", SIZE_READ},
	{"MPI_AINT", "ompi_mpi_aint", SIZE_READ},
	{"MPI_OFFSET", "ompi_mpi_offset", SIZE_READ},
	{"MPI_C_BOOL", "ompi_mpi_c_bool", SIZE_READ},
	{"MPI_C_FLOAT_COMPLEX", "ompi_mpi_c_float_complex", SIZE_READ},
	{"MPI_C_DOUBLE_COMPLEX", "ompi_mpi_c_double_complex", SIZE_READ},
	{"MPI_C_LONG_DOUBLE_COMPLEX", "ompi_mpi_c_long_double_complex", SIZE_READ},
	{"MPI_CXX_BOOL", "ompi_mpi_cxx_bool", SIZE_READ},
	{"MPI_CXX_FLOAT_COMPLEX", "ompi_mpi_cxx_cplex", SIZE_READ},
	{"MPI_CXX_DOUBLE_COMPLEX", "ompi_mpi_cxx_dblcplex", SIZE_READ},
	{"MPI_CXX_LONG_DOUBLE_COMPLEX", "ompi_mpi_cxx_ldblcplex", SIZE_READ},
	{"MPI_COUNT", "ompi_mpi_count", SIZE_READ},
	{"MPI_LB", "ompi_mpi_lb", SIZE_READ},
	{"MPI_UB", "ompi_mpi_ub", SIZE_READ},
	{"MPI_REAL2", "ompi_mpi_real2", SIZE_READ},
	{"MPI_COMPLEX4", "ompi_mpi_complex4", SIZE_READ},
};

/* A builtin datatype's size lies in bits 8 to 15, except for pairs, which are objects in memory. */
static const struct mpi_named mpich_handles[] = {
	{"MPI_COMM_NULL", 0x04000000, 0},
	{"MPI_COMM_WORLD", 0x44000000, 0},
	{"MPI_COMM_SELF", 0x44000001, 0},
	{"MPI_GROUP_NULL", 0x08000000, 0},
	{"MPI_GROUP_EMPTY", 0x48000000, 0},
	{"MPI_REQUEST_NULL", 0x2c000000, 0},
	{"MPI_MESSAGE_NULL", 0x2c000000, 0},
	{"MPI_MESSAGE_NO_PROC", 0x6c000000, 0},
	{"MPI_WIN_NULL", 0x20000000, 0},
	{"MPI_INFO_NULL", 0x1c000000, 0},
	{"MPI_INFO_ENV", 0x5c000001, 0},
	{"MPI_SESSION_NULL", 0x38000000, 0},
	{"MPI_ERRHANDLER_NULL", 0x14000000, 0},
	{"MPI_ERRORS_ARE_FATAL", 0x54000000, 0},
	{"MPI_ERRORS_RETURN", 0x54000001, 0},
	{"MPI_ERRORS_ABORT", 0x54000003, 0},
	{"MPI_OP_NULL", 0x18000000, 0},
	{"MPI_MAX", 0x58000001, 0},
	{"MPI_MIN", 0x58000002, 0},
	{"MPI_SUM", 0x58000003, 0},
	{"MPI_PROD", 0x58000004, 0},
	{"MPI_LAND", 0x58000005, 0},
	{"MPI_BAND", 0x58000006, 0},
	{"MPI_LOR", 0x58000007, 0},
	{"MPI_BOR", 0x58000008, 0},
	{"MPI_LXOR", 0x58000009, 0},
	{"MPI_BXOR", 0x5800000a, 0},
	{"MPI_MINLOC", 0x5800000b, 0},
	{"MPI_MAXLOC", 0x5800000c, 0},
	{"MPI_REPLACE", 0x5800000d, 0},
	{"MPI_NO_OP", 0x5800000e, 0},
	{"MPI_DATATYPE_NULL", 0x0c000000, 0},
	{"MPI_CHAR", 0x4c000101, 1},
	{"MPI_SIGNED_CHAR", 0x4c000118, 1},
	{"MPI_UNSIGNED_CHAR", 0x4c000102, 1},
	{"MPI_BYTE", 0x4c00010d, 1},
	{"MPI_WCHAR", 0x4c00040e, 4},
	{"MPI_SHORT", 0x4c000203, 2},
	{"MPI_UNSIGNED_SHORT", 0x4c000204, 2},
	{"MPI_INT", 0x4c000405, 4},
	{"MPI_UNSIGNED", 0x4c000406, 4},
	{"MPI_LONG", 0x4c000807, 8},
	{"MPI_UNSIGNED_LONG", 0x4c000808, 8},
	{"MPI_FLOAT", 0x4c00040a, 4},
	{"MPI_DOUBLE", 0x4c00080b, 8},
	{"MPI_LONG_DOUBLE", 0x4c00100c, 16},
	{"MPI_LONG_LONG", 0x4c000809, 8},
	{"MPI_UNSIGNED_LONG_LONG", 0x4c000819, 8},
	{"MPI_PACKED", 0x4c00010f, 1},
	{"MPI_LB", 0x4c000010, 0},
	{"MPI_UB", 0x4c000011, 0},
	{"MPI_FLOAT_INT", 0x8c000000, 8},
	{"MPI_DOUBLE_INT", 0x8c000001, 12},
	{"MPI_LONG_INT", 0x8c000002, 12},
	{"MPI_SHORT_INT", 0x8c000003, 6},
	{"MPI_2INT", 0x4c000816, 8},
	{"MPI_LONG_DOUBLE_INT", 0x8c000004, 20},
	{"MPI_COMPLEX", 0x4c00081e, 8},
	{"MPI_DOUBLE_COMPLEX", 0x4c001022, 16},
	{"MPI_LOGICAL", 0x4c00041d, 4},
	{"MPI_REAL", 0x4c00041c, 4},
	{"MPI_DOUBLE_PRECISION", 0x4c00081f, 8},
	{"MPI_INTEGER", 0x4c00041b, 4},
	{"MPI_2INTEGER", 0x4c000820, 8},
	{"MPI_2REAL", 0x4c000821, 8},
	{"MPI_2DOUBLE_PRECISION", 0x4c001023, 16},
	{"MPI_CHARACTER", 0x4c00011a, 1},
	{"MPI_REAL4", 0x4c000427, 4},
	{"MPI_REAL8", 0x4c000829, 8},
	{"MPI_REAL16", 0x4c00102b, 16},
	{"MPI_COMPLEX8", 0x4c000828, 8},
	{"MPI_COMPLEX16", 0x4c00102a, 16},
	{"MPI_COMPLEX32", 0x4c00202c, 32},
	{"MPI_INTEGER1", 0x4c00012d, 1},
	{"MPI_INTEGER2", 0x4c00022f, 2},
	{"MPI_INTEGER4", 0x4c000430, 4},
	{"MPI_INTEGER8", 0x4c000831, 8},
	{"MPI_INT8_T", 0x4c000137, 1},
	{"MPI_INT16_T", 0x4c000238, 2},
	{"MPI_INT32_T", 0x4c000439, 4},
	{"MPI_INT64_T", 0x4c00083a, 8},
	{"MPI_UINT8_T", 0x4c00013b, 1},
	{"MPI_UINT16_T", 0x4c00023c, 2},
	{"MPI_UINT32_T", 0x4c00043d, 4},
	{"MPI_UINT64_T", 0x4c00083e, 8},
	{"MPI_C_BOOL", 0x4c00013f, 1},
	{"MPI_C_FLOAT_COMPLEX", 0x4c000840, 8},
	{"MPI_C_DOUBLE_COMPLEX", 0x4c001041, 16},
	{"MPI_C_LONG_DOUBLE_COMPLEX", 0x4c002042, 32},
	{"MPI_AINT", 0x4c000843, 8},
	{"MPI_OFFSET", 0x4c000844, 8},
	{"MPI_COUNT", 0x4c000845, 8},
	{"MPI_CXX_BOOL", 0x4c000133, 1},
	{"MPI_CXX_FLOAT_COMPLEX", 0x4c000834, 8},
	{"MPI_CXX_DOUBLE_COMPLEX", 0x4c001035, 16},
	{"MPI_CXX_LONG_DOUBLE_COMPLEX", 0x4c002036, 32},
};

/* The ABI of MPI 5.0, chapter 20: the same values in every library that has it. */
static const struct mpi_named abi_handles[] = {
	{"MPI_COMM_NULL", 0x100, 0},
	{"MPI_COMM_WORLD", 0x101, 0},
	{"MPI_COMM_SELF", 0x102, 0},
	{"MPI_GROUP_NULL", 0x108, 0},
	{"MPI_GROUP_EMPTY", 0x109, 0},
	{"MPI_REQUEST_NULL", 0x180, 0},
	{"MPI_MESSAGE_NULL", 0x128, 0},
	{"MPI_MESSAGE_NO_PROC", 0x129, 0},
	{"MPI_WIN_NULL", 0x110, 0},
	{"MPI_FILE_NULL", 0x118, 0},
	{"MPI_INFO_NULL", 0x130, 0},
	{"MPI_INFO_ENV", 0x131, 0},
	{"MPI_SESSION_NULL", 0x120, 0},
	{"MPI_ERRHANDLER_NULL", 0x140, 0},
	{"MPI_ERRORS_ARE_FATAL", 0x141, 0},
	{"MPI_ERRORS_ABORT", 0x142, 0},
	{"MPI_ERRORS_RETURN", 0x143, 0},
	{"MPI_OP_NULL", 0x20, 0},
	{"MPI_SUM", 0x21, 0},
	{"MPI_MIN", 0x22, 0},
	{"MPI_MAX", 0x23, 0},
	{"MPI_PROD", 0x24, 0},
	{"MPI_BAND", 0x28, 0},
	{"MPI_BOR", 0x29, 0},
	{"MPI_BXOR", 0x2a, 0},
	{"MPI_LAND", 0x30, 0},
	{"MPI_LOR", 0x31, 0},
	{"MPI_LXOR", 0x32, 0},
	{"MPI_MINLOC", 0x38, 0},
	{"MPI_MAXLOC", 0x39, 0},
	{"MPI_REPLACE", 0x3c, 0},
	{"MPI_NO_OP", 0x3d, 0},
	{"MPI_DATATYPE_NULL", 0x200, 0},
	{"MPI_AINT", 0x201, 8},
	{"MPI_COUNT", 0x202, 8},
	{"MPI_OFFSET", 0x203, 8},
	{"MPI_PACKED", 0x207, 1},
	{"MPI_SHORT", 0x208, 2},
	{"MPI_INT", 0x209, 4},
	{"MPI_LONG", 0x20a, 8},
	{"MPI_LONG_LONG", 0x20b, 8},
	{"MPI_UNSIGNED_SHORT", 0x20c, 2},
	{"MPI_UNSIGNED", 0x20d, 4},
	{"MPI_UNSIGNED_LONG", 0x20e, 8},
	{"MPI_UNSIGNED_LONG_LONG", 0x20f, 8},
	{"MPI_FLOAT", 0x210, 4},
	{"MPI_C_FLOAT_COMPLEX", 0x212, 8},
	{"MPI_CXX_FLOAT_COMPLEX", 0x213, 8},
	{"MPI_DOUBLE", 0x214, 8},
	{"MPI_C_DOUBLE_COMPLEX", 0x216, 16},
	{"MPI_CXX_DOUBLE_COMPLEX", 0x217, 16},
	{"MPI_LOGICAL", 0x218, 4},
	{"MPI_INTEGER", 0x219, 4},
	{"MPI_REAL", 0x21a, 4},
	{"MPI_COMPLEX", 0x21b, 8},
	{"MPI_DOUBLE_PRECISION", 0x21c, 8},
	{"MPI_DOUBLE_COMPLEX", 0x21d, 16},
	{"MPI_CHARACTER", 0x21e, 1},
	{"MPI_LONG_DOUBLE", 0x220, 16},
	{"MPI_C_LONG_DOUBLE_COMPLEX", 0x224, 32},
	{"MPI_CXX_LONG_DOUBLE_COMPLEX", 0x225, 32},
	{"MPI_FLOAT_INT", 0x228, 8},
	{"MPI_DOUBLE_INT", 0x229, 12},
	{"MPI_LONG_INT", 0x22a, 12},
	{"MPI_2INT", 0x22b, 8},
	{"MPI_SHORT_INT", 0x22c, 6},
	{"MPI_LONG_DOUBLE_INT", 0x22d, 20},
	{"MPI_2REAL", 0x230, 8},
	{"MPI_2DOUBLE_PRECISION", 0x231, 16},
	{"MPI_2INTEGER", 0x232, 8},
	{"MPI_C_BOOL", 0x238, 1},
	{"MPI_CXX_BOOL", 0x239, 1},
	{"MPI_WCHAR", 0x23c, 4},
	{"MPI_INT8_T", 0x240, 1},
	{"MPI_UINT8_T", 0x241, 1},
	{"MPI_CHAR", 0x243, 1},
	{"MPI_SIGNED_CHAR", 0x244, 1},
	{"MPI_UNSIGNED_CHAR", 0x245, 1},
	{"MPI_BYTE", 0x247, 1},
	{"MPI_INT16_T", 0x248, 2},
	{"MPI_UINT16_T", 0x249, 2},
	{"MPI_INT32_T", 0x250, 4},
	{"MPI_UINT32_T", 0x251, 4},
	{"MPI_INT64_T", 0x258, 8},
	{"MPI_UINT64_T", 0x259, 8},
	{"MPI_LOGICAL1", 0x2c0, 1},
	{"MPI_INTEGER1", 0x2c1, 1},
	{"MPI_LOGICAL2", 0x2c8, 2},
	{"MPI_INTEGER2", 0x2c9, 2},
	{"MPI_REAL2", 0x2ca, 2},
	{"MPI_LOGICAL4", 0x2d0, 4},
	{"MPI_INTEGER4", 0x2d1, 4},
	{"MPI_REAL4", 0x2d2, 4},
	{"MPI_COMPLEX4", 0x2d3, 4},
	{"MPI_LOGICAL8", 0x2d8, 8},
	{"MPI_INTEGER8", 0x2d9, 8},
	{"MPI_REAL8", 0x2da, 8},
	{"MPI_COMPLEX8", 0x2db, 8},
	{"MPI_LOGICAL16", 0x2e0, 16},
	{"MPI_INTEGER16", 0x2e1, 16},
	{"MPI_REAL16", 0x2e2, 16},
	{"MPI_COMPLEX16", 0x2e3, 16},
	{"MPI_COMPLEX32", 0x2eb, 32},
};

/* What the file itself says of a datatype. */
static uint32_t type_size_read(const struct elf_file *f, uint64_t addr, uint16_t size_off)
{
	uint64_t size;

	if (size_off == POV_OFF_NONE ||
	    elf_file_read_addr(f, addr + size_off, &size, sizeof(size)) != (long)sizeof(size))
		return 0;
	return size <= TYPE_SIZE_MAX ? (uint32_t)size : 0;
}

uint32_t mpi_named_objects(const struct elf_file *f, uint16_t type_size_off, struct mpi_named **out)
{
	size_t rows = sizeof(openmpi_objects) / sizeof(openmpi_objects[0]);
	struct mpi_named *list = xcalloc(rows, sizeof(*list));
	uint32_t cnt = 0;

	for (size_t i = 0; i < rows; i++) {
		const struct elf_symbol *s = elf_file_find(f, openmpi_objects[i].symbol);

		if (!s || !s->is_object)
			continue;
		list[cnt++] = (struct mpi_named){
			.name = openmpi_objects[i].name,
			.value = s->addr,
			.size = openmpi_objects[i].size == SIZE_READ ?
					type_size_read(f, s->addr, type_size_off) :
					openmpi_objects[i].size,
		};
	}
	if (cnt == 0) {
		free(list);
		list = NULL;
	}
	*out = list;
	return cnt;
}

static uint32_t table_copy(const struct mpi_named *table, size_t rows, struct mpi_named **out)
{
	*out = xcalloc(rows, sizeof(*table));
	memcpy(*out, table, rows * sizeof(*table));
	return (uint32_t)rows;
}

uint32_t mpi_named_mpich(struct mpi_named **out)
{
	return table_copy(mpich_handles, sizeof(mpich_handles) / sizeof(mpich_handles[0]), out);
}

uint32_t mpi_named_abi(struct mpi_named **out)
{
	return table_copy(abi_handles, sizeof(abi_handles) / sizeof(abi_handles[0]), out);
}
