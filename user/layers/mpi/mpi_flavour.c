/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One const struct per MPI implementation. Vendors' libraries with MPICH's ABI (Intel MPI, Cray
 * MPICH, MVAPICH) have the flavour "mpich".
 */
#include "layers/mpi/mpi_process.h"

#include <stddef.h>
#include <string.h>

#include "layers/layer.h"

static int32_t int_at(const uint8_t *raw, size_t idx)
{
	int32_t v;

	memcpy(&v, raw + 4 * idx, sizeof(v));
	return v;
}

/* { int source, tag, error, cancelled; size_t bytes } */
static void openmpi_status(const uint8_t *raw, struct mpi_status *out)
{
	uint64_t bytes;

	memcpy(&bytes, raw + 16, sizeof(bytes));
	out->source = int_at(raw, 0);
	out->tag = int_at(raw, 1);
	out->error = int_at(raw, 2);
	out->cancelled = int_at(raw, 3);
	out->bytes = bytes <= INT64_MAX ? (int64_t)bytes : BYTES_UNKNOWN;
}

/* { int count_lo, count_hi << 1 | cancelled, source, tag, error } */
static void mpich_status(const uint8_t *raw, struct mpi_status *out)
{
	uint32_t lo = int_at(raw, 0), hi = int_at(raw, 1);

	out->source = int_at(raw, 2);
	out->tag = int_at(raw, 3);
	out->error = int_at(raw, 4);
	out->cancelled = hi & 1;
	out->bytes = (int64_t)((uint64_t)(hi >> 1) << 32 | lo);
}

/* { int source, tag, error, internal[5] } */
static void abi_status(const uint8_t *raw, struct mpi_status *out)
{
	out->source = int_at(raw, 0);
	out->tag = int_at(raw, 1);
	out->error = int_at(raw, 2);
	out->cancelled = false;
	out->bytes = BYTES_UNKNOWN;
}

#define NO_VALUE INT32_MIN
#define NO_HANDLE UINT64_MAX

static const struct mpi_flavour_info flavours[] = {
	{
		.name = "openmpi",
		.handle_bytes = 8,
		.status_bytes = 24,
		.handles_are_addresses = true,
		.any_source = -1,
		.any_tag = -1,
		.proc_null = -2,
		.root = -4,
		.undefined = -32766,
		.comm_type_shared = 0,
		.lock_exclusive = 1,
		.in_place = 1,
		.request_null = NO_HANDLE, /* an object, recognised by its name */
		.type_null = NO_HANDLE,
		.comm_null = NO_HANDLE,
		.levels = {0, 1, 2, 3},
		.error_mask = UINT32_MAX,
		.err_in_status = 18,
		.err_pending = 19,
		.errors = MPI_ERRORS_OPENMPI,
		.status_decode = openmpi_status,
	},
	{
		.name = "mpich",
		.handle_bytes = 4,
		.status_bytes = 20,
		.any_source = -2,
		.any_tag = -1,
		.proc_null = -1,
		.root = -3,
		.undefined = -32766,
		.comm_type_shared = 1,
		.lock_exclusive = 234,
		.in_place = UINT64_MAX,
		.request_null = 0x2c000000,
		.type_null = 0x0c000000,
		.comm_null = 0x04000000,
		.levels = {0, 1, 2, 3},
		.error_mask = 0x7f,
		.err_in_status = 17,
		.err_pending = 18,
		.errors = MPI_ERRORS_MPICH,
		.status_decode = mpich_status,
	},
	{
		.name = "mpi-abi",
		.handle_bytes = 8,
		.status_bytes = 32,
		.handles_are_standard = true,
		.any_source = -1,
		.any_tag = -2,
		.proc_null = -3,
		.root = -4,
		.undefined = -32766,
		.comm_type_shared = NO_VALUE,
		.lock_exclusive = NO_VALUE,
		.in_place = 1,
		.request_null = 0x180,
		.type_null = 0x200,
		.comm_null = 0x100,
		.levels = {0, 1024, 2048, 4096},
		.error_mask = UINT32_MAX,
		.err_in_status = 19,
		.err_pending = 18,
		.errors = MPI_ERRORS_ABI,
		.status_decode = abi_status,
	},
	{
		.name = "unknown",
		.handle_bytes = 8,
		.any_source = NO_VALUE,
		.any_tag = NO_VALUE,
		.proc_null = NO_VALUE,
		.root = NO_VALUE,
		.undefined = NO_VALUE,
		.comm_type_shared = NO_VALUE,
		.lock_exclusive = NO_VALUE,
		.in_place = NO_HANDLE - 1, /* no process has such a pointer */
		.request_null = NO_HANDLE,
		.type_null = NO_HANDLE,
		.comm_null = NO_HANDLE,
		.levels = {NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE},
		.err_in_status = NO_VALUE,
		.err_pending = NO_VALUE,
	},
};

