// SPDX-License-Identifier: BSD-3-Clause
// A library with XPMEM's interface that needs no driver. It replaces malloc in the program that preloads it: all memory
// from malloc lies in one file in memory, at the same distance from the file's beginning as from the beginning of a
// range of addresses that is the same in all processes. Another process attaches a range by mapping the file.
//
// What the driver does when an owner unmaps pages, the kernel does here: freeing a large block punches a hole into the
// file, which clears the pages from the mappings of all processes, and the next touch of an attachment finds the
// owner's new pages at that address. A touch between the two, by which the driver would end the process (SIGBUS),
// leaves a page in the hole, and is counted when the addresses are used again, or on request. Memory from elsewhere, on
// the stack for example, cannot be attached, although the driver could.
#pragma once

#include <dlfcn.h>

namespace tutti::test::standin_xpmem {

/// What this process has done through the library.
struct Counts {
  int makes;
  int removes;
  int gets;
  int releases;
  int attaches;
  int detaches;
  int refused;        ///< attaches that failed
  int stale_touches;  ///< freed blocks that another process has touched
};

/// The functions beside XPMEM's. Null in a program that has not preloaded the library.
struct Control {
  void (*counts)(Counts* counts);
  void (*refuse_attaches)(int on);
};

inline Control control() {
  return {reinterpret_cast<void (*)(Counts*)>(dlsym(RTLD_DEFAULT, "tutti_standin_xpmem_counts")),
          reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "tutti_standin_xpmem_refuse_attaches"))};
}

inline bool is_loaded() { return control().counts != nullptr; }

inline Counts counts() {
  Counts now{};
  control().counts(&now);
  return now;
}

}  // namespace tutti::test::standin_xpmem
