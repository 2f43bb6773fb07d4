#!/bin/bash
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# The test of layer os in short: without MPI.
export POV_OS_QUICK=1
exec "$(dirname "$0")/../live/os.test"
