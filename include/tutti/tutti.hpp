// SPDX-License-Identifier: BSD-3-Clause
// The whole C++ interface except kokkos.hpp, which needs Kokkos.
#pragma once

#include <tutti/parts.h>
#include <tutti/algorithms.hpp>
#include <tutti/buffer.hpp>
#include <tutti/call_site.hpp>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/collectives/exscan.hpp>
#include <tutti/collectives/gather.hpp>
#include <tutti/collectives/gatherv.hpp>
#include <tutti/collectives/neighborhood.hpp>
#include <tutti/collectives/reduce.hpp>
#include <tutti/collectives/reduce_scatter.hpp>
#include <tutti/collectives/reduce_scatter_block.hpp>
#include <tutti/collectives/scan.hpp>
#include <tutti/collectives/scatter.hpp>
#include <tutti/collectives/scatterv.hpp>
#include <tutti/communicator.hpp>
#include <tutti/counts.hpp>
#include <tutti/datatype.hpp>
#include <tutti/device.hpp>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>
#include <tutti/exact.hpp>
#include <tutti/float_types.hpp>
#include <tutti/layout.hpp>
#include <tutti/memory.hpp>
#include <tutti/mpi.hpp>
#include <tutti/options.hpp>
#include <tutti/point_to_point.hpp>
#include <tutti/range.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>
#include <tutti/topology.hpp>
#include <tutti/version.hpp>

#if TUTTI_HAS_TRAINING
#include <tutti/checkpoint.hpp>
#include <tutti/communication_hook.hpp>
#include <tutti/embedding_collection.hpp>
#include <tutti/gradient_reducer.hpp>
#include <tutti/parameter_server.hpp>
#include <tutti/row_frequencies.hpp>
#include <tutti/sharded_optimizer.hpp>
#include <tutti/sharding_plan.hpp>
#include <tutti/table_rows.hpp>
#endif
