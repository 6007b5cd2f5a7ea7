! SPDX-License-Identifier: BSD-3-Clause
!> Every component of every options type is set to a value of its own and arrives in its member of C: recorder.cpp
!> stands for the functions of the library, and refuses any other value.
program options
  use tutti
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: failures = 0
  interface
    function recorded_place() bind(C, name="recorded_place")
      import :: c_ptr
      type(c_ptr) :: recorded_place
    end function
  end interface
  call of_a_call()
  call of_a_communicator()
#ifdef TUTTI_HAS_TRAINING
  call of_a_reducer()
  call of_an_optimizer()
  call of_a_server()
  call of_embedding_tables()
#endif
  if (failures > 0) error stop "options do not arrive"
  print '(a)', "all options arrive"

contains

  subroutine expect_recorded(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    if (code == tutti_error_not_supported .and. tutti_error_message() == "recorded") return
    failures = failures + 1
    print '(3a)', what, ": ", tutti_error_message()
  end subroutine expect_recorded

  subroutine of_a_call()
    type(tutti_comm) :: comm
    type(tutti_options) :: o
    integer :: code
    o%stream_kind = tutti_stream_cuda
    o%stream = recorded_place()
    o%memory = tutti_memory_pinned
    o%accumulation = tutti_accumulation_backend
    o%reproducible = .true.
    o%timeout = 2.5d0
    o%algorithm = "mpi:ring"
    call tutti_barrier(comm, options=o, ierror=code)
    call expect_recorded(code, "tutti_options")
  end subroutine of_a_call

  subroutine of_a_communicator()
    type(tutti_comm) :: comm
    type(tutti_comm_options) :: o
    integer :: code, switch
    o%timeout = 0.25d0
    do switch = 1, 3
      o%reproducible = switch == 1
      o%native_blocking = switch == 2
      o%name = merge("reproducible   ", "native_blocking", switch == 1)
      o%check = tutti_check_off
      if (switch == 3) then
        o%check = tutti_check_bytes
        o%name = "check"
      end if
      call tutti_comm_duplicate(0, comm, options=o, ierror=code)
      call expect_recorded(code, "tutti_comm_options")
    end do
  end subroutine of_a_communicator

  !> One switch is on at a time; communicators says which.
#ifdef TUTTI_HAS_TRAINING
  subroutine of_a_reducer()
    type(tutti_comm) :: comm
    type(tutti_reducer) :: reducer
    type(tutti_reducer_options) :: o
    integer :: code, switch
    o%hook = tutti_hook_power_sgd
    o%bucket_bytes = 1001
    o%first_bucket_bytes = 102
    o%op = tutti_sum
    o%power_sgd_rank = 5
    o%power_sgd_start_step = 7
    o%power_sgd_min_compression_rate = 1.5d0
    o%power_sgd_seed = 99
    o%user_hook = recorded_place()
    o%memory = tutti_memory_device
    o%stream_kind = tutti_stream_cuda
    o%stream = recorded_place()
    o%blocks = 12
    do switch = 1, 8
      o%communicators = switch
      o%rebuild = switch == 1
      o%find_unused = switch == 2
      o%uneven = switch == 3
      o%average_active = switch == 4
      o%check = switch == 5
      o%progress_thread = switch == 6
      o%power_sgd_error_feedback = switch == 7
      o%power_sgd_warm_start = switch == 8
      call tutti_reducer_create(comm, reducer, options=o, ierror=code)
      call expect_recorded(code, "tutti_reducer_options")
    end do
  end subroutine of_a_reducer

  subroutine of_an_optimizer()
    type(tutti_reducer) :: reducer
    type(tutti_optimizer) :: optimizer
    type(tutti_dense_update) :: o
    integer :: code
    o%optimizer = tutti_dense_adam
    o%learning_rate = 0.5d0
    o%momentum = 0.25d0
    o%weight_decay = 0.125d0
    o%beta1 = 0.75d0
    o%beta2 = 0.875d0
    o%epsilon = 1d-3
    o%nesterov = .true.
    call tutti_optimizer_create(reducer, o, optimizer, ierror=code)
    call expect_recorded(code, "tutti_dense_update")
  end subroutine of_an_optimizer

  subroutine of_a_server()
    type(tutti_comm) :: comm
    type(tutti_server) :: server
    type(tutti_server_options) :: o
    integer :: code
    o%optimizer = tutti_server_row_wise_adagrad
    o%epsilon = 0.5
    o%direct = .false.
    call tutti_server_create(comm, 4, 2, server, options=o, ierror=code)
    call expect_recorded(code, "tutti_server_options")
  end subroutine of_a_server

  subroutine of_embedding_tables()
    type(tutti_comm) :: comm
    type(tutti_embedding_collection) :: collection
    type(tutti_embedding_options) :: o
    type(tutti_embedding_table) :: tables(1)
    integer :: code, switch
    tables(1)%name = "t"
    tables(1)%rows = 21
    tables(1)%dim = 8
    tables(1)%datatype = tutti_bfloat16
    tables(1)%pooling = tutti_pooling_max
    tables(1)%sharding = tutti_sharding_row_wise_on_node
    tables(1)%mean_lookups = 2.5d0
    tables(1)%lookup_shares = [3d0, 1d0]
    tables(1)%row_order = tutti_row_order_cyclic
    tables(1)%frequencies%hot_rows = [6_c_int64_t, 3_c_int64_t]
    tables(1)%frequencies%hot_lookups = [9d0, 8d0]
    tables(1)%frequencies%bucket_rows = [7d0]
    tables(1)%frequencies%bucket_lookups = [14d0]
    o%optimizer = tutti_rows_adam
    o%epsilon = 0.5d0
    o%beta1 = 0.75d0
    o%beta2 = 0.875d0
    o%max_batch = 11
    o%memory_limit = 12345
    o%seed = 77
    o%policy = tutti_index_ignore
    o%memory = tutti_memory_device
    o%stream_kind = tutti_stream_cuda
    o%stream = recorded_place()
    o%exchange_datatype = tutti_float16
    o%table_memory = 54321
    o%table_folder = "a folder"
    do switch = 1, 2
      o%slots = switch
      o%stochastic_rounding = switch == 1
      o%weighted = switch == 2
      o%epsilon_hat = switch == 1
      o%grow = switch == 2
      call tutti_embedding_create(comm, tables, collection, options=o, ierror=code)
      call expect_recorded(code, "tutti_embedding_options")
    end do
  end subroutine of_embedding_tables
#endif

end program options
