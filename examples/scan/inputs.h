// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

/// Whether `a` comes before `b` as people count: page2 before page10; equal but for case or leading
/// zeros, byte by byte.
bool natural_less(const std::string &a, const std::string &b);

/// The files that are named, and those in folders that are named, in natural order. Of folders those
/// that are called as images are (.png .jpg .jpeg .tif .tiff .pgm .ppm .pbm .pnm .jp2 .j2k .jpx .jpc)
/// and not hidden; of folders in them only with `recursive`.
/// @throws Error for a folder that cannot be read; a file that is not there shows when it is read
std::vector<std::string> list_inputs(const std::vector<std::string> &named, bool recursive);

}  // namespace cudascan::scan
