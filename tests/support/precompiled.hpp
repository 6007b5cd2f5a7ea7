// SPDX-License-Identifier: BSD-3-Clause
// What most tests read before their own words: compiled once for all of them. A test still includes what it uses;
// preset dev compiles without this file.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>
