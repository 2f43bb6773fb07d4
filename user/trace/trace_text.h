/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records as lines of text, "call ts=100 dur=40 tid=7 …": the names of kinds, members and flags in
 * one table, which `povtrace info --dump` prints by and the tests' maker of traces reads by.
 */
#ifndef POV_TRACE_TEXT_H
#define POV_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/event.h"

enum text_form {
	TEXT_DEC,
	TEXT_SIGNED,
	TEXT_HEX,
	TEXT_MASK,  /* as hexadecimal, and not at all if it is 0 */
	TEXT_COMM,  /* POV_COMM_LEN bytes */
	TEXT_CLASS, /* enum pov_class by name */
	TEXT_TYPE,  /* enum pov_field_type by name */
};

struct text_member {
	const char *name;
	uint16_t offset;
	uint8_t bytes;
	uint8_t form; /* enum text_form */
};

struct text_flag {
	const char *name;
	uint8_t bit;
};

struct text_kind {
	uint8_t kind; /* enum pov_kind */
	const char *name;
	uint16_t fixed_bytes;		  /* of the struct, without its variable part */
	const struct text_member *member; /* ends with a NULL name; ts and tid are common to all */
	const struct text_flag *flag;	  /* ends with a NULL name */
};

extern const struct text_kind text_kinds[]; /* ends with a NULL name */
extern const char *const text_class_names[POV_CLASS_CNT];
extern const char *const text_field_names[]; /* by enum pov_field_type; 0 is NULL */
#define TEXT_FIELD_NAMES_CNT 13

const struct text_kind *text_kind_find(uint8_t kind); /* NULL if unknown */

/*
 * True if the record's size fits its kind and all counts in it lie within it, so that its struct
 * can be read without further checks. Unknown kinds pass; those that no file has do not.
 */
bool trace_record_ok(const struct pov_hdr *rec);

/* Prints one line without its newline. The record must be trace_record_ok. */
void trace_record_print(const struct pov_hdr *rec, FILE *out);

#endif
