/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decoding of call records by layers: tests/unit/layer/NAME.calls, see layer_script.h. */
#include "unit/layer_script.h"
#include "unit/test.h"

#define SCRIPT(name)                     \
	TEST(name)                       \
	{                                \
		layer_script_run(#name); \
	}

SCRIPT(mpi)
SCRIPT(mpi_coll)
SCRIPT(mpi_requests)
SCRIPT(mpi_space)
SCRIPT(mpi_window)
SCRIPT(ob1)
SCRIPT(ofi)
SCRIPT(os)
SCRIPT(ucp)
SCRIPT(uct)
SCRIPT(verbs)
SCRIPT(verbs_note)
