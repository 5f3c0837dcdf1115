#include "restart/ckpt/squeue.hpp"

#include "base/child.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;

Error unknown(std::string_view why) {
    return {Code::unavailable, fmt::format("squeue: {}", why)};
}

} // namespace

Expected<std::string> read_queue(std::string_view lines, base::JobId job, base::JobId asker) {
    if (job.index() != 0)
        return unknown(fmt::format("is not asked about job {}, none of Slurm's", to_string(job)));
    std::string found;
    bool seen = false;
    while (!lines.empty()) {
        const auto end = lines.find('\n');
        if (end == std::string_view::npos) return unknown("its answer is cut off");
        const auto line = lines.substr(0, end);
        lines.remove_prefix(end + 1);
        const auto space = line.find(' ');
        const auto listed = base::JobId::parse(line.substr(0, space));
        if (!listed || space == std::string_view::npos || space + 1 == line.size())
            return unknown(fmt::format("says \"{}\"", line.substr(0, 80)));
        seen = seen || listed == asker;
        if (listed == job) found = line.substr(space + 1);
    }
    if (!seen) return unknown(fmt::format("does not know job {}, which asks", to_string(asker)));
    return found;
}

Expected<std::string> state_in_queue(base::JobId job, base::JobId asker, base::Duration patience) {
    // --array: pending tasks of an array get separate lines; by default all jobs that have not ended are
    // shown. SQUEUE_* change lines and columns, SLURM_CLUSTERS the cluster.
    auto text = base::output_of(
        {"squeue", "--noheader", "--array", "--user=" + std::to_string(::geteuid()), "--format=%A %T"},
        patience, {"SQUEUE_", "SLURM_CLUSTERS="});
    if (!text) return Error{Code::unavailable, std::move(text).error().text};
    return read_queue(*text, job, asker);
}

} // namespace restart::ckpt
