// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

/// Natural order: page2 comes before page10. Names that differ only in case or leading zeros are
/// compared byte by byte.
bool natural_less(const std::string &a, const std::string &b);

/// The named files, and the files in named folders, in natural order. From folders it takes files
/// that are not hidden and have an image extension (.png .jpg .jpeg .tif .tiff .pgm .ppm .pbm .pnm
/// .jp2 .j2k .jpx .jpc); it enters subfolders only with `recursive`.
/// @throws Error for a folder that cannot be read; a missing file shows later, when it is read
std::vector<std::string> list_inputs(const std::vector<std::string> &named, bool recursive);

}  // namespace cudascan::scan
