// LSF's list of jobs, in the form that the installed LSF has: fields between delimiters if lsid names IBM's
// LSF 10.1 or newer, else the columns of bjobs -w; and their details. If a name given by a user could be
// mistaken for another job's row or for its index, LSF is asked for that job alone.
#pragma once

#include "base/expected.hpp"
#include "restart/rm/lsf_commands.hpp"
#include "restart/rm/lsf_jobs.hpp"
#include "restart/rm/lsf_text.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace restart {

class LsfJobList {
public:
    // Of the jobs that these arguments of bjobs name. lsid is run before the first list, after each that LSF
    // did not answer, as it may be another version by then, and after 60 readings of columns, as the answer
    // of lsid or bjobs may have been a transient fault. Fields that cannot be read are not tried again until
    // then. Errors: LsfCommands::run's; Code::unfit when the columns cannot be read either.
    base::Expected<std::vector<LsfJobRow>> read(const LsfCommands& commands, std::vector<std::string> which);

    // Leaves one row of each job, in doubtful cases the one that `ask` gets from LSF; for a list of all jobs.
    void tell_apart(std::vector<LsfJobRow>& rows, const LsfJobs& jobs, const LsfQueues& queues,
                    const std::function<base::Expected<LsfJobRow>(base::JobId)>& ask);

    // Reads LSF's details of these jobs into `jobs`. Errors: LsfCommands::run's.
    base::Expected<void> read_details(const LsfCommands& commands, const std::vector<base::JobId>& ids,
                                      LsfJobs& jobs);

    // A sentence for RmConfig::missing; empty: the list is read as intended.
    const std::string& missing() const { return missing_; }

private:
    base::Expected<void> probe(const LsfCommands& commands);
    void read_alone(const LsfCommands& commands, base::JobId id,
                    std::map<base::JobId, LsfJobDetails>& details);

    std::optional<bool> fields_; // nullopt: lsid must be run
    std::string version_;        // as reported by lsid,
    std::string given_up_;       // and of which fields could not be read
    int by_columns_ = 0;         // readings since it was run
    std::string missing_;
    std::set<std::uint64_t> plain_; // jobs that are not elements, whatever their names end in
};

} // namespace restart
