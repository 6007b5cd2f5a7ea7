// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/own_modules.hpp"

#include <algorithm>
#include <string_view>

namespace tutti::detail {
namespace {

/// The MPI's interface of Fortran: MPICH's and Open MPI's.
bool is_fortran_interface(std::string_view name) noexcept {
  return name.starts_with("libmpichf") || name.starts_with("libmpif") || name.starts_with("libmpi_mpif") ||
         name.starts_with("libmpi_usempi");
}

}  // namespace

OwnModules::OwnModules() { dl_iterate_phdr(add, this); }

bool OwnModules::contain(std::uintptr_t address) const noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if (address >= ranges_[i].begin && address < ranges_[i].end) return true;
  return false;
}

int OwnModules::add(dl_phdr_info* module, std::size_t /*size*/, void* all) {
  static_cast<OwnModules*>(all)->add(*module);
  return 0;
}

void OwnModules::add(const dl_phdr_info& module) {
  const std::string_view path = module.dlpi_name == nullptr ? "" : module.dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto here = reinterpret_cast<std::uintptr_t>(&own_modules);
  AddressRange range{~std::uintptr_t{0}, 0};
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& part = module.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    range.begin = std::min<std::uintptr_t>(range.begin, module.dlpi_addr + part.p_vaddr);
    range.end = std::max<std::uintptr_t>(range.end, module.dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  const bool is_here = here >= range.begin && here < range.end;
  if (is_here && path.empty()) in_program_ = true;
  if (is_here && name.starts_with("libtutti-mpi")) in_preload_ = true;
  const bool is_own = is_here || name.starts_with("libtutti") || is_fortran_interface(name);
  if (path.empty() || !is_own || count_ == ranges_.size()) return;
  ranges_[count_++] = range;
}

const OwnModules& own_modules() {
  static const OwnModules modules;
  return modules;
}

}  // namespace tutti::detail
