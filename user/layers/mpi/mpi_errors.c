/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Error classes, each with its number in every implementation (from their mpi.h and the MPI standard's ABI).
 */
#include "layers/mpi/mpi_errors.h"

#include <stddef.h>

static const struct {
	const char *name;
	uint8_t class[MPI_ERRORS_CNT]; /* 0: it has none of that name */
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

const char *mpi_error_name(enum mpi_errors of, uint32_t class)
{
	for (size_t i = 0; class && i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].class[of] == class)
			return errors[i].name;
	return NULL;
}
