// SPDX-License-Identifier: LGPL-2.1-or-later
// Group 4: decoded by the tables of T.4 and T.6 as they are printed, pages are what they were.
#include "kernels/group4.h"

#include <map>
#include <sstream>
#include <string>

#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;
using test::Size;

// Codes of lengths 0 to 63, 64 to 1728, and of 1792 to 2560, which white and black share.
constexpr const char *kWhite =
    "00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 "
    "110101 101010 101011 0100111 0001100 0001000 0010111 0000011 0000100 0101000 0101011 "
    "0010011 0100100 0011000 00000010 00000011 00011010 00011011 00010010 00010011 00010100 "
    "00010101 00010110 00010111 00101000 00101001 00101010 00101011 00101100 00101101 00000100 "
    "00000101 00001010 00001011 01010010 01010011 01010100 01010101 00100100 00100101 01011000 "
    "01011001 01011010 01011011 01001010 01001011 00110010 00110011 00110100 11011 10010 010111 "
    "0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 011010010 "
    "011010011 011010100 011010101 011010110 011010111 011011000 011011001 011011010 011011011 "
    "010011000 010011001 010011010 011000 010011011";
constexpr const char *kBlack =
    "0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 "
    "00000111 000011000 0000010111 0000011000 0000001000 00001100111 00001101000 00001101100 "
    "00000110111 00000101000 00000010111 00000011000 000011001010 000011001011 000011001100 "
    "000011001101 000001101000 000001101001 000001101010 000001101011 000011010010 000011010011 "
    "000011010100 000011010101 000011010110 000011010111 000001101100 000001101101 000011011010 "
    "000011011011 000001010100 000001010101 000001010110 000001010111 000001100100 000001100101 "
    "000001010010 000001010011 000000100100 000000110111 000000111000 000000100111 000000101000 "
    "000001011000 000001011001 000000101011 000000101100 000001011010 000001100110 000001100111 "
    "0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 "
    "0000001101100 0000001101101 0000001001010 0000001001011 0000001001100 0000001001101 "
    "0000001110010 0000001110011 0000001110100 0000001110101 0000001110110 0000001110111 "
    "0000001010010 0000001010011 0000001010100 0000001010101 0000001011010 0000001011011 "
    "0000001100100 0000001100101";
constexpr const char *kLong =
    "00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101 "
    "000000010110 000000010111 000000011100 000000011101 000000011110 000000011111";

/// The length of each code.
std::map<std::string, int> lengths_of(const char *codes) {
  std::map<std::string, int> lengths;
  std::istringstream text(std::string(codes) + " " + kLong);
  std::string code;
  for (int i = 0; text >> code; ++i) lengths[code] = i < 64 ? i : 64 * (i - 63);
  EXPECT_EQ(lengths.size(), 104u);
  return lengths;
}

/// Reads a page bit by bit.
class Decoder {
 public:
  Decoder(const std::vector<std::uint8_t> &code, int width) : code_(code), width_(width) {}

  /// The next row; 1 = black. Empty if the code is wrong.
  std::vector<int> row() {
    std::vector<int> row;
    int colour = 0;
    while (static_cast<int>(row.size()) < width_) {
      static const std::map<std::string, int> kModes{
          {"0001", kPass}, {"001", kHorizontal}, {"1", 0},       {"011", 1},     {"000011", 2},
          {"0000011", 3},  {"010", -1},          {"000010", -2}, {"0000010", -3}};
      const int mode = next(kModes);
      if (mode == kBad) return {};
      if (mode == kPass) {
        extend(row, change(change(static_cast<int>(row.size()), colour), 1 - colour, false),
               colour);
      } else if (mode == kHorizontal) {
        for (const int c : {colour, 1 - colour})
          extend(row, static_cast<int>(row.size()) + run(c), c);
      } else {
        extend(row, change(static_cast<int>(row.size()), colour) + mode, colour);
        colour = 1 - colour;
      }
      if (static_cast<int>(row.size()) > width_ || bad_) return {};
    }
    above_ = row;
    return row;
  }
  /// Whether the code ends here: with its two marks, and zeros up to a whole byte.
  bool ends() {
    std::string rest;
    while (at_ < 8 * code_.size()) rest += bit();
    return rest.substr(0, 24) == "000000000001000000000001" && rest.size() < 32 &&
           rest.find('1', 24) == std::string::npos;
  }

 private:
  static constexpr int kPass = 100, kHorizontal = 101, kBad = -100;

