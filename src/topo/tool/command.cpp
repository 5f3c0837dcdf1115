#include "topo/tool/command.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

namespace topo::tool {

base::Expected<void> put(const std::string& out, std::string_view text) {
    if (out == "-") {
        fmt::print("{}", text);
        return {};
    }
    if (auto written = base::write_file_if_changed(out, text); !written) return std::move(written).error();
    return {};
}

boost::json::array to_json(const std::vector<std::string>& sentences) {
    return boost::json::array(sentences.begin(), sentences.end());
}

} // namespace topo::tool
