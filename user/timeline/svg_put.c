/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Text and numbers of a picture. Without a file (struct svg.out) nothing is written: so heights are found out. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/text.h"
#include "timeline/svg.h"

void svg_put(struct svg *s, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	if (!s->out)
		return;
	p = out_room(s->out);
	va_start(ap, fmt);
	n = vsnprintf(p, OUT_ROOM_BYTES, fmt, ap);
	va_end(ap);
	out_advance(s->out, p + (n < OUT_ROOM_BYTES ? n : OUT_ROOM_BYTES - 1));
}

/* XML has no place for U+FFFE and U+FFFF, in no form. */
static bool is_noncharacter(const char *p)
{
	return !strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3);
}

void svg_put_bytes(struct svg *s, const char *text, size_t bytes)
{
	for (const char *p = text; p < text + bytes; p++) {
		if (*p == '<' || *p == '>' || *p == '&' || *p == '\'' || *p == '"') {
			svg_put(s, "&#%d;", *p);
		} else if (is_noncharacter(p)) {
			svg_put(s, "?");
			p += 2;
		} else {
			svg_put(s, "%c", *p);
		}
	}
}

void svg_put_text(struct svg *s, const char *text, unsigned int max)
{
	char *clean = text_printable(text, max);

	svg_put_bytes(s, clean, strlen(clean));
	free(clean);
}

int svg_text_width(const char *text, int px)
{
	int chars = 0;

	for (; *text; text++)
		chars += ((unsigned char)*text & 0xc0) != 0x80;
	return chars * px * 3 / 5;
}

struct svg_unit svg_unit_of(uint64_t last_ns, uint64_t step_ns)
{
	static const struct svg_unit units[] = {
		{1, "ns", 0}, {1000, "us", 0}, {1000000, "ms", 0}, {1000000000, "s", 0}};
	struct svg_unit u = units[0];

	for (size_t i = 1; i < sizeof(units) / sizeof(units[0]) && last_ns >= units[i].ns; i++)
		u = units[i];
	for (uint64_t ns = u.ns; ns > 1 && step_ns % ns; ns /= 10)
		u.decimals++;
	return u;
}

char *svg_time(char *buf, size_t bytes, uint64_t ns, const struct svg_unit *u)
{
	uint64_t part_ns = u->ns, part;

	for (int i = 0; i < u->decimals; i++)
		part_ns /= 10;
	ns += part_ns / 2;
	part = (ns % u->ns) / part_ns;
	if (u->decimals)
		snprintf(buf, bytes, "%" PRIu64 ".%0*" PRIu64 " %s", ns / u->ns, u->decimals, part,
			 u->name);
	else
		snprintf(buf, bytes, "%" PRIu64 " %s", ns / u->ns, u->name);
	return buf;
}

char *svg_rank_name(const struct svg *s, const struct model_process *p)
{
	if (p->rank < 0)
		return xasprintf("rank ? (pid %u)", p->host_pid);
	if (s->njobs > 1)
		return xasprintf("rank %d:%d", p->job_idx, p->rank);
	return xasprintf("rank %d", p->rank);
}