  char bit() {
    const char value = code_[at_ / 8] >> (7 - at_ % 8) & 1 ? '1' : '0';
    ++at_;
    return value;
  }
  int next(const std::map<std::string, int> &codes) {
    std::string code;
    while (at_ < 8 * code_.size() && code.size() < 14) {
      code += bit();
      if (const auto found = codes.find(code); found != codes.end()) return found->second;
    }
    bad_ = true;
    return kBad;
  }
  int run(int colour) {
    static const std::map<std::string, int> kLengths[] = {lengths_of(kWhite), lengths_of(kBlack)};
    int sum = 0, part;
    do sum += part = next(kLengths[colour]);
    while (part >= 64);
    return sum;
  }
  /// The first change of the row above to another colour than this one, right of a place. At the
  /// beginning of a row the place is left of its first pixel.
  int change(int from, int colour, bool of_row = true) const {
    const auto pixel = [&](int x) { return x < 0 || above_.empty() ? 0 : above_[x]; };
    for (int x = of_row && from > 0 ? from + 1 : from; x < width_; ++x)
      if (pixel(x) != colour && pixel(x - 1) == colour) return x;
    return width_;
  }
  static void extend(std::vector<int> &row, int to, int colour) {
    while (static_cast<int>(row.size()) < to) row.push_back(colour);
  }

  const std::vector<std::uint8_t> &code_;
  int width_;
  std::size_t at_ = 0;
  std::vector<int> above_;
  bool bad_ = false;
};

void expect_page(const Image<std::uint8_t> &page, Size size,
                 const std::vector<std::uint8_t> &code) {
  Decoder decoder(code, size.width);
  for (int y = 0; y < size.height; ++y) {
    const std::vector<int> row = decoder.row();
    ASSERT_EQ(row.size(), static_cast<std::size_t>(size.width)) << "row " << y;
    for (int x = 0; x < size.width; ++x)
      ASSERT_EQ(row[x] == 1, page.at(x, y) == 0) << x << ", " << y;
  }
  EXPECT_TRUE(decoder.ends());
}

/// Runs of all lengths: noise of a density, strokes, and rows that repeat with small shifts.
Image<std::uint8_t> make_page(Size size, unsigned kind, test::Layout layout = {}) {
  std::mt19937 random(kind);
  std::vector<std::uint8_t> levels;
  for (int y = 0; y < size.height; ++y) {
    const int shift = static_cast<int>(random() % 9) - 4;
    bool black = random() % 2;
    int left = 0;
    for (int x = 0; x < size.width; ++x) {
      switch (kind % 5) {
        case 0:
          black = random() % 2;
          break;
        case 1:
          black = random() % 40 == 0;
          break;
        case 2:
          if (left-- == 0) black = !black, left = static_cast<int>(random() % 200);
          break;
        case 3:
          black = (x + shift) / 37 % 3 == 0;
          break;
        default:
          black = kind % 2;
      }
      levels.push_back(black ? 0 : static_cast<std::uint8_t>(1 + random() % 255));
    }
  }
  return Image<std::uint8_t>(levels, size.width, size.height, layout);
}

template <typename Encode>
void check_pages(const Encode &encode) {
  for (const Size size :
       {Size{1, 1}, {1, 9}, {31, 3}, {32, 40}, {33, 5}, {64, 2}, {200, 130}, {2700, 3}, {7000, 2}})
    for (unsigned kind = 0; kind < 10; ++kind) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", kind " << kind);
      const Image<std::uint8_t> page = make_page(size, kind, {.padding = 5, .offset = 3});
      expect_page(page, size, encode(page));
    }
}

TEST(Group4, PagesAreWhatTheyWere) {
  Cpu cpu(1);
  check_pages([&](const Image<std::uint8_t> &page) { return encode_group4(cpu, page.plane()); });
}

TEST(Group4, AllThreadsMakeOneCode) {
  const Image<std::uint8_t> page = make_page({301, 1500}, 2);
  Cpu one(1), four(4);
  const std::vector<std::uint8_t> code = encode_group4(one, page.plane());
  EXPECT_EQ(encode_group4(four, page.plane()), code);
  expect_page(page, {301, 1500}, code);
}

TEST(Group4, WhitePagesAreABitARow) {
  const std::vector<std::uint8_t> white(100 * 16, 255);
  Cpu cpu;
  const Image<std::uint8_t> page(white, 100, 16);
  EXPECT_EQ(encode_group4(cpu, page.plane()),
            (std::vector<std::uint8_t>{0xff, 0xff, 0x00, 0x10, 0x01}));
}

TEST(Group4, APlaneWithoutRowsIsRefused) {
  Cpu cpu;
  EXPECT_THROW(encode_group4(cpu, Plane<const std::uint8_t>{nullptr, 0, 4, 8}), BadSetting);
}

#ifdef HAVE_CUDA
TEST(Group4, CudaMakesTheSameCode) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  test::DeviceCopy copy(stream.get());
  Cpu cpu;
  check_pages([&](const Image<std::uint8_t> &page) {
    const auto code = encode_group4(cuda, Plane<const std::uint8_t>(copy.upload(page)));
    EXPECT_EQ(code, encode_group4(cpu, page.plane()));
    return code;
  });
  const Image<std::uint8_t> tall = make_page({90, 2500}, 2);
  EXPECT_EQ(encode_group4(cuda, Plane<const std::uint8_t>(copy.upload(tall))),
            encode_group4(cpu, tall.plane()));
}
#endif

}  // namespace
}  // namespace cudascan