#define FLAVOURS_CNT (sizeof(flavours) / sizeof(flavours[0]))

const struct mpi_flavour_info *mpi_flavour_find(const char *name)
{
	size_t i;

	for (i = 0; i < FLAVOURS_CNT - 1; i++)
		if (!strcmp(flavours[i].name, name))
			break;
	return &flavours[i];
}

const char *mpi_flavour_level_name(const struct mpi_flavour_info *f, int32_t level)
{
	static const char *const names[MPI_LEVELS] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
						      "MPI_THREAD_SERIALIZED",
						      "MPI_THREAD_MULTIPLE"};

	for (int i = 0; i < MPI_LEVELS; i++)
		if (level == f->levels[i])
			return names[i];
	return NULL;
}

int64_t mpi_flavour_type_bytes(const struct mpi_flavour_info *f, uint64_t handle)
{
	/* MPICH's handles: kind "builtin", type "datatype", then the size */
	if (f->handle_bytes == 4 && (handle & 0xfc000000) == 0x4c000000)
		return handle >> 8 & 0xff;
	/* the standard's ABI: types of fixed size */
	if (f->handles_are_standard &&
	    ((handle >= 0x240 && handle <= 0x25f) || (handle >= 0x2c0 && handle <= 0x2ff)))
		return 1 << (handle >> 3 & 7);
	return -1;
}

bool mpi_flavour_is_builtin(const struct mpi_flavour_info *f, uint64_t handle)
{
	if (f->handle_bytes == 4)
		return handle >> 30 == 1;
	return f->handles_are_standard && handle < 0x1000;
}

/* ---- error classes ---- */

/*
 * Error classes, each with its number in every implementation (from their mpi.h and the MPI
 * standard's ABI).
 */

