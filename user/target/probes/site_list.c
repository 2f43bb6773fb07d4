/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A list is [[kind, offset, cookie, alone, has_returns]]. The helper sends it to the collector,
 * which passes it to later helpers with all that it knows.
 */
#include "target/probes/site_list.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/config.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/probe_site.h"
#include "layers/func_table.h"

static const struct link_programs *programs_of(const struct inspect_options *opt,
					       enum site_kind kind)
{
	const struct link_programs *const programs[SITE_KINDS] = {
		[SITE_CALL] = &opt->calls,     [SITE_NOTE] = &opt->note,
		[SITE_REGION] = &opt->regions, [SITE_LOADER] = &opt->loader,
		[SITE_EXEC] = &opt->exec,      [SITE_HANDOVER] = &opt->handover,
		[SITE_LEFT] = &opt->calls,     [SITE_ASKED_LOADER] = &opt->loader,
	};

	return programs[kind];
}

static int by_offset(const void *a, const void *b)
{
	const struct link_site *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Attaches at return instructions, which several functions may share. */
static void returns_attach(const struct inspect_options *opt, pid_t pid, const char *path,
			   const struct link_site *sites, size_t cnt, struct links *links, int *err)
{
	struct link_programs p = {.ret_fd = -1, .api = opt->calls.api, .pid = pid};
	struct link_site *v = xcalloc(cnt + 1, sizeof(*v));
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < cnt; i++)
		if (POV_PLACE(sites[i].cookie) & POV_PLACE_ENDS)
			v[n++] = sites[i];
	qsort(v, n, sizeof(*v), by_offset);
	for (size_t i = 0; i < n; i++)
		if (!i || v[i].offset != v[i - 1].offset)
			v[kept++] = v[i];
	if (kept && (p.entry_fd = late_program_fd(opt->returns)) < 0)
		*err = -p.entry_fd;
	else
		links_attach(links, &p, path, v, kept, err);
	free(v);
}

static int by_place(const void *a, const void *b)
{
	const struct link_site *x = a, *y = b;

	return POV_PLACE(x->cookie) - POV_PLACE(y->cookie);
}

/*
 * Keeps for each function either its return probe or its return instructions. Returns how many
 * sites are left.
 */
static size_t returns_choose(struct link_site *sites, size_t cnt, bool unwinds)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct link_site s = sites[i];

		if (!unwinds && POV_PLACE(s.cookie) & POV_PLACE_ENDS)
			continue;
		if (unwinds && s.has_returns) {
			s.cookie |= POV_COOKIE_PLACE(POV_PLACE_BEGINS, 0);
			s.alone = false;
		}
		sites[n++] = s;
	}
	return n;
}

/*
 * Attaches the sites of calls, returns first: no entry may be recorded without its return. Returns
 * the number of entries.
 */
static size_t calls_attach(const struct inspect_options *opt, pid_t pid, bool unwinds,
			   const char *path, struct link_site *sites, size_t cnt,
			   struct links *links, int *err)
{
	struct link_programs pair = opt->calls, entry = opt->calls;
	size_t pairs = 0, entries = 0;

	entry.ret_fd = -1;
	pair.pid = entry.pid = pid;
	cnt = returns_choose(sites, cnt, unwinds);
	table_sort(sites, cnt, by_place);
	while (pairs < cnt && !POV_PLACE(sites[pairs].cookie))
		pairs++;
	while (pairs + entries < cnt &&
	       POV_PLACE(sites[pairs + entries].cookie) == POV_PLACE_BEGINS)
		entries++;
	returns_attach(opt, pid, path, sites, cnt, links, err);
	return links_attach(links, &entry, path, sites + pairs, entries, err) +
	       links_attach(links, &pair, path, sites, pairs, err);
}

static size_t sites_attach(const struct inspect_options *opt, enum site_kind kind, pid_t pid,
			   bool unwinds, const char *path, struct link_site *sites, size_t cnt,
			   struct links *links, int *err)
{
	struct link_programs programs = *programs_of(opt, kind);

	programs.pid = pid;
	if (kind == SITE_CALL || kind == SITE_LEFT)
		return calls_attach(opt, pid, unwinds, path, sites, cnt, links, err);
	return links_attach(links, &programs, path, sites, cnt, err);
}

size_t site_list_put(const struct inspect_options *opt, enum site_kind kind, const char *path,
		     struct link_site *sites, size_t cnt, struct inspected *out, int *err)
{
	if (!opt->each)
		return sites_attach(opt, kind, 0, *opt->unwinds, path, sites, cnt, &out->links,
				    err);
	if (!out->sites)
		out->sites = json_array();
	for (size_t i = 0; i < cnt; i++)
		json_array_append_new(out->sites,
				      json_pack("[i,I,I,b,b]", kind, (json_int_t)sites[i].offset,
						(json_int_t)sites[i].cookie, sites[i].alone,
						sites[i].has_returns));
	return cnt;
}

static enum site_kind kind_at(const json_t *sites, size_t i)
{
	json_int_t kind = json_integer_value(json_array_get(json_array_get(sites, i), 0));

