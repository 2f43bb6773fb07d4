/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Datatypes that the reader of the trace knows already. The table has a hash for each handle: of
 * the call that made the datatype, and of the datatype that it was made from. If the same call
 * returns the same handle again, the reader learns nothing new. Two handles with the same place in
 * the table replace each other, and are then recorded again. Included before call_steps.h.
 */
#ifndef POV_PRELOAD_KNOWN_TYPES_H
#define POV_PRELOAD_KNOWN_TYPES_H

#define KNOWN_TYPES_BITS 10
static u64 known_types[1 << KNOWN_TYPES_BITS];

static u64 hash_mix(u64 hash, u64 with)
{
	hash = (hash ^ with) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static u64 *known_type(u64 handle)
{
	return &known_types[handle * 0x9e3779b97f4a7c15ull >> (64 - KNOWN_TYPES_BITS)];
}

/*
 * Called when a call has made a datatype. Returns true if the reader knows it already. From now on
 * it counts as known, unless the call's arguments were not recorded completely.
 */
static __noinline bool type_is_known(struct pov_frame *f, const struct pov_fn *fn)
{
	const struct pov_call *call = frame_call(f);
	const struct pov_lib *lib = lib_find(call->lib);
	u32 bytes = lib ? lib->elem_bytes[POV_ELEM_HANDLE] : 0;
	u64 made = 0, hash, was, *place, narrow;

	if ((bytes != 4 && bytes != 8) || program_read(&made, bytes, frame_arg(f, fn->made_arg)))
		return false;
	place = known_type(made);
	narrow = bytes == 4 ? 0xffffffff : ~0ull;
	hash = hash_mix(made, (u64)call->func << 16 | call->lib);
	for (u32 i = 0; i < call->nargs && i < POV_CALL_ARGS_MAX; i++)
		hash = i == fn->made_arg ? hash : hash_mix(hash, frame_arg(f, i));
	if (fn->old_arg != POV_ARG_NONE)
		hash = hash_mix(hash,
				__atomic_load_n(known_type(frame_arg(f, fn->old_arg) & narrow),
						__ATOMIC_RELAXED));
	was = __atomic_exchange_n(place, fn->brief ? hash | 1 : 0, __ATOMIC_RELAXED);
	return fn->brief && was == (hash | 1);
}

#define MADE_IS_KNOWN type_is_known

#endif
