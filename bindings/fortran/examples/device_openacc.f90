! SPDX-License-Identifier: BSD-3-Clause
! A field in the GPU's memory: OpenACC computes, Tutti averages over the ranks, all in the order of one queue; the host
! waits only at the end. Compiled for the host, the same program works on host memory.
program device_openacc
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use openacc, only: acc_get_device_type, acc_get_num_devices, acc_set_device_num, acc_device_kind
  use tutti
  implicit none
  interface ! the cudaStream_t of a queue; null on the host
    function stream_of(queue) bind(C, name="acc_get_cuda_stream") result(stream)
      import :: c_int, c_ptr
      integer(c_int), value :: queue
      type(c_ptr) :: stream
    end function
  end interface
  integer, parameter :: n = 100000, steps = 10, queue = 1
  real(8), asynchronous :: field(n), largest(n) ! gfortran wants no allocatables in use_device
  type(tutti_comm) :: comm, node
  type(tutti_options) :: options
  type(tutti_request) :: request
  integer(acc_device_kind) :: device
  integer :: rank, ranks, local, step, i

  call MPI_Init()
  call tutti_comm_duplicate(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  call tutti_comm_split_by_node(comm, node) ! one GPU per rank of the node
  call tutti_comm_rank(node, local)
  device = acc_get_device_type()
  call acc_set_device_num(modulo(local, max(1, acc_get_num_devices(device))), device)

  field = rank
  largest = rank
  options = tutti_options(stream_kind=tutti_stream_cuda, stream=stream_of(queue))
  !$acc data copy(field, largest)
  do step = 1, steps
    !$acc parallel loop present(field) async(queue)
    do i = 1, n
      field(i) = field(i)/2 + rank
    end do
    !$acc host_data use_device(field)
    call tutti_allreduce(comm, field, tutti_avg, options) ! the queue orders it after this loop and before the next
    !$acc end host_data
  end do
  !$acc host_data use_device(largest)
  call tutti_iallreduce(comm, largest, tutti_max, request, options) ! overlaps with later work on the queue
  call tutti_wait_on_stream(request, options%stream_kind, options%stream)
  !$acc end host_data
  !$acc wait(queue)
  !$acc end data

  if (rank == 0) print '(a, f0.6, a, f0.1)', "average ", field(n), ", largest ", largest(n)
  if (any(abs(field - (ranks - 1)/2d0*(2 - 0.5d0**steps)) > 1d-12*ranks)) error stop "a wrong average"
  if (any(abs(largest - (ranks - 1)) > 0)) error stop "a wrong maximum"
  call tutti_comm_free(node)
  call tutti_comm_free(comm)
  call MPI_Finalize()
end program device_openacc
