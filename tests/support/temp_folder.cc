#include "support/temp_folder.h"

#include <cstdlib>
#include <stdexcept>

namespace ff::test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "flowfabric-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder can be made");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ff::test
