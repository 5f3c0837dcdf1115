// What most files of src/ include, for builds that are configured with --enable-precompiled. No file relies
// on it.
#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
