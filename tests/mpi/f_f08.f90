! SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
!
! Fortran 2008 bindings: each call must show once, whatever layers of the library it passes through.
! Writes its own books as expect.h does.
program f_f08
    use mpi_f08
    implicit none
    character :: buf(4096)
    integer :: rank, nranks, other, i, ints(64), sums(64)
    type(MPI_Request) :: req(2)
    type(MPI_Status) :: st
    type(MPI_Datatype) :: pairs

    buf = ' '
    ints = 1
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks)
    other = 1 - rank
    do i = 1, 101
        if (rank == 0) then
            call MPI_Send(buf, 103, MPI_CHARACTER, other, 5, MPI_COMM_WORLD)
        else
            call MPI_Recv(buf, 103, MPI_CHARACTER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st)
        end if
    end do
    do i = 1, 37
        call MPI_Irecv(ints, 41, MPI_INTEGER, other, 7, MPI_COMM_WORLD, req(1))
        call MPI_Isend(sums, 41, MPI_INTEGER, other, 7, MPI_COMM_WORLD, req(2))
        call MPI_Waitall(2, req, MPI_STATUSES_IGNORE)
    end do
    do i = 1, 29
        call MPI_Allreduce(ints, sums, 43, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    end do
    do i = 1, 23
        call MPI_Bcast(buf, 107, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    end do
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pairs)
    call MPI_Type_commit(pairs)
    do i = 1, 19
        call MPI_Sendrecv(buf, 11, pairs, other, 9, buf(2049), 11, pairs, other, 9, &
            MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
    call MPI_Type_free(pairs)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Finalize()
    call books()

contains

    subroutine books()
        integer :: unit

        call books_open(unit)
        call line(unit, 'MPI_Init', -1, 1, 0, 0)
        call line(unit, 'MPI_Comm_rank', -1, 1, 0, 0)
        call line(unit, 'MPI_Comm_size', -1, 1, 0, 0)
        if (rank == 0) call line(unit, 'MPI_Send', other, 101, 101 * 103, 0)
        if (rank == 1) call line(unit, 'MPI_Recv', other, 101, 0, 101 * 103)
        call line(unit, 'MPI_Irecv', other, 37, 0, 37 * 164)
        call line(unit, 'MPI_Isend', other, 37, 37 * 164, 0)
        call line(unit, 'MPI_Waitall', -1, 37, 0, 0)
        call line(unit, 'MPI_Allreduce', -1, 29, 29 * 172, 29 * 172)
        call line(unit, 'MPI_Bcast', -1, 23, merge(23 * 107, 0, rank == 0), &
            merge(0, 23 * 107, rank == 0))
        call line(unit, 'MPI_Type_contiguous', -1, 1, 0, 0)
        call line(unit, 'MPI_Type_commit', -1, 1, 0, 0)
        call line(unit, 'MPI_Sendrecv', other, 19, 19 * 176, 19 * 176)
        call line(unit, 'MPI_Type_free', -1, 1, 0, 0)
        call line(unit, 'MPI_Barrier', -1, 1, 0, 0)
        call line(unit, 'MPI_Finalize', -1, 1, 0, 0)
    end subroutine

    subroutine books_open(unit)
        integer, intent(out) :: unit
        character(len=512) :: dir
        integer :: length

        call get_environment_variable('POV_EXPECT', dir, length)
        unit = 6
        if (length == 0) return
        unit = 10
        write (dir(length + 1:), '(a, i0, a)') '/f_f08.', rank, '.jsonl'
        open (unit, file=trim(dir), status='replace')
    end subroutine

    subroutine line(unit, fn, peer, calls, sent, received)
        integer, intent(in) :: unit, peer, calls, sent, received
        character(len=*), intent(in) :: fn
        character(len=12) :: who

        who = 'null'
        if (peer >= 0) write (who, '(i0)') peer
        write (unit, '(a, i0, 5a, 3(i0, a))') '{"prog":"f_f08","rank":', rank, ',"fn":"', fn, &
            '","peer":', trim(who), ',"calls":', calls, ',"sent":', sent, ',"received":', received, &
            ',"empty":0,"cut":0}'
    end subroutine
end program
