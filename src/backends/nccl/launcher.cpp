// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/launcher.hpp"

#include <thread>
#include <utility>

#include "device/kept.hpp"
#include "device/runtime.hpp"

namespace tutti::detail::nccl {

Launcher& Launcher::of(int device) {
  static auto* all = new device::Kept<int, Launcher>;
  return all->of(device, [device] { return new Launcher(device); });
}

std::shared_ptr<Launcher::Job> Launcher::begin(std::function<void()> work) {
  auto job = std::make_shared<Job>();
  job->work_ = std::move(work);
  const std::lock_guard lock(mutex_);
  if (!desk_) {
    desk_ = std::make_shared<Desk>();
    std::thread([desk = desk_, device = device_] { serve(desk, device); }).detach();
  }
  {
    const std::lock_guard at_desk(desk_->mutex);
    desk_->job = job;
  }
  desk_->has_job.notify_one();
  return job;
}

Launcher::~Launcher() {
  if (!desk_) return;
  {
    const std::lock_guard at_desk(desk_->mutex);
    desk_->is_left = true;
  }
  desk_->has_job.notify_one();
}

void Launcher::serve(const std::shared_ptr<Desk>& desk, int device) {
  while (true) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(desk->mutex);
      desk->has_job.wait(lock, [&] { return desk->job != nullptr || desk->is_left; });
      if (desk->job == nullptr) return;
      job = std::exchange(desk->job, nullptr);
    }
    try {
      const device::Guard guard(device);
      job->work_();
    } catch (...) {
      job->failure_ = std::current_exception();
    }
    job->work_ = nullptr;
    job->is_done_.store(true, std::memory_order_release);
  }
}

}  // namespace tutti::detail::nccl
