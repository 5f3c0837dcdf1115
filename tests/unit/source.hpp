// The source tree, of which some tests read files.
#pragma once

#include <filesystem>

namespace test {

// A file or folder by its path in the tree.
std::filesystem::path source(const char* path);

} // namespace test
