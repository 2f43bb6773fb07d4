/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Opens a .pov file: walks the block headers, finds its way back after damage, and reads the meta
 * objects. Uses pread, never mmap, so that truncating the file meanwhile causes an error instead of
 * a signal.
 */
#include "trace/trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/table.h"
#include "trace/trace_file.h"
#include "trace/trace_limit.h"

#define SEARCH_BYTES 65536

/* Reads exactly len bytes. 0, -ENODATA at the file's end, or -errno. */
static int trace_read_at(const struct trace *t, uint64_t offset, void *buf, size_t len)
{
	uint8_t *p = buf;
	ssize_t n;

	while (len) {
		n = pread(t->fd, p, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* ---- blocks ---- */

int trace_block_reject(struct trace *t, struct block_ref *ref, const char *why)
{
	if (!ref->bad) {
		log_warn("trace: %s: block %" PRIu64 " at byte %" PRIu64
			 " is damaged (%s); %u records lost",
			 t->path, (uint64_t)ref->h.seq, ref->offset, why, ref->h.nrecords);
		ref->bad = true;
		t->sum.bad_blocks++;
	}
	return -EBADMSG;
}

void *trace_scratch(void *buf, size_t *room, size_t need)
{
	if (need <= *room)
		return buf;
	free(buf);
	*room = need;
	return xmalloc(need);
}

int trace_block_load(struct trace *t, struct block_ref *ref, const uint8_t **raw)
{
	const struct trace_block_header *h = &ref->h;
	size_t n;
	int err;

	if (ref->bad)
		return -EBADMSG;
	t->stored = trace_scratch(t->stored, &t->stored_room, h->stored_len + 1u);
	err = trace_read_at(t, ref->offset + sizeof(*h), t->stored, h->stored_len);
	if (err == -ENODATA)
		return trace_block_reject(t, ref, "the file has become shorter");
	if (err) {
		log_error("trace: cannot read %s: %s", t->path, strerror(-err));
		return err;
	}
	if (!trace_payload_ok(h, t->stored))
		return trace_block_reject(t, ref, "wrong checksum");
	*raw = t->stored;
	if (h->flags & TRACE_FLAG_ZSTD) {
		t->raw = trace_scratch(t->raw, &t->raw_room, h->raw_len + 1u);
		n = ZSTD_decompressDCtx(t->dctx, t->raw, h->raw_len, t->stored, h->stored_len);
		if (ZSTD_isError(n) || n != h->raw_len)
			return trace_block_reject(t, ref, "cannot be decompressed");
		*raw = t->raw;
	}
	return 0;
}

/* ---- scanning ---- */

static bool trace_header_at(const struct trace *t, uint64_t offset, struct trace_block_header *h)
{
	return t->size - offset >= sizeof(*h) && !trace_read_at(t, offset, h, sizeof(*h)) &&
	       trace_block_header_ok(h);
}

static bool payload_fits(const struct trace *t, uint64_t offset, const struct trace_block_header *h)
{
	return t->size - offset - sizeof(*h) >= h->stored_len;
}

/* Offset of the first intact block at or after `from`, with its header; or the file's end. */
static uint64_t trace_find_block(const struct trace *t, uint64_t from, struct trace_block_header *h)
{
	static const uint32_t magic = TRACE_BLOCK_MAGIC;
	uint8_t *buf = xmalloc(SEARCH_BYTES);
	uint64_t found = t->size;

	while (found == t->size && t->size - from >= sizeof(*h)) {
		size_t len = t->size - from < SEARCH_BYTES ? (size_t)(t->size - from) :
							     SEARCH_BYTES;
		const uint8_t *p = buf;

		if (trace_read_at(t, from, buf, len))
			break;
		while ((p = memmem(p, len - (size_t)(p - buf), &magic, sizeof(magic)))) {
			uint64_t at = from + (uint64_t)(p++ - buf);

			if (trace_header_at(t, at, h) && payload_fits(t, at, h)) {
				found = at;
				break;
			}
		}
		from += len > sizeof(magic) ? len - sizeof(magic) + 1 : len;
	}
	free(buf);
	return found;
}

static void trace_add_ref(struct trace *t, uint64_t offset, const struct trace_block_header *h,
			  bool missing_before)
{
	struct trace_summary *s = &t->sum;

	*table_append(t->ref, t->nrefs) =
		(struct block_ref){.offset = offset, .h = *h, .missing_before = missing_before};
	s->holes |= missing_before;
	if (h->type == TRACE_BLOCK_META) {
		s->meta_blocks++;
		return;
	}
	if (!s->event_blocks++ || h->min_ts < s->first_ns)
		s->first_ns = h->min_ts;
	s->last_ns = u64_max(s->last_ns, h->max_ts);
	s->records += h->nrecords;
}

/* Counts and reports a gap before the block at `offset`. missing: number of blocks. */
static void trace_note_damage(struct trace *t, uint64_t from, uint64_t offset, uint64_t missing)
{
	uint64_t fit = (offset - from) / sizeof(struct trace_block_header);

	if (missing > fit)
		missing = fit;
	if (!missing)
		missing = 1;
	t->sum.bad_blocks += missing;
	log_warn("trace: %s: bytes %" PRIu64 " to %" PRIu64 " are damaged; %" PRIu64
		 " block(s) lost",
		 t->path, from, offset, missing);
}

static void trace_scan(struct trace *t, uint64_t offset)
{
	struct trace_block_header h;
	uint64_t next_seq = 0, next;
	bool missing = false; /* blocks are missing since the last block of a known type */

	while (offset < t->size) {
		if (!trace_header_at(t, offset, &h) || !payload_fits(t, offset, &h)) {
			next = trace_find_block(t, offset + 1, &h);
			if (next == t->size)
				break;
			trace_note_damage(t, offset, next, h.seq > next_seq ? h.seq - next_seq : 1);
			missing = true;
			offset = next;
		} else if (h.seq != next_seq) {
			trace_note_damage(t, offset, offset, 1);
			missing = true;
		}
		next_seq = h.seq + 1;
		t->sum.blocks++;
		if (h.type == TRACE_BLOCK_META || h.type == TRACE_BLOCK_EVENTS) {
			trace_add_ref(t, offset, &h, missing);
			missing = false;
		} else if (h.type != TRACE_BLOCK_END) {
			t->sum.unknown_blocks++;
		}
		offset += sizeof(h) + h.stored_len;
		if (h.type == TRACE_BLOCK_END) {
			t->sum.complete = true;
			break;
		}
	}
	t->sum.lost_tail_bytes = t->size > offset ? t->size - offset : 0;
	if (t->sum.lost_tail_bytes)
		log_warn("trace: %s: the last %" PRIu64 " bytes are no whole block", t->path,
			 t->sum.lost_tail_bytes);
}

/*
 * ---- the meta objects "probes" ----
 *
 * Numbers are added, lists are appended. Names are settled only once a library is complete, because
 * a file may have many of them.
 */

static void library_add_number(json_t *to, const json_t *from, const char *key)
{
	int64_t sum;

	if (!__builtin_add_overflow(json_get_int(to, key), json_get_int(from, key), &sum))
		json_object_set_new(to, key, json_integer(sum));
}

static void library_append_list(json_t *to, const json_t *from, const char *key)
{
	const json_t *more = json_object_get(from, key);

	if (!json_is_array(more))
		return;
	if (!json_is_array(json_object_get(to, key)))
		json_object_set_new(to, key, json_array());
	json_array_extend(json_object_get(to, key), (json_t *)more);
}

static void set_add_names(json_t *set, const json_t *names)
{
	const char *name;

	for (size_t i = 0; i < json_array_size(names); i++) {
		name = json_string_value(json_array_get(names, i));
		if (name)
			json_object_set_new(set, name, json_true());
	}
}

static void probes_add(json_t *library, const json_t *probes, json_t *found)
{
	library_add_number(library, probes, "attached");
	library_add_number(library, probes, "emulated");
	library_add_number(library, probes, "stepped");
	library_append_list(library, probes, "stepped_names");
	library_append_list(library, probes, "missing");
	library_append_list(library, probes, "failed");
	if (json_object_get(probes, "refused"))
		json_object_set(library, "refused", json_object_get(probes, "refused"));
	set_add_names(found, json_object_get(probes, "functions"));
}

/*
 * A function without a symbol may have been found by its address, and a missing one may have been
 * reported more than once.
 */
static void missing_settle(json_t *library, json_t *found)
{
	const json_t *names = json_object_get(library, "missing");
	json_t *left = json_array();
	const char *name;

	for (size_t i = 0; i < json_array_size(names); i++) {
		name = json_string_value(json_array_get(names, i));
		if (!name || json_object_get(found, name))
			continue;
		json_object_set_new(found, name, json_true());
		json_array_append(left, json_array_get(names, i));
	}
	json_object_set_new(library, "missing", left);
}

void trace_probes_fold(json_t *library, const json_t *probes)
{
	json_t *found = json_object();

	probes_add(library, probes, found);
	missing_settle(library, found);
	json_decref(found);
}

struct probed {
	json_t *library; /* latest library with its number */
	json_t *found;	 /* functions from objects "probes"; NULL: none */
};

/* Completes the library's list of missing functions, as no further object refers to it. */
static void probed_free(void *value)
{
	struct probed *p = value;

	if (p && p->found)
		missing_settle(p->library, p->found);
	if (p)
		json_decref(p->found);
	free(p);
}

/* Folds every object "probes" into the latest library before it with its number. */
static void trace_probes_fold_all(json_t *const *meta, size_t cnt)
{
	struct map by_id = {0};
	struct probed *p;

	for (size_t i = 0; i < cnt; i++) {
		if (json_is_type(meta[i], "library")) {
			p = xcalloc(1, sizeof(*p));
			p->library = meta[i];
			probed_free(map_set(&by_id, json_get_u64(meta[i], "id"), p));
		} else if (json_is_type(meta[i], "probes")) {
			p = map_get(&by_id, json_get_u64(meta[i], "library"));
			if (!p)
				continue;
			p->found = p->found ?: json_object();
			probes_add(p->library, meta[i], p->found);
		}
	}
	map_free(&by_id, probed_free);
}

/* ---- meta objects ---- */

static int trace_load_meta(struct trace *t, struct block_ref *ref)
{
	const uint8_t *raw;
	json_error_t why;
	uint64_t bytes;
	json_t *obj;
	int err = trace_block_load(t, ref, &raw);

	if (err)
		return err;
	bytes = trace_json_bytes((const char *)raw, ref->h.raw_len);
	if (t->meta_bytes + bytes > trace_limit(TRACE_META_BASE, TRACE_META_RATIO, t->size))
		return trace_block_reject(t, ref,
					  "more meta data than a recording of its size has");
	t->meta_bytes += bytes;
	obj = json_loadb((const char *)raw, ref->h.raw_len, 0, &why);
	if (!json_is_object(obj) || !json_is_string(json_object_get(obj, "type"))) {
		json_decref(obj);
		return trace_block_reject(t, ref, "no meta object");
	}
	t->meta[t->nmeta++] = obj;
	return 0;
}

static int trace_load_metas(struct trace *t)
{
	int err;

	t->meta = xcalloc(t->sum.meta_blocks + 1, sizeof(*t->meta));
	for (size_t i = 0; i < t->nrefs; i++) {
		if (t->ref[i].h.type != TRACE_BLOCK_META)
			continue;
		err = trace_load_meta(t, &t->ref[i]);
		if (err && err != -EBADMSG)
			return err;
	}
	trace_probes_fold_all(t->meta, t->nmeta);
	return 0;
}

/* ---- opening ---- */

static int trace_check_file_header(struct trace *t, uint64_t *first)
{
	struct trace_file_header h, good;
	int err = trace_read_at(t, 0, &h, sizeof(h));

	if (err == -ENODATA || (!err && memcmp(h.magic, TRACE_MAGIC, sizeof(h.magic)))) {
		log_error("trace: %s is not a povtrace file", t->path);
		return -EINVAL;
	}
	if (err) {
		log_error("trace: cannot read %s: %s", t->path, strerror(-err));
		return err;
	}
	good = h;
	trace_file_header_seal(&good);
	if (good.crc != h.crc || h.header_bytes < sizeof(h)) {
		log_error("trace: the header of %s is damaged", t->path);
		return -EINVAL;
	}
	if (h.major != TRACE_MAJOR) {
		log_error("trace: %s has format %u; this povtrace reads format %u", t->path,
			  h.major, TRACE_MAJOR);
		return -EINVAL;
	}
	*first = h.header_bytes;
	return 0;
}

static int trace_open_file(struct trace *t)
{
	struct stat st;
	int err;

	t->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (t->fd < 0 || fstat(t->fd, &st)) {
		err = -errno;
		log_error("trace: cannot open %s: %s", t->path, strerror(-err));
		return err;
	}
	if (!S_ISREG(st.st_mode)) {
		log_error("trace: %s is not a regular file", t->path);
		return -EINVAL;
	}
	t->size = (uint64_t)st.st_size;
	t->sum.file_bytes = t->size;
	return 0;
}

int trace_open(const char *path, struct trace **out)
{
	struct trace *t = xcalloc(1, sizeof(*t));
	uint64_t first = 0;
	int err;

	t->path = xstrdup(path);
	t->dctx = ZSTD_createDCtx();
	if (!t->dctx)
		die("out of memory");
	err = trace_open_file(t);
	if (!err)
		err = trace_check_file_header(t, &first);
	if (!err) {
		trace_scan(t, first);
		err = trace_load_metas(t);
	}
	if (err) {
		trace_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nmeta; i++)
		json_decref(t->meta[i]);
	free(t->meta);
	free(t->ref);
	free(t->stored);
	free(t->raw);
	ZSTD_freeDCtx(t->dctx);
	if (t->fd >= 0)
		close(t->fd);
	joined_close(t->joined);
	free(t->path);
	free(t);
}

const struct trace_summary *trace_get_summary(const struct trace *t)
{
	return t->joined ? joined_summary(t->joined) : &t->sum;
}

size_t trace_meta_count(const struct trace *t)
{
	return t->nmeta;
}

json_t *trace_meta_get(const struct trace *t, size_t i)
{
	return i < t->nmeta ? t->meta[i] : NULL;
}

json_t *trace_meta_find(const struct trace *t, const char *type)
{
	for (size_t i = 0; i < t->nmeta; i++)
		if (json_is_type(t->meta[i], type))
			return t->meta[i];
	return NULL;
}
