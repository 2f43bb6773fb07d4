/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Call records and what a layer makes of them, in tests/unit/layer/NAME.calls. A line is one of
 *
 *   # comment
 *   layer NAME                    which layer decodes what follows
 *   test NAME [openmpi|mpich]     a new decoder begins; with that library and process of layer_fixture.c
 *   meta JSON                     the decoder gets a meta object; above the first test: each decoder
 *   left_out GROUP                the decoder hears that calls of such a function are left out
 *   more type=in arg=1 …          a continuation of the next call
 *   FUNCTION args=… in=… …        a call, as povmake writes it; ts is 1000 ns after the call before, unless it is given
 *   <tab>post send …              the expected view of that call, as view_print prints it; "none": no posts and the like
 *   FUNCTION args=… -> post …     both in one line, if the view is one line
 *
 * A call without expected lines is not checked. If no expected line begins with "values", the values are not checked;
 * "roles" likewise. Two tabs continue an expected line, and a backslash at its end continues any other line.
 *
 * Each record is decoded once more for roles only, which must make no difference to them, and once for each shorter size, so
 * that AddressSanitizer sees reads past its end.
 */
#ifndef POV_TESTS_LAYER_SCRIPT_H
#define POV_TESTS_LAYER_SCRIPT_H

void layer_script_run(const char *name);

#endif
