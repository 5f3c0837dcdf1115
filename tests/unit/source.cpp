#include "unit/source.hpp"

#include "tests/unit/source_folder.h"

std::filesystem::path test::source(const char* path) {
    return std::filesystem::path(TOP_SRCDIR) / path;
}
