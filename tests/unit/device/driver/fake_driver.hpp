// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the driver of the test answers: a library under the name of CUDA's, with the functions that the library asks.
struct FakeDriver {
  bool is_initialized = false;
  int devices = 2;
  int active_device = -1;    ///< whose primary context is active
  bool has_current = false;  ///< a context of the program's own
  bool is_answering = true;  ///< about addresses
  unsigned memory_type = 0;  ///< CUmemorytype; 0: an address that it does not know
  int is_managed = 0;
  int device = 0;
  int calls = 0;
  int stream_device = 0;  ///< of each stream
  int pushed = -1;        ///< the device whose context is on top
  int retained = 0;       ///< calls of cuDevicePrimaryCtxRetain
};

extern "C" FakeDriver fake_driver;
