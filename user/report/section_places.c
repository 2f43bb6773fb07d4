/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows in which functions ranks computed, by samples (analysis/samples.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"
#include "report/section.h"

#define NAME_CHARS 44

static uint64_t time_of(uint64_t samples)
{
	return (uint64_t)llround((double)samples * 1e9 / POV_SAMPLES_HZ);
}

static void cells(struct columns *c, const struct samples_function *f, bool called)
{
	columns_text(c, f->name ? f->name->function : "(unknown)", NAME_CHARS);
	if (f->name && f->name->file)
		columns_take(c, xasprintf("%s:%u", text_base_name(f->name->file), f->name->line),
			     NAME_CHARS);
	else
		columns_text(c, f->module ? text_base_name(f->module->path) : "code in no file",
			     NAME_CHARS);
	cell_count(c, f->samples);
	cell_ns(c, time_of(f->samples));
	cell_pct(c, f->samples, f->of);
	if (called)
		cell_pct(c, f->called, f->of);
}

struct columns *table_places(const struct report *r, struct places_shown *what)
{
	struct samples_function *f = samples_functions(&r->findings.samples, r->model, r->sites,
						       r->chosen, &what->n);
	struct columns *c = columns_new();

	what->shown = text_rows_shown(r, what->n, r->opt->top);
	what->called = false;
	for (uint32_t i = 0; i < what->n; i++)
		what->called |= f[i].called > 0;
	columns_list(c, "<function", "<source", ">samples", ">time", ">%");
	if (what->called)
		columns_add(c, "% in libraries", COLUMNS_RIGHT);
	for (uint32_t i = 0; i < what->shown; i++)
		cells(c, &f[i], what->called);
	free(f);
	return c;
}

const char *places_none_text(const struct report *r)
{
	return r->facts & FACT_SCHED ?
		       "There are no samples: no rank computed for long outside MPI, or the kernel "
		       "refused the clocks that sample." :
		       "There are no samples: they are recorded with the scheduler, which was not "
		       "recorded.";
}

void text_places(const struct report *r, FILE *out)
{
	struct places_shown what;
	struct columns *c = table_places(r, &what);

	if (!what.n && (r->opt->details & DETAIL_ALL) == DETAIL_ALL) {
		columns_free(c);
		return;
	}
	text_section(out, PLACES_TITLE);
	if (!what.n) {
		columns_free(c);
		text_note(out, "%s", places_none_text(r));
		return;
	}
	text_columns(c, out);
	text_shown_note(out, what.shown, what.n);
	text_explain(
		r, out,
		"Each sample stands for %.1f ms of a core: it is where a thread was when its CPU's "
		"clock ticked. A line is the function's most frequent one. The error of n samples "
		"is about the square root of n.%s",
		1e3 / POV_SAMPLES_HZ,
		what.called ?
			" In libraries: of a function's samples, those in libraries that it called." :
			"");
}

void json_places(struct json_out *j, const struct report *r)
{
	struct samples_function *f;
	uint32_t n;

	if (!(r->opt->details & DETAIL_PLACES))
		return;
	f = samples_functions(&r->findings.samples, r->model, r->sites, r->chosen, &n);
	json_out_key_array(j, "places");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		samples_function_json(j, &f[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(f);
}
