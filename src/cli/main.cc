#include "version.h"

#include <cstdio>

int main() {
  std::printf("ff %s\n", ff::kVersion);
  return 0;
}
