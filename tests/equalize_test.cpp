#include "kernels/equalize.h"
#include "operator_test.h"
