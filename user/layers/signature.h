/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Rows of the function tables (user/layers/<layer>/<layer>.def; mpi.def explains their grammar),
 * parsed for both halves of the tool: a function's arguments and attributes. Also makes the parts
 * of the kernel half's recipe that follow from a row in every layer. Each layer defines its roles
 * and attributes.
 */
#ifndef POV_LAYERS_SIGNATURE_H
#define POV_LAYERS_SIGNATURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/config.h"

struct func_info;

enum sig_type {
	SIG_INT,
	SIG_WIDE,
	SIG_HANDLE,
	SIG_STATUS,
	SIG_PTR,
	SIG_STRING,
	SIG_BLOCK,   /* a struct; the given number of bytes is kept, or POV_BLOCK_BYTES */
	SIG_RANGE,   /* three ints */
	SIG_IOV,     /* a piece of memory, struct iovec; the lengths of a list are summed */
	SIG_UCT_IOV, /* as SIG_IOV, for uct_iov_t */
	/*
	 * list of work requests; its length is the queue that it is posted to (OUT: the list that
	 * it ends)
	 */
	SIG_WORK,
	/*
	 * a struct, of which some bytes are kept; it names a list of struct iovec, whose lengths
	 * are summed
	 */
	SIG_IOV_LIST,
	SIG_UNKNOWN, /* a role this version does not know */
};

/* Meaning of an argument, which determines how it is shown. */
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
	SIG_KIND_MARK, /* a word of a mark; not shown on its own */
	SIG_KIND_HEX,
	SIG_KIND_PARAM,	   /* ucp_request_param_t */
	SIG_KIND_UCP_TYPE, /* ucp_datatype_t */
	SIG_KIND_AM_ID,	   /* id of an active message of UCX */
};

enum sig_dir {
	SIG_VALUE, /* by value, or a pointer that is not followed */
	SIG_OUT,   /* > */
	SIG_IN,	   /* < */
	SIG_INOUT, /* <> */
	SIG_SUM,   /* + */
};

#define SIG_TEXT_MAX 320

struct sig_arg {
	const char *role; /* within the signature's own storage */
	int16_t role_idx; /* index in the layer's list; -1: not in it */
	uint8_t type;	  /* enum sig_type */
	uint8_t kind;	  /* enum sig_kind */
	uint8_t dir;	  /* enum sig_dir */
	uint8_t len;	  /* enum pov_len */
	uint8_t len_arg;  /* for POV_LEN_ARG, POV_LEN_OUT_ARG; for POV_LEN_ROOT_SIZE: the root */
	uint8_t off;	  /* BLOCK: offset in the struct */
	uint8_t bytes;	  /* bytes of a struct; 0: not given */
};

struct signature {
	uint32_t nargs;
	struct sig_arg arg[POV_CALL_ARGS_MAX];
	/* the text, cut apart; roles point into it: do not copy the struct */
	char text[SIG_TEXT_MAX];
};

/* A role that arguments of a layer's functions may have. Lists end with a NULL name. */
struct sig_role {
	const char *name;
	uint8_t type, kind;
};

/*
 * Expands to row(type, kind, role) for each of at most 256 roles. The preprocessor does not expand
 * a macro within itself, so SIG_EACH_AGAIN only names SIG_EACH_ROLE until the next scan.
 */
#ifdef __cppcheck__ /* cppcheck does not know __VA_OPT__ */
#define SIG_EACH(row, type, kind, role, ...) row(type, kind, role)
#else
#define SIG_EACH(row, type, kind, ...) SIG_SCAN(SIG_EACH_ROLE(row, type, kind, __VA_ARGS__))
#endif
#define SIG_EACH_ROLE(row, type, kind, role, ...) \
	row(type, kind, role) __VA_OPT__(SIG_EACH_AGAIN SIG_NONE(row, type, kind, __VA_ARGS__))
#define SIG_EACH_AGAIN() SIG_EACH_ROLE
#define SIG_NONE ()
#define SIG_SCAN(...) SIG_SCAN_64(SIG_SCAN_64(SIG_SCAN_64(SIG_SCAN_64(__VA_ARGS__))))
#define SIG_SCAN_64(...) SIG_SCAN_16(SIG_SCAN_16(SIG_SCAN_16(SIG_SCAN_16(__VA_ARGS__))))
#define SIG_SCAN_16(...) SIG_SCAN_4(SIG_SCAN_4(SIG_SCAN_4(SIG_SCAN_4(__VA_ARGS__))))
#define SIG_SCAN_4(...) SIG_SCAN_1(SIG_SCAN_1(SIG_SCAN_1(SIG_SCAN_1(__VA_ARGS__))))
#define SIG_SCAN_1(...) __VA_ARGS__

/*
 * Parses a signature. 0, or -EINVAL with *why naming the mistake (static text). A role that is not
 * in the list is no error: its type is SIG_UNKNOWN unless the token gives one.
 */
int signature_parse(const char *text, const struct sig_role *roles, struct signature *out,
		    const char **why);

/* Index of the argument with a role, or -1. */
int signature_find(const struct signature *sig, const char *role);
/* As signature_find, but only for an argument that is passed by value. */
int signature_find_value(const struct signature *sig, const char *role);

/* Attributes of a row: those of all layers; from FUNC_OWN on, each layer's own. */
#define FUNC_WAIT 0x01
#define FUNC_POLL 0x02
#define FUNC_LOCAL 0x04
#define FUNC_INIT 0x08
#define FUNC_FINAL 0x10
#define FUNC_BRIEF 0x20
#define FUNC_OWN 0x100
struct func_attrs {
	uint32_t flags; /* FUNC_* */
	uint8_t learn;	/* enum pov_learn */
};
struct func_word { /* lists end with a NULL word */
	const char *word;
	uint32_t flag;
	uint8_t learn;
};
/* "WAIT | COMM_FREE" -> *out. -EINVAL if a word is unknown; *out then has the known ones. */
int func_attrs_parse(const char *text, const struct func_word *own, struct func_attrs *out);

/*
 * Parses a row {name, group, attrs, sig} of a trace's table, with the layer's roles and words;
 * those of later versions are ignored. Also sets how the function waits. 0, or -EINVAL (printed).
 */
int func_row_parse(const json_t *row, const char *layer, const struct sig_role *roles,
		   const struct func_word *own, struct signature *sig, struct func_attrs *attrs,
		   struct func_info *out);
/* What every layer knows of a function: the start of its private part (func_info.priv). */
struct func_common {
	struct signature sig;
	struct func_attrs attrs;
};

/* Makes the recipe of a function of which no memory is read. */
void recipe_init(const struct signature *sig, struct pov_fn *fn);
/*
 * Adds the fetches that the signature asks for, and the datatype's size for arguments for which
 * wants_size (may be NULL) is true. 0, -EINVAL for an unknown role, -E2BIG for too many fetches.
 */
int recipe_add_fetches(const struct signature *sig,
		       bool (*wants_size)(const struct signature *sig, const struct sig_arg *a),
		       struct pov_fn *fn);
/*
 * Adds, as the last fetch, the message passed to the function, on behalf of argument arg. 0,
 * -E2BIG.
 */
int recipe_add_message(uint8_t arg, struct pov_fn *fn);
/*
 * Adds, as the last fetch, `bytes` bytes (at most 32) at a pointer. The pointer lies at `off` in
 * what the argument points to. 0, -E2BIG.
 */
int recipe_add_member(uint8_t arg, uint8_t off, uint8_t bytes, struct pov_fn *fn);

#endif
