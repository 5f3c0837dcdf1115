// LSF's list of jobs, in the form that the LSF at hand has: fields between delimiters where lsid says IBM's
// LSF 10.1 or newer, else the columns of bjobs -w.
#pragma once

#include "base/expected.hpp"
#include "restart/rm/lsf_commands.hpp"
#include "restart/rm/lsf_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restart {

class LsfJobList {
public:
    // Of the jobs that these words of bjobs name. lsid is asked before the first list, and after each that
    // LSF did not answer: it may be another by then. Fields that cannot be read are given up until lsid says
    // something else. Errors: LsfCommands::run's; Code::unfit when the columns cannot be read either.
    base::Expected<std::vector<LsfJobRow>> read(const LsfCommands& commands, std::vector<std::string> which);

    // A sentence for RmConfig::missing; empty: the list is read as it should be.
    const std::string& missing() const { return missing_; }

private:
    base::Expected<void> probe(const LsfCommands& commands);

    std::optional<bool> fields_; // nullopt: lsid is to be asked
    std::string version_;        // as lsid said it,
    std::string given_up_;       // and of which fields could not be read
    std::string missing_;
};

} // namespace restart
