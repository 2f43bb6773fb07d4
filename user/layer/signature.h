/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Signatures of MPI functions as bpf/mpi.def writes them: parsed for both halves of the tool, and
 * compiled into the kernel half's recipe for recording. The grammar is explained in mpi.def.
 */
#ifndef POV_LAYER_MPI_SIG_H
#define POV_LAYER_MPI_SIG_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/config.h"

enum sig_type {
	SIG_INT,
	SIG_WIDE,
	SIG_HANDLE,
	SIG_STATUS,
	SIG_PTR,
	SIG_STRING,
	SIG_UNKNOWN, /* a role this version does not know */
};

/* What an argument means, hence how it is shown. */
enum sig_kind {
	SIG_KIND_NUM,
	SIG_KIND_UNDEF, /* a number or MPI_UNDEFINED */
	SIG_KIND_FLAG,
	SIG_KIND_RANK,
	SIG_KIND_ROOT,
	SIG_KIND_TAG,
	SIG_KIND_LEVEL,
	SIG_KIND_COMM,
	SIG_KIND_DTYPE,
	SIG_KIND_REQ,
	SIG_KIND_HANDLE,
	SIG_KIND_STATUS,
	SIG_KIND_ADDR,
	SIG_KIND_MARK, /* a word of a mark: not shown by itself */
};

enum sig_dir {
	SIG_VALUE, /* by value, or a pointer that is not followed */
	SIG_OUT,   /* > */
	SIG_IN,	   /* < */
	SIG_INOUT, /* <> */
	SIG_SUM,   /* + */
};

#define SIG_TEXT_MAX 320

struct mpi_sig_arg {
	const char *role; /* within the signature's own storage */
	uint8_t type;	  /* enum sig_type */
	uint8_t kind;	  /* enum sig_kind */
	uint8_t dir;	  /* enum sig_dir */
	uint8_t len;	  /* enum pov_len */
	uint8_t len_arg;  /* POV_LEN_ARG, POV_LEN_OUT_ARG */
	uint8_t root_arg; /* POV_LEN_ROOT_SIZE */
};

struct mpi_sig {
	uint32_t nargs;
	struct mpi_sig_arg arg[POV_CALL_ARGS_MAX];
	char text[SIG_TEXT_MAX]; /* taken apart; the roles point into it: do not copy the struct */
};

/*
 * Parses a signature. 0, or -EINVAL with *why naming what is wrong (a static text). A role that is not in
 * mpi.def is no error: its type is SIG_UNKNOWN unless the token tells one.
 */
int mpi_sig_parse(const char *text, struct mpi_sig *out, const char **why);

/* Index of the argument with a role, or -1. */
int mpi_sig_find(const struct mpi_sig *sig, const char *role);

/* Attributes of a row. */
#define MPI_ATTR_WAIT 0x01
#define MPI_ATTR_POLL 0x02
#define MPI_ATTR_LOCAL 0x04
#define MPI_ATTR_INIT 0x08
#define MPI_ATTR_FINAL 0x10
struct mpi_attrs {
	uint32_t flags; /* MPI_ATTR_* */
	uint8_t learn;	/* enum pov_learn */
};
/* "WAIT | COMM_FREE" -> *out. -EINVAL if a word is unknown; the known ones are in *out then, too. */
int mpi_attrs_parse(const char *text, struct mpi_attrs *out);

/* Argument that names what a poll asks about (request, communicator, window), or -1. */
int mpi_sig_spin_arg(const struct mpi_sig *sig);

/* Writes the kernel half's recipe. 0, -EINVAL for an unknown role, -E2BIG for too many fetches. */
int mpi_sig_compile(const struct mpi_sig *sig, const struct mpi_attrs *attrs, struct pov_fn *out);

#endif
