! SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
!
! What MPI_Wtime says of a second's sleep, by mpif.h.
      program wtime_mpif
      implicit none
      include 'mpif.h'
      integer :: ierr
      double precision :: begin

      call MPI_INIT(ierr)
      begin = MPI_WTIME()
      call sleep(1)
      print '(A, F6.3)', 'slept', MPI_WTIME() - begin
      call MPI_FINALIZE(ierr)
      end program
