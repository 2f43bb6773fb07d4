! SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
! mpif.h.
program f_mpif
    implicit none
    include 'mpif.h'
    integer :: req(2), st(MPI_STATUS_SIZE), pairs
    character(*), parameter :: prog = 'f_mpif'
    include 'f_calls.inc'
end program
