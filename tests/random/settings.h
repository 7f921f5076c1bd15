// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random settings of the operators, as users could set them: mostly legal, sometimes one that must
/// be refused.
#pragma once
#include <optional>
#include <string>

#include "kernels/autothreshold.h"
#include "kernels/equalize.h"
#include "kernels/linearopen.h"
#include "kernels/nick.h"
#include "kernels/rotate.h"
#include "kernels/swofilter.h"
#include "tests/random/dice.h"

namespace cudascan::test {

/// What settings are drawn for.
struct Frame {
  int width, height;
  unsigned maximum;
  bool same_depth;  ///< of input and output
};

void draw(Dice &, const Frame &, NickParams &);
void draw(Dice &, const Frame &, EqualizeParams &);
void draw(Dice &, const Frame &, AutothresholdParams &);
void draw(Dice &, const Frame &, LinearOpenParams &);
void draw(Dice &, const Frame &, RotateParams &);
void draw(Dice &, const Frame &, SwoFilterParams &);

/// About the samples that are looked at for each pixel by the slower of the two backends.
double cost(const NickParams &);
double cost(const EqualizeParams &);
double cost(const AutothresholdParams &);
double cost(const LinearOpenParams &);
double cost(const RotateParams &);
double cost(const SwoFilterParams &);

/// All settings, to repeat a case by hand.
std::string text_of(const NickParams &);
std::string text_of(const EqualizeParams &);
std::string text_of(const AutothresholdParams &);
std::string text_of(const LinearOpenParams &);
std::string text_of(const RotateParams &);
std::string text_of(const SwoFilterParams &);

}  // namespace cudascan::test
