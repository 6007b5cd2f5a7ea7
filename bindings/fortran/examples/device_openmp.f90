! SPDX-License-Identifier: BSD-3-Clause
! A field in the GPU's memory: OpenMP's target regions compute, Tutti averages over the ranks. Target regions wait for
! the device, so the calls need no stream: they return when they are done. Compiled for the host, or without a GPU, the
! same program works on host memory.
program device_openmp
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use omp_lib, only: omp_get_num_devices, omp_set_default_device
  use tutti
  implicit none
  integer, parameter :: n = 100000, steps = 10
  real(8), allocatable, target :: field(:), all_fields(:)
  type(tutti_comm) :: comm, node
  character(len=:), allocatable :: report
  integer :: rank, ranks, local, step, i

  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  call tutti_comm_split_by_node(comm, node) ! one GPU per rank of the node
  call tutti_comm_rank(node, local)
  call omp_set_default_device(modulo(local, max(1, omp_get_num_devices())))

  allocate (field(n), source=real(rank, 8))
  allocate (all_fields(n*ranks), source=-1d0)
  !$omp target data map(tofrom: field) map(tofrom: all_fields)
  do step = 1, steps
    !$omp target teams distribute parallel do
    do i = 1, n
      field(i) = field(i)/2 + rank
    end do
    !$omp target data use_device_addr(field)
    call tutti_allreduce(comm, field, tutti_avg) ! type and size are those of the array
    !$omp end target data
  end do
  !$omp target teams distribute parallel do
  do i = 1, n
    field(i) = field(i) + rank
  end do
  !$omp target data use_device_addr(field, all_fields)
  call tutti_allgather(comm, c_loc(field), c_loc(all_fields), n, tutti_float64) ! the same by address
  !$omp end target data
  !$omp end target data

  call tutti_comm_device_report(comm, report) ! what was used, on a GPU
  if (rank == 0) print '(a, f0.6, 2a)', "average ", all_fields(1), new_line("a"), report
  do i = 1, n*ranks
    local = (i - 1)/n ! the rank whose element this is
    if (abs(all_fields(i) - local - (ranks - 1)/2d0*(2 - 0.5d0**steps)) > 1d-12*ranks) error stop "a wrong average"
  end do
  call tutti_comm_free(node)
  call tutti_comm_free(comm)
  call MPI_Finalize()
end program device_openmp
