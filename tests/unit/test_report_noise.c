/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records of every kind, well-formed but meaningless, through the model, the analyses and both
 * reports. Nothing may fail, times must add up, and the JSON must be valid.
 */
#include "unit/test.h"
#include "report/report.h"
#include "trace/record_kinds.h"
#include "unit/model_fixture.h"

struct noise {
	uint64_t random, now;
};

static uint64_t next(struct noise *n)
{
	n->random = n->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return n->random >> 20;
}

static uint32_t below(struct noise *n, uint32_t limit)
{
	return (uint32_t)next(n) % limit;
}

/* Returns mostly small values, which interact; occasionally any value. */
static uint64_t value(struct noise *n, unsigned int bytes)
{
	uint64_t v = below(n, 40) ? below(n, 7) : next(n) * 31;

	if (bytes == 8 && below(n, 3))
		return n->now - below(n, 5000);
	return bytes < 8 ? v & ((UINT64_C(1) << 8 * bytes) - 1) : v;
}

static void fill(struct noise *n, uint8_t *rec, const struct record_kind *kind)
{
	const struct record_member *m;
	uint64_t v;

	for (m = kind->member; m->name; m++) {
		if (m->bytes > 8) {
			memset(rec + m->offset, 'a' + (int)below(n, 20), m->bytes);
			continue;
		}
		v = !strcmp(m->name, "func") ? below(n, 600) : value(n, m->bytes);
		memcpy(rec + m->offset, &v, m->bytes);
	}
}

/* Adds a record of the least size that fits its contents. */
static void noise_put(struct noise *n, struct mfix *f)
{
	const struct record_kind *kind = NULL;
	uint64_t words[64];
	struct pov_hdr *h = (struct pov_hdr *)words;
	uint32_t kinds = 0;

	while ((kind = record_kind_next(kind)))
		kinds++;
	for (uint32_t left = below(n, kinds) + 1; left; left--)
		kind = record_kind_next(kind);
	for (size_t i = 0; i < COUNT(words); i++)
		words[i] = value(n, 8);
	fill(n, (uint8_t *)words, kind);
	n->now += below(n, 300);
	h->kind = kind->kind;
	if (pov_is_call(h))
		((struct pov_call *)words)->nargs = (uint8_t)below(n, 12);
	if (h->kind == POV_KIND_SPIN)
		((struct pov_spin *)words)->nfuncs = (uint8_t)below(n, 5);
	if (h->kind == POV_KIND_MORE)
		((struct pov_more *)words)->size = 16;
	h->flags = (uint8_t)below(n, 32);
	h->tid = below(n, 7);
	h->ts_ns = below(n, 50) ? n->now : n->now - below(n, 900);
	h->size = kind->fixed_bytes;
	while (h->size < sizeof(words) && !record_well_formed(h))
		h->size += 8;
	if (h->size < sizeof(words))
		assert_int_equal(trace_writer_add(f->writer,
						  h->kind >= POV_KIND_TASK ? TRACE_STREAM_TASKS :
									     below(n, 3),
						  h),
				 0);
}

static void check_report(const struct report *r)
{
	uint64_t sum;
	uint32_t i, k;

	for (i = 0; i < model_thread_count(r->model); i++) {
		const struct model_thread *t = model_thread_get(r->model, i);

		for (sum = 0, k = 0; k < THREAD_STATE_CNT; k++)
			sum += t->times.ns[k];
		assert_int_equal(sum, t->end_ns - t->start_ns);
	}
	for (i = 0; i < r->cores.ncore; i++) {
		const struct core_row *c = &r->cores.core[i];

		if (c->seen)
			assert_int_equal(c->rank_ns + c->target_ns + c->other_ns + c->idle_ns +
						 c->unknown_ns,
					 r->cores.wall_ns);
	}
}

static void check_forms(const struct report *r)
{
	char *text = NULL;
	size_t bytes = 0;
	json_t *json;
	FILE *out = open_memstream(&text, &bytes);

	report_text(r, out);
	fclose(out);
	assert_true(bytes > 100);
	free(text);
	out = open_memstream(&text, &bytes);
	assert_int_equal(report_json(r, out), 0);
	fclose(out);
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	assert_int_equal(json_integer_value(json_object_get(json, "schema_version")), 1);
	json_decref(json);
	free(text);
}

static void noise_test(uint64_t seed, const char *config, bool ranks)
{
	const struct report_options opt = {
		.threads = true, .top = 5, .sort = (enum report_sort)(seed % 6)};
	struct noise n = {.random = seed, .now = 10000};
	struct report r;
	struct mfix f;
	int i;

	mfix_begin(&f, config);
	mfix_functions(&f);
	for (i = 0; ranks && i < 4; i++)
		mfix_rank(&f, 1000 + (uint64_t)i * 20000, (uint32_t)i + 1, i, "app\x01");
	for (i = 0; i < 3000; i++)
		noise_put(&n, &f);
	if (seed & 1)
		mfix_end(&f, n.now + 100);
	mfix_open(&f, true);
	mfix_run(&f);
	assert_int_equal(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r), 0);
	check_report(&r);
	check_forms(&r);
	report_close(&r);
	mfix_release(&f);
}

TEST(noise)
{
	static const char *const configs[] = {
		"\"sched\":\"all\",\"rings\":2,\"cpus_per_ring\":1",
		"\"sched\":\"ranks\",\"rings\":1,\"cpus_per_ring\":0",
		"\"sched\":\"off\"",
		"\"sched\":\"all\",\"all\":true,\"rings\":100000,\"cpus_per_ring\":100000000",
		"",
	};
	uint64_t seed;

	log_set_level(LOG_ERROR);
	for (seed = 1; seed <= 30; seed++) /* each pair of config and order twice */
		noise_test(seed, configs[seed % 5], seed % 3);
	log_set_level(LOG_INFO);
}
