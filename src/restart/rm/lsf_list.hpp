// LSF's list of jobs, in the form that the LSF at hand has: fields between delimiters where lsid says IBM's
// LSF 10.1 or newer, else the columns of bjobs -w; and their details. Where what a user names a job may pass
// for another's row or for its index, LSF is asked for that one alone.
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
    // Of the jobs that these words of bjobs name. lsid is asked before the first list, after each that LSF
    // did not answer, as it may be another by then, and after 60 readings of columns, as what lsid or bjobs
    // said may have been a passing fault. Fields that cannot be read are given up until then. Errors:
    // LsfCommands::run's; Code::unfit when the columns cannot be read either.
    base::Expected<std::vector<LsfJobRow>> read(const LsfCommands& commands, std::vector<std::string> which);

    // Leaves one row of each job, the one that `ask` gets from LSF where there is doubt; of a list of all
    // jobs.
    void tell_apart(std::vector<LsfJobRow>& rows, const LsfJobs& jobs, const LsfQueues& queues,
                    const std::function<base::Expected<LsfJobRow>(base::JobId)>& ask);

    // Reads what LSF says of these jobs into `jobs`. Errors: LsfCommands::run's.
    base::Expected<void> read_details(const LsfCommands& commands, const std::vector<base::JobId>& ids,
                                      LsfJobs& jobs);

    // A sentence for RmConfig::missing; empty: the list is read as it should be.
    const std::string& missing() const { return missing_; }

private:
    base::Expected<void> probe(const LsfCommands& commands);
    void read_alone(const LsfCommands& commands, base::JobId id,
                    std::map<base::JobId, LsfJobDetails>& details);

    std::optional<bool> fields_; // nullopt: lsid is to be asked
    std::string version_;        // as lsid said it,
    std::string given_up_;       // and of which fields could not be read
    int by_columns_ = 0;         // readings since it was asked
    std::string missing_;
    std::set<std::uint64_t> plain_; // jobs that are no elements, whatever their names end in
};

} // namespace restart
