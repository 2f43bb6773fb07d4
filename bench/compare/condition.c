/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* "B takes 5 % longer" and "A takes 5 % longer" are the same distance from 1: faster is judged by the inverse ratio. */
#include "compare/condition.h"

#include "lib/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

static int refuse(const char *text)
{
	log_error("--fail-if: \"%s\" is no condition such as \"slower > 5 %%\": slower, faster or "
		  "different, and a share that it exceeds, if it is not any",
		  text);
	return -EINVAL;
}

static const char *read_word(const char *text, struct condition *out)
{
	static const struct {
		const char *word;
		bool slower, faster;
	} words[] = {{"slower", true, false}, {"faster", false, true}, {"different", true, true}};
	size_t i, len;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		len = strlen(words[i].word);
		if (strncmp(text, words[i].word, len))
			continue;
		*out = (struct condition){words[i].slower, words[i].faster, 1};
		return skip_blanks(text + len);
	}
	return NULL;
}

int condition_read(const char *text, struct condition *out)
{
	const char *rest = read_word(skip_blanks(text), out);
	double share;
	char *end;

	if (!rest)
		return refuse(text);
	if (!*rest)
		return 0;
	if (*rest++ != '>')
		return refuse(text);
	share = strtod(rest, &end);
	if (end == rest || !(share >= 0 && share <= 1e6))
		return refuse(text);
	rest = skip_blanks(end);
	if (*rest == '%')
		rest = skip_blanks(rest + 1);
	else
		return refuse(text);
	if (*rest)
		return refuse(text);
	out->least = 1 + share / 100;
	return 0;
}

bool condition_meets(const struct condition *c, const struct judged *one)
{
	if (one->verdict == VERDICT_SLOWER)
		return c->slower && one->ratio.value > c->least;
	return one->verdict == VERDICT_FASTER && c->faster && 1 / one->ratio.value > c->least;
}

size_t condition_cnt(const struct condition *c, const struct compare_result *r,
		     const struct judgement *j, size_t *first)
{
	size_t i, cnt = 0;

	for (i = 0; i < r->point_cnt; i++) {
		if (!condition_meets(c, &j->point[i]))
			continue;
		if (!cnt++)
			*first = i;
	}
	return cnt;
}
