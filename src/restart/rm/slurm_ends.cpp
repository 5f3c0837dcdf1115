#include "restart/rm/slurm_ends.hpp"

#include "base/child.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace restart {
namespace {

std::string_view take(std::string_view& text, char separator) {
    const auto end = std::min(text.find(separator), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

// "3:0" is exit status 3, "0:9" signal 9.
std::uint32_t code_of(std::string_view text) {
    const auto status = base::parse_count(take(text, ':')), signal = base::parse_count(text);
    if (signal && *signal != 0) return 128 + static_cast<std::uint32_t>(*signal);
    return status ? static_cast<std::uint32_t>(*status) : 0;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace

SlurmEnds parse_ends(std::string_view lines) {
    SlurmEnds ends;
    while (!lines.empty()) {
        auto line = take(lines, '\n');
        const auto job = base::parse_count(take(line, '|'));
        auto words = take(line, '|');
        const auto state = take(words, ' '); // "CANCELLED by 1000"
        const auto code = code_of(take(line, '|')), worst = code_of(take(line, '|'));
        const auto ended = base::parse_count(line);
        if (!job || *job > UINT32_MAX || !ended) continue;
        auto& end = ends[static_cast<std::uint32_t>(*job)];
        RmFailure failure;
        failure.ended = base::Time(std::chrono::seconds(*ended));
        failure.step_failed = worst != 0;
        if (state == "COMPLETED")
            end = failure;
        else if (is_one_of(state, {"FAILED", "OUT_OF_MEMORY", "NODE_FAIL"})) {
            failure.code = std::max(code, 1U);
            end = failure;
        } else if (!is_one_of(state,
                              {"CANCELLED", "TIMEOUT", "DEADLINE", "PREEMPTED", "REVOKED", "BOOT_FAIL"}))
            ends.erase(static_cast<std::uint32_t>(*job));
    }
    return ends;
}

base::Expected<SlurmEnds> ask_how_they_ended(const std::vector<std::uint32_t>& jobs,
                                             base::Duration patience) {
    const auto answer = base::run_to_end({"sacct", "--allocations", "--noheader", "--parsable2",
                                          "--format=JobIDRaw,State,ExitCode,DerivedExitCode,End",
                                          fmt::format("--jobs={}", fmt::join(jobs, ","))},
                                         patience, {"SLURM_TIME_FORMAT=%s"});
    if (!answer) return answer.error();
    if (answer->status != 0)
        return base::Error{base::Code::unavailable, "sacct: " + answer->output.substr(0, 200)};
    return parse_ends(answer->output);
}

} // namespace restart
