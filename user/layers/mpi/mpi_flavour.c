/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One const struct per MPI implementation. Vendors' libraries that keep MPICH's ABI (Intel MPI, Cray
 * MPICH, MVAPICH) are of the flavour "mpich".
 */
#include "layers/mpi/mpi_flavour.h"

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
		.request_null = NO_HANDLE, /* an object: known by its name */
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
		.in_place = NO_HANDLE - 1, /* no pointer of a process */
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

const char *mpi_flavour_error_name(const struct mpi_flavour_info *f, int32_t code)
{
	uint32_t class = (uint32_t)code & f->error_mask;

	/* MPICH: classes a program added have this bit; their numbers are its own */
	if (f->error_mask != UINT32_MAX && code & 0x40000000)
		return NULL;
	return mpi_error_name(f->errors, class);
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
	/* MPICH: kind builtin, type datatype, then its size */
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
