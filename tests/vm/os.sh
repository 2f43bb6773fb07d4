#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What processes have the kernel do to move data, in short: without MPI.
export POV_OS_QUICK=1
exec "$(dirname "$0")/../live/os.test"
