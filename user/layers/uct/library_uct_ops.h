/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions of a transport of UCX that no symbol names: they are in its table of operations (uct_iface_ops_t, uct/api/tl.h), whose
 * last slots tell whose it is. Found: those of unreliable datagrams (ud_verbs, ud_mlx5); other transports export theirs.
 */
#ifndef POV_LAYERS_UCT_LIBRARY_UCT_OPS_H
#define POV_LAYERS_UCT_LIBRARY_UCT_OPS_H

#include <stdbool.h>

struct elf_file;
struct elf_symbol;

/*
 * transport: "ud_verbs"; operation: "am_bcopy". False if the file has no such transport, its table is not found or of another form than
 * those of UCX 1.8 to 1.20, or it lacks the operation; on machines other than x86-64.
 */
bool uct_ops_find(const struct elf_file *f, const char *transport, const char *operation,
		  struct elf_symbol *out);
/* Whether the file has such a transport. */
bool uct_ops_has(const struct elf_file *f, const char *transport);

#endif
