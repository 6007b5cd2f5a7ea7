/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TUTTI_DEVICE_H
#define TUTTI_TUTTI_DEVICE_H

/// Devices, streams, memory and graphs: the part of the C interface that corresponds to tutti/device.hpp, whose
/// documentation holds here too. tutti.h includes this header. It needs no header of CUDA, and the calls may be made
/// where there is no GPU. A program that calls CUDA itself needs three of them: tutti_stream_wait, since peers may
/// depend on this process while it waits; tutti_device_allocate, since cudaMalloc may deadlock while NCCL works; and
/// tutti_device_graph_capture, since a graph with calls of this library takes its place in the order of NCCL's
/// launches. All are local. Errors of all: TUTTI_ERROR_NOT_BUILT (a library without CUDA), _CUDA (with CUDA's own
/// text), _OUT_OF_MEMORY, _INVALID_ARGUMENT.
#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Captured work that can be launched repeatedly. Counterpart: tutti::DeviceGraph, cudaGraphExec_t.
typedef struct tutti_device_graph_s* tutti_device_graph_t;
#define TUTTI_DEVICE_GRAPH_NULL ((tutti_device_graph_t)0)

/// Puts work on a stream, for tutti_device_graph_capture. Returns TUTTI_SUCCESS, or the code of the call that failed.
typedef int (*tutti_enqueue_t)(void* context);

/// Gives the reason why this process can use no GPU; an empty text if it can. Text and length as in
/// tutti_comm_device_report. Counterpart: tutti::why_no_device.
TUTTI_API int tutti_why_no_device(char* text, size_t capacity, size_t* length);

/// Gives the number of GPUs; 0 if tutti_why_no_device has a reason. Counterpart: cudaGetDeviceCount.
TUTTI_API int tutti_device_count(int* count);

/// Give, or set, the current device of this thread. Counterparts: cudaGetDevice, cudaSetDevice.
TUTTI_API int tutti_current_device(int* device);
TUTTI_API int tutti_set_current_device(int device);

/// Sets *idle to 1 if all work on a stream is done, else to 0. Never blocks. Without a stream *idle is 1. Counterparts:
/// tutti::is_idle, cudaStreamQuery.
TUTTI_API int tutti_stream_is_idle(int stream_kind, void* stream, int* idle);

/// Blocks until all work on a stream is done, and drives the outstanding operations of this library and of the host MPI
/// meanwhile. Its counterpart cudaStreamSynchronize stops both, and hangs if a peer needs them to do its own part.
/// Counterpart: tutti::wait_stream.
TUTTI_API int tutti_stream_wait(int stream_kind, void* stream);

/// Allocates uninitialised memory of the current device (TUTTI_MEMORY_DEVICE, TUTTI_MEMORY_MANAGED), or host memory
/// that devices reach (TUTTI_MEMORY_PINNED), from the library's pools. *data is aligned to 256 bytes, and NULL if
/// `bytes` is 0. tutti_deallocate frees it, when no stream uses it any more. tutti_allocate makes memory that all ranks
/// take together. Counterparts: tutti::DeviceMemory, cudaMalloc, cudaMallocManaged, cudaHostAlloc.
TUTTI_API int tutti_device_allocate(int memory_kind, size_t bytes, void** data);

/// Capture the work that `enqueue` puts on a stream of the current device, without doing it; put captured work on a
/// stream; free it. A code that `enqueue` returns ends the capture and is returned. If the graph holds calls of this
/// library, all ranks launch it at the same place among their calls, and it is freed before the communicators.
/// tutti_device_graph_free accepts a handle that is NULL. Counterparts: tutti::DeviceGraph, cudaStreamBeginCapture,
/// cudaGraphLaunch.
TUTTI_API int tutti_device_graph_capture(int stream_kind, void* stream, tutti_enqueue_t enqueue, void* context,
                                         tutti_device_graph_t* graph);
TUTTI_API int tutti_device_graph_launch(tutti_device_graph_t graph, int stream_kind, void* stream);
TUTTI_API int tutti_device_graph_free(tutti_device_graph_t* graph);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_TUTTI_DEVICE_H */
