#include "restart/ckpt/bjobs.hpp"

#include "base/child.hpp"
#include "base/split.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::next_line;
using base::next_word;

constexpr base::Duration between{500};

Error unknown(std::string_view why) {
    return {Code::unavailable, fmt::format("bjobs: {}", why)};
}

Expected<std::string> ask(base::JobId job, base::Duration patience) {
    const auto ended = base::run_to_end({"bjobs", "-w", to_string(job)}, patience);
    if (!ended) return Error{Code::unavailable, ended.error().text};
    return read_bjobs(ended->output, ended->status, job);
}

} // namespace

Expected<std::string> read_bjobs(std::string_view printed, int status, base::JobId job) {
    auto text = printed;
    if (status != 0) {
        if (next_line(text) == fmt::format("Job <{}> is not found", to_string(job))) return std::string();
        return unknown(fmt::format("ended with status {}: {}", status, printed.substr(0, 80)));
    }
    auto head = next_line(text), row = next_line(text); // further lines may come from the job's name
    const auto number = std::to_string(job.number());
    if (next_word(head) != "JOBID" || next_word(row) != number)
        return unknown(fmt::format("says \"{}\"", printed.substr(0, 80)));
    next_word(row); // its user
    return std::string(next_word(row));
}

Expected<std::string> state_in_lsf(base::JobId job, base::JobId asker, base::Duration patience,
                                   base::Duration settles) {
    const auto own = ask(asker, patience);
    if (!own) return own.error();
    if (own->empty()) return unknown(fmt::format("does not know job {}, which asks", to_string(asker)));
    const auto until = std::chrono::steady_clock::now() + settles;
    for (;;) {
        auto state = ask(job, patience);
        if (!state) return state;
        if (*state == "DONE") return std::string();
        if (*state != "EXIT") return state;
        if (std::chrono::steady_clock::now() >= until) return std::string();
        std::this_thread::sleep_for(between);
    }
}

} // namespace restart::ckpt
