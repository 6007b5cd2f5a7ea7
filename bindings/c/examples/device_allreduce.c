/* SPDX-License-Identifier: BSD-3-Clause */
/* A vector in the GPU's memory, summed over the ranks in the order of a stream: where NCCL is used the calls return at
   once, and nothing waits for the device but the end. The copies stand for a program's kernels. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <tutti/tutti.h>

enum { n = 1 << 20, no_gpu = 77 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s; %s\n", what, tutti_error_message(), cudaGetErrorString(cudaGetLastError()));
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, local, devices = 0;
  tutti_comm_t comm, node;
  if (tutti_comm_duplicate(MPI_COMM_WORLD, &comm) || tutti_comm_split_by_node(comm, &node)) return fail("communicator");
  tutti_comm_rank(comm, &rank);
  tutti_comm_size(comm, &size);
  tutti_comm_rank(node, &local);
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("rank %d: no GPU\n", rank);
    MPI_Finalize();
    return no_gpu;
  }
  /* Choose one GPU per rank of the node before anything else, and keep it. */
  cudaStream_t stream;
  if (cudaSetDevice(local % devices) || cudaStreamCreate(&stream)) return fail("device");
  if (tutti_comm_prepare_device(comm)) return fail("prepare_device");
  const size_t bytes = n * sizeof(float);
  float *host, *sum;
  if (cudaMallocHost((void**)&host, 2 * bytes) || cudaMalloc((void**)&sum, 2 * bytes)) return fail("memory");
  float* largest = sum + n;
  for (int i = 0; i < 2 * n; ++i) host[i] = (float)(rank + i % 7);
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.stream_kind = TUTTI_STREAM_CUDA;
  options.stream = stream;
  options.memory = TUTTI_MEMORY_DEVICE; /* declares all buffers, which saves a look-up in each call */

  cudaMemcpyAsync(sum, host, 2 * bytes, cudaMemcpyHostToDevice, stream);
  tutti_request_t request; /* overlaps with later work on the stream */
  if (tutti_iallreduce(comm, TUTTI_IN_PLACE, largest, n, TUTTI_FLOAT32, TUTTI_MAX, &options, &request) ||
      tutti_allreduce(comm, TUTTI_IN_PLACE, sum, n, TUTTI_FLOAT32, TUTTI_SUM, &options))
    return fail("allreduce");
  cudaMemcpyAsync(host, sum, bytes, cudaMemcpyDeviceToHost, stream);
  if (tutti_wait_on_stream(&request, TUTTI_STREAM_CUDA, stream))
    return fail("wait"); /* the stream waits, not the host */
  cudaMemcpyAsync(host + n, largest, bytes, cudaMemcpyDeviceToHost, stream);
  if (cudaStreamSynchronize(stream)) return fail("stream");

  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += (int)host[i] != size * (i % 7) + size * (size - 1) / 2 || (int)host[n + i] != size - 1 + (n + i) % 7;
  printf("rank %d: %d wrong\n", rank, wrong);
  cudaFree(sum), cudaFreeHost(host), cudaStreamDestroy(stream);
  tutti_comm_free(&node), tutti_comm_free(&comm);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
