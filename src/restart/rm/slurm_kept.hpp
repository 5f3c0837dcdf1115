// What jobs with --restart=auto were submitted with, kept while they run, in a folder of restartd's own:
// slurmctld forgets a job that ended while restartd was away after MinJobAge, and it can be submitted again
// from here. One file per job, named by its number and with mode 0600: environments hold secrets. At most
// most_kept of them, each of most_bytes; removed when its job has ended in a way that leaves nothing to do,
// or an hour after slurmctld had forgotten it. Only slurm_*.cpp files and their tests include this.
//
// A submission is made once: the new job has a tag in its admin_comment (sched::again_label), by which it is
// recognized, and the attempt is recorded before, so that it is not repeated if restartd dies in between.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/rm/slurm_ends.hpp"
#include "restart/rm/slurm_submission.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace restart {

class SlurmKept {
public:
    static constexpr std::size_t most_kept = 4096, most_bytes = std::size_t{5} << 20;

    using Ask = std::function<base::Expected<SlurmEnds>(const std::vector<std::uint32_t>&, base::Duration)>;

    // `folder` is made when needed; empty: nothing is kept.
    explicit SlurmKept(std::filesystem::path folder, Ask ask = ask_how_they_ended);

    // From all of slurmctld's jobs: keeps those that run, and removes those that have ended for good. Returns
    // those without a record: ended, with RmJob::forgotten. `conf`: null: not known yet.
    std::vector<RmJob> look(std::span<const job_info_t> jobs, const slurm_conf_t* conf, base::Time now);

    // Submits it, unless that was done. Errors as perform()'s.
    base::Expected<void> submit(const SubmitAgain& action, std::span<const job_info_t> jobs,
                                const slurm_conf_t* conf, base::Time now);

private:
    using Head = SlurmSubmission; // without script and environment
    using Heads = std::map<std::uint32_t, Head>;
    using Words = std::map<std::string, std::string>;

    void keep(const job_info_t& job, const slurm_conf_t& conf);
    void follow(Heads::iterator kept, const job_info_t& job, const slurm_conf_t* conf);
    void remove(std::uint32_t job);
    // Changes values of it, on disk and in memory. Errors: it cannot be written.
    base::Expected<void> put(Head& head, const Words& words);
    void note(Head& head, const Words& words); // the same, on disk only if there is room
    void note_end(Head& head, const RmFailure& failure);
    void ask_accounting(const std::vector<std::uint32_t>& jobs, base::Time now);
    std::optional<RmJob> forgotten(Head& head, const slurm_conf_t* conf, base::Time now);
    std::filesystem::path file_of(std::uint32_t job) const { return folder_ / std::to_string(job); }

    std::filesystem::path folder_;
    Ask ask_;
    Heads kept_;
    std::size_t room_ = 0; // this many more files may be written in this look
    base::Time next_ask_{};
};

} // namespace restart
