#include "base/job_id.hpp"

#include <charconv>

namespace base {
namespace {

// A plain decimal number, at least 1, without a sign or leading zeros: one spelling for each.
template <class N> std::optional<N> number_in(std::string_view text) {
    N number{};
    const auto* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc{} || stop != end || text.front() == '0') return {};
    return number;
}

} // namespace

std::optional<JobId> JobId::parse(std::string_view text) {
    const auto bracket = text.find('[');
    const auto number = number_in<std::uint64_t>(text.substr(0, bracket));
    if (!number || *number > most) return {};
    if (bracket == std::string_view::npos) return JobId(*number);
    text.remove_prefix(bracket + 1);
    if (!text.ends_with(']')) return {};
    text.remove_suffix(1);
    const auto index = number_in<std::uint32_t>(text);
    if (!index) return {};
    return JobId(*number, *index);
}

std::string to_string(JobId job) {
    auto text = std::to_string(job.number());
    if (job.index() != 0) text += '[' + std::to_string(job.index()) + ']';
    return text;
}

} // namespace base
