#include "restart/lsf/starts.hpp"

#include "base/file.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unistd.h>

namespace restart::lsf {

base::Expected<std::uint32_t> count_start(const std::string& job_file) {
    if (!job_file.starts_with('/'))
        return base::Error{base::Code::usage,
                           fmt::format("LSB_JOBFILENAME=\"{}\": is no absolute path", job_file)};
    constexpr std::uint64_t most = 9999; // the maximum of checkpoint epochs
    const auto path = job_file + ".rail";
    std::uint64_t before = 0;
    if (::access(path.c_str(), F_OK) == 0) {
        const auto text = base::read_file(path, 64);
        if (!text) return text.error();
        const auto count = base::parse_count(std::string_view(*text).substr(0, text->find('\n')));
        before = std::min(most, count.value_or(0));
    }
    if (auto kept = base::write_file(path, fmt::format("{}\n", std::min(most, before + 1)), 0600); !kept)
        return std::move(kept).error();
    return static_cast<std::uint32_t>(before);
}

} // namespace restart::lsf
