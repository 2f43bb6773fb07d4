! SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
! The Fortran 2008 bindings.
program f_f08
    use mpi_f08
    implicit none
    type(MPI_Request) :: req(2)
    type(MPI_Status) :: st
    type(MPI_Datatype) :: pairs
    character(*), parameter :: prog = 'f_f08'
    include 'f_calls.inc'
end program
