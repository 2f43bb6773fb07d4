/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Call records and their expected decoding by a layer, in tests/unit/layer/NAME.calls. A line is
 * one of
 *
 *   # comment
 *   layer NAME                    the layer that decodes what follows
 *   test NAME [openmpi|mpich]     starts a new decoder, with that library and process of
 *                                 layer_fixture.c
 *   meta JSON                     passes a meta object; before the first test: to each decoder
 *   left_out GROUP                tells the decoder that calls of such a function are left out
 *   more type=in arg=1 …          a continuation of the next call
 *   FUNCTION args=… in=… …        a call, in povmake's syntax; ts defaults to 1000 ns after the
 *                                 previous call
 *   <tab>post send …              the expected view of that call, as layer_script.c prints it; "none":
 *                                 no posts, requests or similar lines
 *   FUNCTION args=… -> post …     both in one line
 *
 * " ; " separates lines of the expected view. A call without expected lines is not checked. If no
 * expected line begins with "values", the values are not checked; the same holds for "roles". Two
 * tabs continue an expected line. A backslash at the end continues any other line.
 *
 * Each record is also decoded for roles only, which must give the same roles. It is decoded once
 * more in each shorter size, so that AddressSanitizer sees reads past its end.
 */
#ifndef POV_TESTS_LAYER_SCRIPT_H
#define POV_TESTS_LAYER_SCRIPT_H

void layer_script_run(const char *name);

#endif
