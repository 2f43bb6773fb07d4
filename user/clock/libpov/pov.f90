! SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
! The clocks of pov.h for Fortran: "use pov", link with -lpov.
module pov
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  private
  public :: MPIX_Rtime, MPIX_Ptime, MPIX_Start_processor_timer, MPIX_Stop_processor_timer
  public :: pov_rank_ns, pov_core_ns, pov_thread_ns

  interface
    ! Seconds that the calling rank has been running, all its threads together.
    function MPIX_Rtime() bind(C, name="MPIX_Rtime") result(seconds)
      import :: c_double
      real(c_double) :: seconds
    end function

    ! Seconds that this core has spent in sections of the job's processes; NaN: unknown.
    function MPIX_Ptime() bind(C, name="MPIX_Ptime") result(seconds)
      import :: c_double
      real(c_double) :: seconds
    end function

    subroutine MPIX_Start_processor_timer() bind(C, name="MPIX_Start_processor_timer")
    end subroutine

    subroutine MPIX_Stop_processor_timer() bind(C, name="MPIX_Stop_processor_timer")
    end subroutine

    ! The same in ns; -1: unknown.
    function pov_rank_ns() bind(C, name="pov_rank_ns") result(ns)
      import :: c_int64_t
      integer(c_int64_t) :: ns
    end function

    function pov_core_ns() bind(C, name="pov_core_ns") result(ns)
      import :: c_int64_t
      integer(c_int64_t) :: ns
    end function

    ! ns that the calling thread has been running.
    function pov_thread_ns() bind(C, name="pov_thread_ns") result(ns)
      import :: c_int64_t
      integer(c_int64_t) :: ns
    end function
  end interface
end module
