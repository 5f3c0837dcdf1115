// Parses the output of LSF's commands. Pure. What a user chooses (names, commands) is last in a row or is
// searched for after LSF's own text, so that it cannot be mistaken for LSF's text about another job.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct LsfHosts {
    std::vector<std::string> names; // in the order of the job's tasks
    std::uint32_t slots = 0;        // in total
    bool operator==(const LsfHosts&) const = default;
};

// "4*n4:4*n2" and "n4:n4:n2"; "-" is none.
LsfHosts read_hosts(std::string_view text);

// A row of `bjobs -w`.
struct LsfJobRow {
    base::JobId id{}; // its index from the name, which is right only if LSF shows an array's element
    std::string user, state, queue;
    LsfHosts hosts;
    bool operator==(const LsfJobRow&) const = default;
};

// In LSF's order. Lines that are not rows are skipped: notes, and the rest of a job's name with a line break.
// Errors (Code::unfit): the text is not a list of jobs at all.
base::Expected<std::vector<LsfJobRow>> read_job_rows(std::string_view text);

// Whether the last run of a job was ended by a user, an administrator or a limit, by its history (`bhist
// -l`): "Signal <KILL> requested by user or administrator <alice>"; with IBM's LSF also "TERM_OWNER".
bool ended_by_person(std::string_view history);

// A name with a line break may look like the row of another job. For each job that appears twice, or that is
// `odd`, one row is left, at the place of the first: the one from `ask`, which asks LSF for that job alone,
// and none if that is Code::not_found. At most `most` jobs are asked for; the others stay.
void tell_rows_apart(std::vector<LsfJobRow>& rows, std::size_t most,
                     const std::function<bool(const LsfJobRow&)>& odd,
                     const std::function<base::Expected<LsfJobRow>(base::JobId)>& ask);

// Rows of fields in a format requested from LSF 10.1, none of which a user chooses freely:
//
//   bjobs -noheader -o "jobid jobindex stat user queue exec_host delimiter='^'"
//
// (IBM Spectrum LSF 10.1, Command reference: bjobs -o). Errors (Code::unfit): a line that is not a row.
base::Expected<std::vector<LsfJobRow>> read_job_fields(std::string_view text);

// Whether `lsid` names an IBM LSF that has these: 10.1 and newer.
bool has_job_fields(std::string_view lsid);

// One job of `bjobs -UF`, or of -l where lines are not broken.
struct LsfJobDetails {
    base::JobId id{};
    std::string user, title, project, state, queue, command, requirement;
    std::vector<std::string> asked_hosts; // -m, without their weights
    std::uint32_t least = 1, most = 1;    // slots
    std::uint32_t ptile = 0;              // slots a host; 0: not given
    bool rerunnable = false, exclusive = false, interactive = false;
    std::optional<base::Duration> run_limit;
    std::optional<base::Time> submitted, started, done; // done: of one in state DONE
    std::optional<std::uint32_t> exit_code;             // of one in state EXIT
    std::string why;                                    // the first pending reason
    bool operator==(const LsfJobDetails&) const = default;
};

// `now` dates the times, which LSF writes without a year. If a job is described twice neither is returned;
// `alone`: one job was asked for, so that what looks like another comes from its user's texts.
std::map<base::JobId, LsfJobDetails> read_job_details(std::string_view text, base::Time now,
                                                      bool alone = false);

// A row of `bhosts -w`.
struct LsfHostRow {
    std::string name, status;
    std::uint32_t slots = 0, used = 0; // slots 0: no bound
    bool operator==(const LsfHostRow&) const = default;
};
base::Expected<std::vector<LsfHostRow>> read_host_rows(std::string_view text);

// The administrator's notes of `bhosts -l`, by host; "" if there is none.
std::map<std::string, std::string> read_host_notes(std::string_view text);

// Priorities of `bqueues -w`, by queue.
base::Expected<std::map<std::string, std::int64_t>> read_queue_priorities(std::string_view text);

} // namespace restart
