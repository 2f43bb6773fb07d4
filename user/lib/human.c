/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Quantities as people read and type them. All arithmetic is in integers: a number with a fraction
 * is read as digits and a power of ten, so that 0.1 means exactly a tenth.
 */
#include "lib/human.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "lib/log.h"
#include "lib/table.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

char *human_ns(char *buf, size_t bytes, uint64_t ns)
{
	static const struct {
		uint64_t unit_ns;
		const char *name;
	} units[] = {{NS_PER_S, "s"}, {NS_PER_MS, "ms"}, {NS_PER_US, "us"}};
	uint64_t s = ns / NS_PER_S;
	size_t i;

	if (ns < NS_PER_US) {
		snprintf(buf, bytes, "%" PRIu64 " ns", ns);
		return buf;
	}
	if (s >= 3600) {
		snprintf(buf, bytes, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
		return buf;
	}
	if (s >= 100) {
		snprintf(buf, bytes, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
		return buf;
	}
	/* rounded to a thousandth; what rounds up to 1000 of a unit is 1 of the next */
	for (i = 0; i < 2; i++)
		if (ns + units[i].unit_ns / 2000000 >= units[i].unit_ns)
			break;
	ns += units[i].unit_ns / 2000;
	snprintf(buf, bytes, "%" PRIu64 ".%03" PRIu64 " %s", ns / units[i].unit_ns,
		 ns % units[i].unit_ns / (units[i].unit_ns / 1000), units[i].name);
	return buf;
}

char *human_round_ns(char *buf, size_t bytes, uint64_t ns)
{
	double v = (double)ns;

	if (!ns)
		snprintf(buf, bytes, "0 s");
	else if (v >= 99.95e9)
		snprintf(buf, bytes, "%.0f s", v / 1e9);
	else if (v >= 9.995e9)
		snprintf(buf, bytes, "%.1f s", v / 1e9);
	else if (v >= 99.5e6)
		snprintf(buf, bytes, "%.2f s", v / 1e9);
	else if (v >= 9.95e6)
		snprintf(buf, bytes, "%.0f ms", v / 1e6);
	else if (v >= 999.5e3)
		snprintf(buf, bytes, "%.1f ms", v / 1e6);
	else if (v >= 999.5)
		snprintf(buf, bytes, v >= 9950 ? "%.0f us" : "%.1f us", v / 1e3);
	else
		snprintf(buf, bytes, "%.0f ns", v);
	return buf;
}

char *human_bytes(char *buf, size_t bytes, uint64_t value)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	uint64_t whole = value, unit = 1, tenths;
	size_t i = 0;

	while (whole >= 1024 && i < 6) {
		whole /= 1024;
		unit *= 1024;
		i++;
	}
	/* rest < unit <= 2^60, so ten times it fits */
	tenths = i ? ((value % unit) * 10 + unit / 2) / unit : 0;
	if (tenths == 10) {
		tenths = 0;
		whole++;
	}
	if (whole >= 100) {
		whole += tenths >= 5;
		tenths = 0;
	}
	if (whole == 1024 && i < 6) {
		whole = 1;
		i++;
	}
	if (tenths)
		snprintf(buf, bytes, "%" PRIu64 ".%" PRIu64 " %s", whole, tenths, units[i]);
	else
		snprintf(buf, bytes, "%" PRIu64 " %s", whole, units[i]);
	return buf;
}

char *human_count(char *buf, size_t bytes, uint64_t value)
{
	char digits[TEXT_NUMBER_BYTES];

	*text_count(digits, value) = '\0';
	snprintf(buf, bytes, "%s", digits);
	return buf;
}

/* Reads "123" or "123.45" as value/10^scale. Advances *text. */
static int read_decimal(const char **text, uint64_t *value, unsigned int *scale)
{
	const char *s = *text;
	uint64_t v = 0;
	unsigned int places = 0;
	bool point = false, digits = false;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		digits = true;
		/* more decimals than a second has nanoseconds cannot matter */
		if (point && places >= 12)
			continue;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -ERANGE;
		places += point;
	}
	if (!digits)
		return -EINVAL;
	*text = s;
	*value = v;
	*scale = places;
	return 0;
}

