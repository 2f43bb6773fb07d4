/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The libraries of this machine whose functions can be recorded, by what they define. Nothing is attached. */
#ifndef POV_TARGET_HELPER_LIBRARY_LIST_H
#define POV_TARGET_HELPER_LIBRARY_LIST_H

#include <jansson.h>

/*
 * Of all layers, in the directories where libraries are installed: [{layer, path, flavour, version, functions, missing, met}]; functions: that
 * can be probed; missing: names of those that it should have; met: others are met at run time. To be released.
 */
json_t *library_list(void);

#endif
