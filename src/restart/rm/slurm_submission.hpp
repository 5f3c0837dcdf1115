// What an sbatch job was submitted with, as far as slurmctld shows it: its record's options, its script and
// its environment; and the same in the form that submits it again. Only slurm_*.cpp files and their tests
// include this.
//
// slurmctld does not show: --signal, --overcommit, --distribution and binding (srun reads these from the
// environment), arguments of the script other than in one line, separated by blanks.
#pragma once

#include "base/expected.hpp"
#include "restart/rm/slurm_calls.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct SlurmSubmission {
    // Options by name, and other kept data of the job ("job", "epoch", ...): no NUL in any.
    std::map<std::string, std::string, std::less<>> words;
    std::vector<std::string> environment; // "NAME=VALUE"
    std::string script;
    bool operator==(const SlurmSubmission&) const = default;

    std::string word(std::string_view name) const;     // "" if there is none
    std::uint64_t number(std::string_view name) const; // 0 if there is none
};

// The options of the job's record. Word "why_not": why they do not suffice to submit it again, if so.
SlurmSubmission submission_of(const job_info_t& job);

// Its script and environment from the folder in which slurmctld keeps them ([slurm.conf] StateSaveLocation).
// Errors (Code::unavailable, Code::input): one cannot be read, they are larger than `most` bytes.
base::Expected<void> read_files(SlurmSubmission& job, const std::string& state_save_location,
                                std::size_t most);

// As one text and back. Errors (Code::input): not such a text.
std::string to_text(const SlurmSubmission& job);
base::Expected<SlurmSubmission> parse_submission(std::string_view text);

// As the record that slurmctld would show, for read_job(); and as what is submitted. They point into the
// submission, which must outlive them.
job_info_t record_of(SlurmSubmission& job);
class SlurmDescription {
public:
    explicit SlurmDescription(SlurmSubmission& job);
    SlurmDescription(const SlurmDescription&) = delete;
    SlurmDescription& operator=(const SlurmDescription&) = delete;
    job_desc_msg_t raw;

private:
    std::vector<std::string> arguments_, of_plugins_;
    std::vector<char*> argv_, environment_, plugins_;
};

} // namespace restart