static int scale_up(uint64_t value, unsigned int places, uint64_t unit, uint64_t *out)
{
	__uint128_t v = (__uint128_t)value * unit;

	for (; places; places--)
		v /= 10;
	if (v > UINT64_MAX)
		return -ERANGE;
	*out = (uint64_t)v;
	return 0;
}

int human_parse_u64(const char *text, uint64_t *out)
{
	uint64_t value;
	unsigned int places;
	int err;

	if (strchr(text, '.'))
		return -EINVAL;
	err = read_decimal(&text, &value, &places);
	if (err || *text)
		return err ? err : -EINVAL;
	*out = value;
	return 0;
}

int human_parse_bytes(const char *text, uint64_t *out)
{
	static const char letters[] = "KMGT";
	uint64_t value, unit = 1;
	unsigned int places;
	const char *letter;
	int err = read_decimal(&text, &value, &places);

	if (err)
		return err;
	letter = *text ? strchr(letters, *text >= 'a' ? *text - 'a' + 'A' : *text) : NULL;
	if (letter) {
		unit = UINT64_C(1) << (10 * (letter - letters + 1));
		text++;
		if (!strcmp(text, "iB"))
			text += 2;
	}
	if (!strcmp(text, "B"))
		text++;
	if (*text || (places && unit == 1))
		return -EINVAL;
	return scale_up(value, places, unit, out);
}

int human_parse_ns(const char *text, uint64_t *out)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"", NS_PER_S},		{"s", NS_PER_S},	{"ns", 1},
		{"us", NS_PER_US},	{"ms", NS_PER_MS},	{"m", 60 * NS_PER_S},
		{"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S},
	};
	uint64_t value;
	unsigned int places;
	int err = read_decimal(&text, &value, &places);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(text, units[i].name))
			return scale_up(value, places, units[i].ns, out);
	return -EINVAL;
}

char *human_plural(char *buf, size_t bytes, uint64_t n, const char *one, const char *many)
{
	char count[HUMAN_BYTES];

	snprintf(buf, bytes, "%s %s", human_count(count, sizeof(count), n), n == 1 ? one : many);
	return buf;
}

/* ---- lists of ranks ---- */

static bool number(const char **p, int32_t *out)
{
	char *end;
	long v = strtol(*p, &end, 10);

	if (!isdigit((unsigned char)**p) || v > INT32_MAX)
		return false;
	*p = end;
	*out = (int32_t)v;
	return true;
}

static bool range_parse(const char **p, struct rank_range *out)
{
	struct rank_range r = {.job = -1};

	if (!number(p, &r.first))
		return false;
	if (**p == ':') {
		(*p)++;
		r.job = r.first;
		if (!number(p, &r.first))
			return false;
	}
	r.last = r.first;
	if (**p == '-') {
		(*p)++;
		if (!number(p, &r.last) || r.last < r.first)
			return false;
	}
	*out = r;
	return true;
}

int rank_list_parse(const char *text, struct rank_list *out)
{
	const char *p = text;
	struct rank_range r;

	for (;;) {
		if (!range_parse(&p, &r) || (*p && *p != ',')) {
			log_error("--rank \"%s\": not a list of ranks; try 0,2,5-8 or, with "
				  "several jobs, 1:3",
				  text);
			return -EINVAL;
		}
		*table_append(out->range, out->n) = r;
		if (!*p++)
			return 0;
	}
}

bool rank_list_has(const struct rank_list *l, int32_t job, int32_t rank)
{
	return table_any(l->n, i,
			 (l->range[i].job < 0 || l->range[i].job == job) &&
				 rank >= l->range[i].first && rank <= l->range[i].last) ||
	       !l->n;
}

void rank_list_release(struct rank_list *l)
{
	free(l->range);
	l->range = NULL;
	l->n = 0;
}
