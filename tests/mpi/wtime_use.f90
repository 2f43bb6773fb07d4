! SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
!
! What MPI_Wtime says of a second's sleep, by the module mpi.
program wtime_use
    use mpi
    implicit none
    integer :: ierr
    double precision :: begin

    call MPI_Init(ierr)
    begin = MPI_Wtime()
    call sleep(1)
    print '(A, F6.3)', 'slept', MPI_Wtime() - begin
    call MPI_Finalize(ierr)
end program
