/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tests as text: tests/unit/cases/NAME.txt holds what happens and, beside it, the output that is expected.
 *
 *   # comment, anywhere but in expected output
 *   preset NAME      a list of lines that cases share
 *   case NAME
 *   use PRESET       the lines of a preset
 *   LINE             of the module's own language; " ; " separates several on one line
 *   expect
 *     LINE           exactly what the module's driver prints, indented by two spaces; short lines share one
 *   LINE -> OUTPUT   a case in short: the driver plays LINE alone and prints OUTPUT, without a newline; " ; " separates several
 *
 * If the output differs, the test prints both, and with POV_GOLDEN_UPDATE=1 it rewrites the file.
 */
#ifndef POV_TESTS_CASES_H
#define POV_TESTS_CASES_H

#include <stdio.h>

#include "tool/povmake/maker.h"

/* Plays the lines of one case and prints what comes of it. */
typedef void cases_play(const struct script *lines, FILE *out);

/* Prints " NAME=VALUE", unless it is 0. */
void cases_figure(FILE *out, const char *name, uint64_t value);

/* A record as povmake has it; its tgid is its tid, unless the line gives one. Valid until the next one. */
const struct pov_hdr *cases_record(const char *line);

void cases_run(const char *name, cases_play *play);

#endif
