// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti::detail {

/// The addresses of the library: its own module and those of its bindings, and of the MPI's interface of Fortran, which
/// stands between a program and libtutti-mpi. The program is no part of it, even where it contains the library.
class OwnModules {
 public:
  OwnModules();
  [[nodiscard]] bool contain(std::uintptr_t address) const noexcept;
  [[nodiscard]] bool in_program() const noexcept { return in_program_; }
  [[nodiscard]] bool in_preload() const noexcept { return in_preload_; }

 private:
  struct AddressRange {
    std::uintptr_t begin;
    std::uintptr_t end;
  };

  static int add(dl_phdr_info* module, std::size_t size, void* all);
  void add(const dl_phdr_info& module);

  std::array<AddressRange, 16> ranges_{};
  std::size_t count_ = 0;
  bool in_program_ = false;
  bool in_preload_ = false;
};

/// Those of this process, looked up once.
[[nodiscard]] const OwnModules& own_modules();

}  // namespace tutti::detail
