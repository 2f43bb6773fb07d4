c SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
c
c Fixed-form Fortran with mpif.h: each call must show once. Writes its own books as expect.h does.
      program f_mpif
      implicit none
      include 'mpif.h'
      integer rank, nranks, other, i, ierr, ints(64), sums(64)
      integer req(2), st(MPI_STATUS_SIZE), unit, flag, empty
      logical done

      do i = 1, 64
        ints(i) = 1
        sums(i) = 0
      end do
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nranks, ierr)
      other = 1 - rank
      do i = 1, 103
        if (rank .eq. 0) then
          call mpi_send(ints, 11, MPI_INTEGER, other, 5,
     &        MPI_COMM_WORLD, ierr)
        else
          call mpi_recv(ints, 11, MPI_INTEGER, MPI_ANY_SOURCE,
     &        MPI_ANY_TAG, MPI_COMM_WORLD, st, ierr)
        end if
      end do
      do i = 1, 41
        call mpi_irecv(ints, 13, MPI_REAL, other, 7,
     &      MPI_COMM_WORLD, req(1), ierr)
        call mpi_isend(sums, 13, MPI_REAL, other, 7,
     &      MPI_COMM_WORLD, req(2), ierr)
        call mpi_waitall(2, req, MPI_STATUSES_IGNORE, ierr)
      end do
      empty = 0
      do i = 1, 7
        call mpi_irecv(sums, 17, MPI_CHARACTER, other, 9,
     &      MPI_COMM_WORLD, req(1), ierr)
        call mpi_send(ints, 17, MPI_CHARACTER, other, 9,
     &      MPI_COMM_WORLD, ierr)
        done = .false.
        do while (.not. done)
          call mpi_test(req(1), done, MPI_STATUS_IGNORE, ierr)
          if (.not. done) empty = empty + 1
        end do
      end do
      do i = 1, 31
        call mpi_allreduce(ints, sums, 19, MPI_INTEGER, MPI_SUM,
     &      MPI_COMM_WORLD, ierr)
      end do
      call mpi_finalize(ierr)

      call books_open(rank, unit)
      call line(unit, rank, 'MPI_Init', -1, 1, 0, 0, 0)
      call line(unit, rank, 'MPI_Comm_rank', -1, 1, 0, 0, 0)
      call line(unit, rank, 'MPI_Comm_size', -1, 1, 0, 0, 0)
      flag = 7 * 17
      if (rank .eq. 0) then
        call line(unit, rank, 'MPI_Send', other, 110,
     &      103 * 44 + flag, 0, 0)
      else
        call line(unit, rank, 'MPI_Send', other, 7, flag, 0, 0)
        call line(unit, rank, 'MPI_Recv', other, 103, 0, 103 * 44, 0)
      end if
      call line(unit, rank, 'MPI_Irecv', other, 48, 0,
     &    41 * 52 + flag, 0)
      call line(unit, rank, 'MPI_Isend', other, 41, 41 * 52, 0, 0)
      call line(unit, rank, 'MPI_Waitall', -1, 41, 0, 0, 0)
      call line(unit, rank, 'MPI_Test', -1, 7 + empty, 0, 0, empty)
      call line(unit, rank, 'MPI_Allreduce', -1, 31, 31 * 76,
     &    31 * 76, 0)
      call line(unit, rank, 'MPI_Finalize', -1, 1, 0, 0, 0)
      end

      subroutine books_open(rank, unit)
      implicit none
      integer rank, unit, length
      character*512 dir

      call get_environment_variable('POV_EXPECT', dir, length)
      unit = 6
      if (length .eq. 0) return
      unit = 10
      write (dir(length + 1:), '(a, i0, a)') '/f_mpif.', rank,
     &    '.jsonl'
      open (unit, file=trim(dir), status='replace')
      end

      subroutine line(unit, rank, fn, peer, calls, sent, received,
     &    empty)
      implicit none
      integer unit, rank, peer, calls, sent, received, empty
      character*(*) fn
      character*12 who

      who = 'null'
      if (peer .ge. 0) write (who, '(i0)') peer
      write (unit, '(a, i0, 5a, 4(i0, a))')
     &    '{"prog":"f_mpif","rank":', rank, ',"fn":"', fn,
     &    '","peer":', trim(who), ',"calls":', calls, ',"sent":',
     &    sent, ',"received":', received, ',"empty":', empty,
     &    ',"cut":0}'
      end
