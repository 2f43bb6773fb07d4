/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Common work of all layers' decoders: taking a call's record apart, and putting values into the
 * view. A record may come from a damaged file; all that it claims is checked against its size here.
 */
#ifndef POV_LAYERS_CALL_PARTS_H
#define POV_LAYERS_CALL_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "layers/layer.h"
#include "layers/signature.h"
#include "lib/map.h"

/*
 * Memory that lives until the next reset: texts and arrays of a decoded call. After the first few
 * calls, nothing more is allocated. A zeroed struct is an empty arena.
 */
struct arena {
	struct arena_block *blocks; /* the first one is used for allocations */
	size_t used;
};

/* Aligned to 8 bytes; never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Invalidates all memory handed out before. */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

struct call_parts {
	const struct func_info *info;
	const struct signature *sig;
	const struct pov_call *rec;
	uint64_t begin_ns;
	uint32_t nargs; /* arguments that the record holds, at most those in the signature */
	bool returned;	/* there is a return value */
};

/* Opens a record of a call of this function. False if it is not a call. */
bool call_parts_open(struct call_parts *c, const struct func_info *info,
		     const struct pov_call *rec);
/* The raw word of an argument, 0 if the record lacks it. */
uint64_t call_parts_word(const struct call_parts *c, uint32_t arg);
static inline bool call_parts_known(const struct call_parts *c, uint32_t arg)
{
	return arg < c->nargs && !(arg < 32 && c->rec->unknown >> arg & 1);
}
/*
 * Reads the argument that has a role and is passed by value; of an int, only its 32 bits. False if
 * the function or the record has no such argument.
 */
bool call_parts_value(const struct call_parts *c, const char *role, uint64_t *out);
/*
 * Finds the next field; *at must be 0 for the first one. False after the last field, or where the
 * record is cut. data: head->size bytes, not aligned.
 */
bool call_parts_field(const struct call_parts *c, size_t *at, struct pov_field *head,
		      const uint8_t **data);
/*
 * Data read for the argument with a role, in a field of this type (MEMBER: at offset off). Not
 * aligned. NULL if there is no such field, or it has fewer than `bytes` bytes.
 */
const uint8_t *call_parts_data(const struct call_parts *c, const char *role, uint8_t type,
			       uint32_t off, size_t bytes);

/*
 * Adds a value to the view; a full view gets one that is not shown. name: valid as long as the
 * view.
 */
struct call_value *call_view_add(struct call_view *out, const char *name, enum value_kind kind);
/* Adds an argument under its role: a number if it is one, else as hex. */
void call_view_add_arg(struct call_view *out, const struct call_parts *c, uint32_t arg);

/*
 * Continuation records that wait for their call's record. Some wait in vain: those of unsuccessful
 * polls that were merged, and of calls whose record was lost. The thread's next call drops them.
 */
struct continuations {
	struct map threads; /* tid -> struct more_thread */
};

/* Stores a copy of a continuation record. */
void continuations_add(struct continuations *m, const struct pov_more *rec);
/*
 * Appends the continuation to *data, which has *bytes bytes in elements of width bytes. The result
 * is in arena memory.
 */
void continuations_join(const struct continuations *m, uint32_t tid, uint64_t begin_ns,
			uint8_t type, uint8_t arg, uint32_t width, struct arena *arena,
			const uint8_t **data, uint32_t *bytes);
/*
 * Drops the records of the call that began at begin_ns, which has been decoded, and older records
 * that no call can need any more.
 */
void continuations_done(struct continuations *m, uint32_t tid, uint64_t begin_ns, uint8_t depth);
void continuations_release(struct continuations *m);

/*
 * What calls revealed of the objects of processes, by their addresses in memory. Each layer has its
 * own kinds of objects. Those made before the recording began are unknown.
 */
struct objects {
	struct map by_kind; /* process id, kind → map of objects, to be freed with free() */
};

/* The objects of that kind of a process, by address. */
struct map *objects_of(struct objects *o, uint32_t pid, uint32_t kind);
/* NULL if unknown. */
void *object_get(const struct objects *o, uint32_t pid, uint32_t kind, uint64_t address);
void objects_release(struct objects *o);

/* Every layer's decoder begins with this. */
struct layer_decoder {
	struct arena arena; /* memory that the current view points to */
	struct continuations more;
	struct objects objects;
};

/* Memory read through the arguments of a call, including the parts in its continuation records. */
struct call_field {
	/* in the record or in the arena, not aligned; NULL: nothing was read */
	const uint8_t *data;
	uint32_t bytes, cnt; /* cnt: true number of elements */
};

struct call_fields {
	struct call_field arg[POV_CALL_ARGS_MAX];
	struct call_field sum; /* the POV_FIELD_SUM; data is NULL if there is none */
};

/*
 * Reads all fields of a call. width_of: returns the bytes of one element that an argument points
 * to.
 */
void call_fields_read(struct call_fields *f, const struct call_parts *c,
		      uint32_t (*width_of)(const struct sig_arg *arg), struct layer_decoder *d);
/* Field of the argument with a role, if at least `bytes` bytes were read; or NULL. */
const struct call_field *call_fields_find(const struct call_fields *f, const struct call_parts *c,
					  const char *role, uint32_t bytes);

#endif