static const struct {
	const char *name;
	uint8_t class[MPI_ERRORS_CNT]; /* 0: it has no class of that name */
} errors[] = {
	/* Open MPI, MPICH, the standard's ABI */
	{"MPI_ERR_BUFFER", {1, 1, 1}},
	{"MPI_ERR_COUNT", {2, 2, 2}},
	{"MPI_ERR_TYPE", {3, 3, 3}},
	{"MPI_ERR_TAG", {4, 4, 4}},
	{"MPI_ERR_COMM", {5, 5, 5}},
	{"MPI_ERR_RANK", {6, 6, 6}},
	{"MPI_ERR_REQUEST", {7, 19, 7}},
	{"MPI_ERR_ROOT", {8, 7, 8}},
	{"MPI_ERR_GROUP", {9, 8, 9}},
	{"MPI_ERR_OP", {10, 9, 10}},
	{"MPI_ERR_TOPOLOGY", {11, 10, 11}},
	{"MPI_ERR_DIMS", {12, 11, 12}},
	{"MPI_ERR_ARG", {13, 12, 13}},
	{"MPI_ERR_UNKNOWN", {14, 13, 14}},
	{"MPI_ERR_TRUNCATE", {15, 14, 15}},
	{"MPI_ERR_OTHER", {16, 15, 16}},
	{"MPI_ERR_INTERN", {17, 16, 17}},
	{"MPI_ERR_IN_STATUS", {18, 17, 19}},
	{"MPI_ERR_PENDING", {19, 18, 18}},
	{"MPI_ERR_ACCESS", {20, 20, 20}},
	{"MPI_ERR_AMODE", {21, 21, 21}},
	{"MPI_ERR_ASSERT", {22, 53, 22}},
	{"MPI_ERR_BAD_FILE", {23, 22, 23}},
	{"MPI_ERR_BASE", {24, 46, 24}},
	{"MPI_ERR_CONVERSION", {25, 23, 25}},
	{"MPI_ERR_DISP", {26, 52, 26}},
	{"MPI_ERR_DUP_DATAREP", {27, 24, 27}},
	{"MPI_ERR_FILE_EXISTS", {28, 25, 28}},
	{"MPI_ERR_FILE_IN_USE", {29, 26, 29}},
	{"MPI_ERR_FILE", {30, 27, 30}},
	{"MPI_ERR_INFO_KEY", {31, 29, 31}},
	{"MPI_ERR_INFO_NOKEY", {32, 31, 32}},
	{"MPI_ERR_INFO_VALUE", {33, 30, 33}},
	{"MPI_ERR_INFO", {34, 28, 34}},
	{"MPI_ERR_IO", {35, 32, 35}},
	{"MPI_ERR_KEYVAL", {36, 48, 36}},
	{"MPI_ERR_LOCKTYPE", {37, 47, 37}},
	{"MPI_ERR_NAME", {38, 33, 38}},
	{"MPI_ERR_NO_MEM", {39, 34, 39}},
	{"MPI_ERR_NOT_SAME", {40, 35, 40}},
	{"MPI_ERR_NO_SPACE", {41, 36, 41}},
	{"MPI_ERR_NO_SUCH_FILE", {42, 37, 42}},
	{"MPI_ERR_PORT", {43, 38, 43}},
	{"MPI_ERR_QUOTA", {44, 39, 44}},
	{"MPI_ERR_READ_ONLY", {45, 40, 45}},
	{"MPI_ERR_RMA_CONFLICT", {46, 49, 47}},
	{"MPI_ERR_RMA_SYNC", {47, 50, 50}},
	{"MPI_ERR_SERVICE", {48, 41, 51}},
	{"MPI_ERR_SIZE", {49, 51, 52}},
	{"MPI_ERR_SPAWN", {50, 42, 53}},
	{"MPI_ERR_UNSUPPORTED_DATAREP", {51, 43, 54}},
	{"MPI_ERR_UNSUPPORTED_OPERATION", {52, 44, 55}},
	{"MPI_ERR_WIN", {53, 45, 56}},
	{"MPI_T_ERR_MEMORY", {54, 59, 0}},
	{"MPI_T_ERR_NOT_INITIALIZED", {55, 60, 0}},
	{"MPI_T_ERR_CANNOT_INIT", {56, 61, 0}},
	{"MPI_T_ERR_INVALID_INDEX", {57, 62, 0}},
	{"MPI_T_ERR_INVALID_ITEM", {58, 63, 0}},
	{"MPI_T_ERR_INVALID_HANDLE", {59, 64, 0}},
	{"MPI_T_ERR_OUT_OF_HANDLES", {60, 65, 0}},
	{"MPI_T_ERR_OUT_OF_SESSIONS", {61, 66, 0}},
	{"MPI_T_ERR_INVALID_SESSION", {62, 67, 0}},
	{"MPI_T_ERR_CVAR_SET_NOT_NOW", {63, 68, 0}},
	{"MPI_T_ERR_CVAR_SET_NEVER", {64, 69, 0}},
	{"MPI_T_ERR_PVAR_NO_STARTSTOP", {65, 70, 0}},
	{"MPI_T_ERR_PVAR_NO_WRITE", {66, 71, 0}},
	{"MPI_T_ERR_PVAR_NO_ATOMIC", {67, 72, 0}},
	{"MPI_ERR_RMA_RANGE", {68, 55, 48}},
	{"MPI_ERR_RMA_ATTACH", {69, 56, 46}},
	{"MPI_ERR_RMA_FLAVOR", {70, 58, 57}},
	{"MPI_ERR_RMA_SHARED", {71, 57, 49}},
	{"MPI_T_ERR_INVALID", {72, 74, 0}},
	{"MPI_T_ERR_INVALID_NAME", {73, 73, 0}},
	{"MPI_ERR_PROC_ABORTED", {74, 76, 58}},
	{"MPI_ERR_PROC_FAILED", {75, 0, 0}},
	{"MPI_ERR_PROC_FAILED_PENDING", {76, 0, 0}},
	{"MPI_ERR_REVOKED", {77, 0, 0}},
	{"MPI_ERR_SESSION", {78, 75, 60}},
	{"MPI_ERR_VALUE_TOO_LARGE", {79, 77, 59}},
	{"MPI_ERR_ERRHANDLER", {80, 80, 61}},
	{"MPI_T_ERR_NOT_ACCESSIBLE", {81, 79, 0}},
	{"MPI_T_ERR_NOT_SUPPORTED", {82, 78, 0}},
	{"MPI_ERR_ABI", {83, 0, 62}},
};

/* Returns the name of an error class, NULL if it has none; 0 is no error. */
static const char *mpi_error_name(enum mpi_errors of, uint32_t class)
{
	for (size_t i = 0; class && i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].class[of] == class)
			return errors[i].name;
	return NULL;
}

const char *mpi_flavour_error_name(const struct mpi_flavour_info *f, int32_t code)
{
	uint32_t class = (uint32_t)code & f->error_mask;

	/* MPICH: classes added by a program have this bit; their numbers are the program's own */
	if (f->error_mask != UINT32_MAX && code & 0x40000000)
		return NULL;
	return mpi_error_name(f->errors, class);
}
