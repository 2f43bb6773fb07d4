/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lists the libraries of this machine whose functions can be recorded, by what they define.
 * Attaches nothing.
 */
#ifndef POV_TARGET_HELPER_LIBRARY_LIST_H
#define POV_TARGET_HELPER_LIBRARY_LIST_H

#include <jansson.h>

/*
 * Lists libraries of all layers in the directories where libraries are installed: [{layer, path,
 * flavour, version, functions, missing, met}]. functions is the number that can be probed; missing
 * has the names that it should have but lacks; met: more functions are found at run time. The
 * caller releases it.
 */
json_t *library_list(void);

#endif
