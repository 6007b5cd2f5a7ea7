// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "backends/device/buffers.hpp"
#include "device/pool.hpp"

/// Buffers whose owner is gone while a stream still uses them: of a blocking call that returns at once, of a request
/// that a stream waits for. Any thread.
namespace tutti::detail {

/// Keeps buffers until the event is complete; for ever where the device reports an error. The event was recorded on a
/// stream that is not captured.
void park(DeviceBuffers buffers, device::Event passed) noexcept;

/// Gives back those buffers whose events are complete. Not under capture: it asks events.
void collect_parked() noexcept;

/// Keeps buffers until the graph that the stream is captured into, and all made of it, are gone.
DeviceBuffers& retain_by_graph(std::unique_ptr<DeviceBuffers> buffers, device::StreamHandle stream);

}  // namespace tutti::detail
