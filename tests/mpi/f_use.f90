! SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
! The module mpi.
program f_use
    use mpi
    implicit none
    integer :: req(2), st(MPI_STATUS_SIZE), pairs
    character(*), parameter :: prog = 'f_use'
    include 'f_calls.inc'
end program
