// SPDX-License-Identifier: BSD-3-Clause
// Nothing: the target that makes precompiled.hpp needs a source.