	return kind >= 0 && kind < SITE_KINDS ? (enum site_kind)kind : SITE_CALL;
}

static struct link_site site_at(const json_t *sites, size_t i)
{
	const json_t *site = json_array_get(sites, i);

	return (struct link_site){
		.offset = (uint64_t)json_integer_value(json_array_get(site, 1)),
		.cookie = (uint64_t)json_integer_value(json_array_get(site, 2)),
		.alone = json_is_true(json_array_get(site, 3)),
		.has_returns = json_is_true(json_array_get(site, 4)),
	};
}

static void failed_name(const struct inspect_options *opt, enum site_kind kind, uint64_t cookie,
			json_t *failed)
{
	size_t row = POV_COOKIE_FUNC(cookie);

	if ((kind == SITE_CALL || kind == SITE_LEFT) && row < func_table_count())
		json_array_append_new(failed, json_string(func_table_get(row)->name));
	else if (kind == SITE_REGION && row < opt->region_cnt)
		json_array_append_new(failed, json_string(opt->region[row]));
}

/* Attaches cnt sites of one kind. */
static int run_attach(const struct inspect_options *opt, enum site_kind kind, pid_t pid,
		      bool unwinds, const char *path, struct link_site *v, size_t cnt,
		      struct links *links, json_t *failed)
{
	int err = 0;

	if (programs_of(opt, kind)->entry_fd < 0)
		return 0;
	sites_attach(opt, kind, pid, unwinds, path, v, cnt, links, &err);
	for (size_t i = 0; err && err != ESRCH && i < cnt; i++)
		if (v[i].failed)
			failed_name(opt, kind, v[i].cookie, failed);
	return err;
}

static bool rows_have(const json_t *rows, json_int_t row)
{
	const json_t *wanted;

	for (size_t at = 0; (wanted = json_array_get(rows, at)); at++)
		if (json_integer_value(wanted) == row)
			return true;
	return false;
}

static bool is_chosen(const struct site_choice *choice, enum site_kind kind, const json_t *sites,
		      size_t i)
{
	json_int_t row = POV_COOKIE_FUNC(site_at(sites, i).cookie);

	if (choice->rows)
		return kind == SITE_LEFT && rows_have(choice->rows, row);
	return kind == SITE_LEFT	 ? choice->left || rows_have(choice->rows_too, row) :
	       kind == SITE_ASKED_LOADER ? choice->loader :
					   true;
}

/* A tool that replaces a function replaces its first instructions; probes of entries are there. */
#define BYTES_AFTER 16

/*
 * In a launched process the loader has a jump of ours, but no longer when the process executes the
 * program for which its loader gets probes. In an MPI library all places are compared: a process
 * may wait in MPI_Finalize, which begins with a jump if another recording has launched it.
 */
static bool has_own_code(const struct site_choice *choice, enum site_kind kind,
			 const struct link_site *s)
{
	bool ends = POV_PLACE(s->cookie) & POV_PLACE_ENDS;

	if (!choice->library && kind != SITE_REGION)
		return true;
	return site_code_is_original(choice->code, s->offset, ends ? 0 : PROBE_SITE_SKIP_MAX,
				     ends ? 1 : BYTES_AFTER);
}

bool site_list_function(const json_t *sites, uint64_t from, uint64_t to, uint64_t *cookie)
{
	for (size_t i = 0; i < json_array_size(sites); i++) {
		enum site_kind kind = kind_at(sites, i);
		struct link_site s = site_at(sites, i);

		if ((kind == SITE_CALL || kind == SITE_LEFT) && s.offset >= from && s.offset < to &&
		    !(POV_PLACE(s.cookie) & POV_PLACE_ENDS)) {
			*cookie = s.cookie;
			return true;
		}
	}
	return false;
}

void site_list_count(const json_t *sites, size_t *own, size_t *left)
{
	for (size_t i = 0; i < json_array_size(sites); i++) {
		*left += kind_at(sites, i) == SITE_LEFT;
		*own += kind_at(sites, i) != SITE_LEFT && kind_at(sites, i) != SITE_ASKED_LOADER;
	}
}

int site_list_attach(const struct inspect_options *opt, const json_t *sites,
		     const struct site_choice *choice, pid_t pid, const char *path,
		     struct links *links, json_t *failed)
{
	size_t cnt = json_array_size(sites), n, run;
	struct link_site *v = xcalloc(cnt + 1, sizeof(*v));
	int err = 0, e;

	for (size_t at = choice->from; at < cnt && err != ESRCH; at += run) {
		enum site_kind kind = kind_at(sites, at);

		n = 0;
		for (run = 0; at + run < cnt && kind_at(sites, at + run) == kind; run++)
			if (is_chosen(choice, kind, sites, at + run)) {
				v[n] = site_at(sites, at + run);
				if (has_own_code(choice, kind, &v[n])) {
					n++;
					continue;
				}
				failed_name(opt, kind, v[n].cookie, failed);
				err = EUCLEAN;
			}
		e = n ? run_attach(opt, kind, pid, choice->unwinds, path, v, n, links, failed) : 0;
		if (e)
			err = e;
	}
	free(v);
	return err;
}
