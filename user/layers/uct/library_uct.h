/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions of a UCX transport without symbols: they are in its table of operations
 * (uct_iface_ops_t, uct/api/tl.h), whose last slots identify the transport. Finds those of
 * unreliable datagrams (ud_verbs, ud_mlx5); other transports export theirs.
 */
#ifndef POV_LAYERS_UCT_LIBRARY_UCT_H
#define POV_LAYERS_UCT_LIBRARY_UCT_H

#include <stdbool.h>

struct elf_file;
struct elf_symbol;

/*
 * Finds an operation ("am_bcopy") of a transport ("ud_verbs"). False if the file has no such
 * transport or operation, if its table is not found or differs from those of UCX 1.8 to 1.20, or on
 * machines other than x86-64.
 */
bool uct_ops_find(const struct elf_file *f, const char *transport, const char *operation,
		  struct elf_symbol *out);
/* Returns true if the file has this transport. */
bool uct_ops_has(const struct elf_file *f, const char *transport);

#endif
