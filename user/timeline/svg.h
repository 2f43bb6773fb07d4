/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the parts of the picture: svg.c (its content and the whole; legend, findings, notes),
 * svg_put.c (text, numbers, colours), svg_track.c (ranks and CPUs, arrows and times). Private to
 * these files.
 */
#ifndef POV_TIMELINE_SVG_H
#define POV_TIMELINE_SVG_H

#include "analysis/finding.h"
#include "timeline/moment.h"
#include "timeline/writer.h"

#define SVG_WIDTH 1000
#define SVG_LEFT 108 /* left edge of the columns, which are one pixel each */
#define SVG_RIGHT (SVG_LEFT + MOMENT_COLUMNS)
#define SVG_TEXT_PX 12
#define SVG_FINDINGS_MAX 5
#define SVG_MARK_PX 20	       /* height of a lane of finding marks */
#define SVG_ARROW_RANKS_MAX 24 /* among more ranks, nobody can follow an arrow */

/* Owners of a CPU as distinguished by legend and colours. */
enum svg_who {
	SVG_WHO_IDLE,
	SVG_WHO_MAIN,
	SVG_WHO_OTHERS,
	SVG_WHO_PROCESS,
	SVG_WHO_KERNEL,
	SVG_WHO_POVTRACE,
	SVG_WHO_NOT_RECORDED,
	SVG_WHO_CNT,
};

/* Sizes of a kind of track, depending on their number. */
struct svg_size {
	int pitch, height, text_px;
};

struct svg_finding {
	const struct finding *finding;
	uint32_t first, last; /* columns of its longest part */
	uint32_t lane;
};

struct svg {
	struct out *out;
	const struct moment *mo;
	const char *command;
	uint32_t njobs;
	struct svg_finding finding[SVG_FINDINGS_MAX];
	uint32_t nfinding, nlane;
	uint32_t cpu[MOMENT_CPUS_MAX], ncpu; /* displayed CPUs */
	uint32_t cpus_hidden;
	struct svg_size rank_size, cpu_size;
	int mark_y, rank_y, cpu_y, axis_y, key_y, height;
	int key_x;   /* legend: x of its next item */
	bool arrows; /* few enough to be drawn */
	bool state_seen[MOMENT_STATES];
	bool who_seen[SVG_WHO_CNT];
	uint64_t stretches; /* number of drawn intervals of one state or one process */
};

/* ---- svg_put.c ---- */

/* Appends formatted text. One call may append less than OUT_ROOM_BYTES. */
void svg_put(struct svg *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends text from outside, escaped, at most max characters. */
void svg_put_text(struct svg *s, const char *text, unsigned int max);
/* The same for the first bytes of text from text_printable(). */
void svg_put_bytes(struct svg *s, const char *text, size_t bytes);
/* Approximate width of a text, never too small. */
int svg_text_width(const char *text, int px);
/* Times for human readers: "12.345 ms", rounded to the digits that a step needs. */
struct svg_unit {
	uint64_t ns;
	const char *name;
	int decimals;
};
struct svg_unit svg_unit_of(uint64_t last_ns, uint64_t step_ns);
char *svg_time(char *buf, size_t bytes, uint64_t ns, const struct svg_unit *u);
/* "rank 3", with its job and host if there are several. The caller frees it. */
char *svg_rank_name(const struct svg *s, const struct model_process *p);

void svg_style(struct svg *s);

/* ---- svg_track.c ---- */

void svg_ranks(struct svg *s);
void svg_cpus(struct svg *s);
/* Column of a time, 0 to MOMENT_COLUMNS (the end). */
int svg_column(const struct svg *s, uint64_t ns);
const char *svg_state_name(enum moment_state state);
const char *svg_state_class(enum moment_state state);

void svg_arrows(struct svg *s);
void svg_axis(struct svg *s);

#endif
