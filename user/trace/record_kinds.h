/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The kinds of records in one table: names, sizes, members, flags, and what each member means. The
 * table serves to check and print records (record_kinds.c), to make them from text
 * (tests/tool/povmake), and to renumber them when traces of several hosts are joined
 * (trace_join.h). kmod-docs/TRACE_FORMAT.md explains the kinds.
 */
#ifndef POV_TRACE_RECORD_KINDS_H
#define POV_TRACE_RECORD_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/event.h"

enum record_form {
	FORM_DEC,
	FORM_SIGNED,
	FORM_HEX,
	FORM_MASK,  /* hexadecimal; omitted if 0 */
	FORM_COMM,  /* POV_COMM_LEN bytes */
	FORM_CLASS, /* name of an enum pov_class */
	FORM_TYPE,  /* name of an enum pov_field_type */
};

/* What a number means beyond one host. */
enum record_role {
	ROLE_PLAIN,
	ROLE_TASK,     /* a thread's or a process's number; 0: none */
	ROLE_CPU,      /* u16 */
	ROLE_TIME,     /* u64, CLOCK_MONOTONIC, ns */
	ROLE_DURATION, /* u64, ns; it ends at the record's time */
	ROLE_FUNCTION, /* u16, of the trace's function table */
	ROLE_LIBRARY,  /* u16 */
	ROLE_REGION,   /* u16 */
	ROLE_INODE,    /* u64 */
};

struct record_member {
	const char *name;
	uint16_t offset;
	uint8_t bytes;
	uint8_t form; /* enum record_form */
	uint8_t role; /* enum record_role */
};

struct record_flag {
	const char *name;
	uint8_t bit;
};

struct record_kind {
	uint8_t kind;	  /* enum pov_kind */
	const char *name; /* NULL: an unknown kind, or one that no file has */
	const char *struct_name;
	uint16_t fixed_bytes; /* of the struct, without its variable part */
	uint16_t least_bytes; /* of the struct as it was at first: later members are appended */
	/* ends with a NULL name; ts and tid are common to all */
	const struct record_member *member;
	const struct record_flag *flag; /* ends with a NULL name */
};

extern const struct record_kind record_kinds[256]; /* by enum pov_kind */
extern const char *const record_class_names[POV_CLASS_CNT];
extern const char *const record_field_names[]; /* by enum pov_field_type; 0 is NULL */
#define RECORD_FIELD_NAMES_CNT 13

const struct record_kind *record_kind_find(uint8_t kind); /* NULL if unknown */
/* The named kinds in order: after NULL the first, after the last one NULL. */
const struct record_kind *record_kind_next(const struct record_kind *k);

/*
 * True if the record's size fits its kind and all its counts lie within that size, so that its
 * struct can be read without further checks. Unknown kinds pass; kinds that no file has do not.
 */
bool record_well_formed(const struct pov_hdr *rec);

/* Prints one line without its newline. The record must be record_well_formed. */
void trace_record_print(const struct pov_hdr *rec, FILE *out);

#endif
