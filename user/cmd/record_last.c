/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "cmd/record_last.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "record/flight/trigger.h"
#include "layers/func_table.h"

#define SPAN_MIN_NS 1000000000ull
#define SPAN_MAX_NS (86400 * 1000000000ull)
#define BYTES_MIN (1u << 20)

static int last_parse(const char *text, struct keep_options *o)
{
	size_t digits = strspn(text, "0123456789.");
	int err = human_parse_ns(text, &o->span_ns);

	if (digits && !strcmp(text + digits, "m")) {
		log_error("record: --last %s: minutes are %.*smin, mebibytes %.*sM", text,
			  (int)digits, text, (int)digits, text);
		return -EINVAL;
	}
	if (err == -EINVAL && !human_parse_bytes(text, &o->bytes)) {
		if (o->bytes >= BYTES_MIN)
			return 0;
		log_error("record: --last %s: less than 1M is too little", text);
		return -EINVAL;
	}
	if (!err && o->span_ns >= SPAN_MIN_NS && o->span_ns <= SPAN_MAX_NS)
		return 0;
	if (err == -EINVAL)
		log_error("record: --last %s: neither a time (10s, 5min) nor a size (64M, 1G)",
			  text);
	else
		log_error("record: --last %s: a time must be from 1 s to 24 h", text);
	return -EINVAL;
}

/* "  MPI_Allreduce  > 50ms " → the glob and the time, in text's own copy. */
static int when_split(char *text, char **glob, char **time)
{
	char *sign = strchr(text, '>'), *end;

	if (!sign)
		return -EINVAL;
	*sign = 0;
	*glob = text + strspn(text, " ");
	*time = sign + 1 + strspn(sign + 1, " ");
	for (end = *glob + strlen(*glob); end > *glob && end[-1] == ' ';)
		*--end = 0;
	for (end = *time + strlen(*time); end > *time && end[-1] == ' ';)
		*--end = 0;
	return **glob ? 0 : -EINVAL;
}

/* A function that is not recorded can start nothing. */
static int func_choose(const char *text, const char *glob, const bool *recorded, bool *func)
{
	size_t left = 0;

	if (func_table_match("record: --when", glob, true, func))
		return -EINVAL;
	for (size_t i = 0; i < func_table_count(); i++) {
		func[i] &= recorded[i];
		left += func[i];
	}
	if (left)
		return 0;
	log_error(
		"record: --when '%s': this function is not recorded; see --mpi, --layers, --functions",
		text);
	return -EINVAL;
}

static int when_parse(const char *text, const bool *recorded, struct trigger_when *out)
{
	char *copy = xstrdup(text), *glob, *time;
	int err = when_split(copy, &glob, &time);

	if (!err)
		err = human_parse_ns(time, &out->over_ns);
	if (err) {
		log_error("record: --when '%s': a condition is like 'MPI_Allreduce > 50ms'", text);
		err = -EINVAL;
	} else {
		out->text = text;
		out->func = xcalloc(func_table_count(), sizeof(*out->func));
		err = func_choose(text, glob, recorded, out->func);
	}
	free(copy);
	return err;
}

int record_last_parse(const char *last, const struct option_list *whens, const bool *recorded,
		      struct keep_options *out)
{
	struct trigger_when *when = xcalloc(whens->cnt + 1, sizeof(*when));
	int err;

	*out = (struct keep_options){.when = when, .when_cnt = whens->cnt};
	err = last_parse(last, out);
	for (size_t i = 0; i < whens->cnt && !err; i++)
		err = when_parse(whens->item[i], recorded, &when[i]);
	return err;
}

void record_last_release(struct keep_options *o)
{
	for (size_t i = 0; i < o->when_cnt; i++)
		free(o->when[i].func);
	free((struct trigger_when *)o->when);
	*o = (struct keep_options){0};
}
