/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The sentence of the eager limit; the rule is in classify.h. */
#include "core/classify_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "core/param_text.h"

struct limit {
	double eager; /* the largest size below the first one that was not; 0: none */
	double above; /* that one; infinite: none */
};

static struct limit limit_of(const struct result *r, const char *receiver)
{
	struct limit l = {.eager = 0, .above = INFINITY};
	double bytes;
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		bytes = result_number(result_point_at(r, i), "bytes");
		if (!strcmp(classify_text(r, i, "receiver"), receiver) &&
		    result_number(result_point_at(r, i), "eager") < 0.5)
			l.above = fmin(l.above, bytes);
	}
	for (i = 0; i < result_point_cnt(r); i++) {
		bytes = result_number(result_point_at(r, i), "bytes");
		if (!strcmp(classify_text(r, i, "receiver"), receiver) && bytes < l.above)
			l.eager = fmax(l.eager, bytes);
	}
	return l;
}

static char *limit_text(const struct limit *l)
{
	if (isinf(l->above))
		return xasprintf("eager up to %.0f byte%s at least", l->eager, plural_s(l->eager));
	if (l->eager <= 0)
		return xasprintf("rendezvous from %.0f byte%s on", l->above, plural_s(l->above));
	return xasprintf("eager up to %.0f byte%s, rendezvous from %.0f on", l->eager,
			 plural_s(l->eager), l->above);
}

char *classify_protocol(const struct result *r)
{
	struct limit in_mpi = limit_of(r, "in_mpi"), computing = limit_of(r, "computing");
	char *text;

	if (!result_point_cnt(r))
		return NULL;
	text = limit_text(&in_mpi);
	if (computing.above >= in_mpi.above)
		return text;
	if (computing.eager <= 0)
		return classify_joined(text,
				       xasprintf("while the receiver computes not even %.0f byte%s",
						 computing.above, plural_s(computing.above)),
				       "; ");
	return classify_joined(
		text, xasprintf("while the receiver computes only up to %.0f", computing.eager),
		"; ");
}
