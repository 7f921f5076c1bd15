// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The bytes of an input, from a file or from standard input.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "open_file.h"

namespace cudascan::scan {

/// The name that stands for standard input.
inline constexpr const char *kStandardInput = "-";

/// Reads an input at any place. For one thread; several threads open the same file several times.
class Input {
 public:
  /// @throws Error when the file does not exist, is not a regular file or may not be read
  explicit Input(const std::string &path);
  /// Bytes that are in memory already.
  Input(std::string name, std::shared_ptr<const std::string> bytes);

  const std::string &name() const { return name_; }
  std::uint64_t size() const { return size_; }
  long long modified_ns() const { return modified_ns_; }
  /// The bytes if they are in memory; without, data() is nullptr.
  std::string_view memory() const { return memory_; }
  /// Takes these for all bytes of the file from now on; they must stay.
  void use(std::string_view bytes) { memory_ = bytes; }
  /// The open file, -1 for bytes in memory.
  int file() const { return file_.get(); }

  /// Copies bytes. @return how many there were, less than `size` at the end of the input
  /// @throws Error when the disk refuses
  std::size_t read(std::uint64_t from, void *to, std::size_t size) const;
  /// One byte, or -1 after the end. Quick for bytes that follow one another.
  int at(std::uint64_t from);
  /// `size` bytes, or fewer at the end of the input.
  std::string part(std::uint64_t from, std::size_t size) const;
  /// @throws Error when the file is not what it was when it was opened
  void check_unchanged() const;
  /// SHA-256 of all bytes, 64 hexadecimal digits.
  std::string digest() const;

 private:
  std::string name_;
  std::shared_ptr<const std::string> bytes_;
  std::string_view memory_;
  OpenFile file_;
  std::uint64_t size_ = 0;
  long long modified_ns_ = 0;
  std::vector<unsigned char> window_;
  std::uint64_t window_from_ = 0, window_to_ = 0;
};

}  // namespace cudascan::scan
