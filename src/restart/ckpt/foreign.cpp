#include "restart/ckpt/foreign.hpp"

#include "base/units.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace restart::ckpt {

base::Expected<kinds::Kind> kind_given(const std::string& text) {
    if (!text.empty()) {
        auto kind = base::parse_ckpt_kind(text);
        return kind ? std::move(kind)
                    : std::move(kind).error().within("--kind=" + base::printable(text, 100));
    }
    const char* variable = std::getenv("RAIL_CKPT_KIND");
    if (variable == nullptr || *variable == '\0') return kinds::Kind{};
    auto kind = base::parse_ckpt_kind(variable);
    return kind ? std::move(kind)
                : std::move(kind).error().within("environment variable RAIL_CKPT_KIND=" +
                                                 base::printable(variable, 100));
}

base::Expected<std::optional<base::CkptSignal>> signal_given(const std::string& text) {
    const char* variable = std::getenv("RAIL_CKPT_SIGNAL");
    const auto given = !text.empty() ? text : std::string(variable == nullptr ? "" : variable);
    if (given.empty()) return std::optional<base::CkptSignal>();
    auto signal = base::parse_ckpt_signal(given);
    if (signal) return std::optional(*std::move(signal));
    return std::move(signal).error().within(
        (text.empty() ? "environment variable RAIL_CKPT_SIGNAL=" : "--signal=") +
        base::printable(given, 100));
}

std::string absolute(const std::string& dir) {
    std::error_code failed;
    auto path = std::filesystem::canonical(dir, failed);
    if (failed) path = std::filesystem::absolute(dir, failed).lexically_normal();
    return path.string();
}

base::Expected<kinds::Found> look_at(const std::string& dir, const kinds::Kind& kind) {
    const auto files = kinds::FilesOnDisk::open(dir);
    if (!files) return files.error();
    return kinds::look(**files, kind, base::now());
}

bool is_foreign(const kinds::Kind& kind) {
    return kind.known != kinds::Known::automatic && kind.known != kinds::Known::railckpt;
}

base::Time start_of_job(base::Time now) {
    const char* text = std::getenv("SLURM_JOB_START_TIME");
    const auto seconds = base::parse_count(text == nullptr ? "" : text);
    if (!seconds || *seconds == 0) return now;
    return std::min(now, base::time_from_seconds(static_cast<double>(*seconds)));
}

boost::json::object whole_to_json(const kinds::Whole& whole, const kinds::Kind& kind,
                                  const std::string& path) {
    boost::json::object object{{"kind", to_string(kind)},
                               {"path", base::as_utf8(path)},
                               {"step", whole.step ? boost::json::value(*whole.step) : boost::json::value()},
                               {"time", base::iso_time(whole.done)},
                               {"files", whole.files},
                               {"bytes", whole.bytes},
                               {"all_counted", !whole.cut}};
    object["ranks"] = whole.ranks > 0 ? boost::json::value(whole.ranks) : boost::json::value();
    return object;
}

} // namespace restart::ckpt
