#include "restart/ckpt/work.hpp"

#include <fmt/format.h>

namespace restart::ckpt {

std::string to_string(const Work& work) {
    return work ? to_string(*work.job) : "0";
}

std::optional<Work> parse_work(std::string_view text) {
    if (text == "0") return Work();
    if (const auto job = base::JobId::parse(text)) return Work(*job);
    return {};
}

base::Expected<Work> work_of(std::int64_t number, std::string_view option) {
    if (number < 0)
        return base::Error{base::Code::usage,
                           fmt::format("option {} = {}: a job number from 0 is wanted", option, number)};
    return number == 0 ? Work() : Work(base::JobId(static_cast<std::uint64_t>(number)));
}

} // namespace restart::ckpt
