// Asks the job's own program to save, as --ckpt-signal names it, on this host and as this user: by a signal
// to processes of the job that catch it (no other is sent one: it would end them), or by a file.
#pragma once

#include "base/ckpt_signal.hpp"
#include "restart/ckpt/job_processes.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace restart::ckpt {

// By which variables of this environment the job's processes are known; empty: not in a job.
std::vector<std::string> job_marks(const std::function<const char*(const char*)>& getenv);

// The processes of the job's ranks among these, which catch the signal: those that a launcher (torchrun, Open
// MPI, PMI, srun) has given a rank, where any has; else all but the script. Not those that one of them
// started: the workers of a data loader die of what their rank saves at. `environment` of each as /proc has
// it.
struct Catcher {
    pid_t pid = 0, parent = 0;
    std::string environment;
};
std::vector<pid_t> ranks_among(const std::vector<Catcher>& catchers, std::optional<pid_t> script,
                               const std::function<pid_t(pid_t)>& parent_of);

class Asking {
public:
    // `script`: the job's, or the process that started it.
    Asking(base::CkptSignal how, std::vector<std::string> marks, std::optional<pid_t> script);

    // What ask() would do now, for people. Errors: as ask().
    base::Expected<std::string> foresee() const;

    // What was done, for people: "SIGTERM sent to process 4711". Errors: Code::unavailable, no process that
    // may be sent it catches the signal (yet), or there is no way to ask; Code::io, the file cannot be made.
    base::Expected<std::string> ask();

    // Takes away a file that an earlier start of the job has left.
    void begin();

    // The program has saved, or nothing is asked of it any more: a file that ask() made is taken away.
    void done();

private:
    std::vector<pid_t> candidates() const;
    std::vector<pid_t> choose(const std::vector<Catcher>& catchers) const;
    // The processes that were sent it; unless `really`, that would be.
    base::Expected<std::vector<pid_t>> send(bool really) const;
    base::Expected<std::string> make_file();

    base::CkptSignal how_;
    JobProcesses processes_;
    bool in_job_;
    std::optional<pid_t> script_;
    bool made_ = false;
};

} // namespace restart::ckpt
