// A job's options in sbatch's syntax, read from railplan's command line, from the #SBATCH lines of a script
// or from a line of a batch file; and the resulting request.
//
// Options of sbatch that do not matter here are accepted, so that real scripts can be replayed, and listed;
// separately those that narrow the candidates inside Slurm (a partition, a constraint), whose effect belongs
// into the state.
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"
#include "sched/ask/hints.hpp"
#include "sched/ask/request.hpp"
#include "sched/place.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::tool {

struct Job {
    Hints hints;
    Request request;                            // without the span if its wait is over
    std::optional<std::uint32_t> switches;      // --switches, while it is still in effect
    std::optional<base::Duration> wish_ends_in; // the span of the request remains a wish for this long
    std::string refusal; // it would be rejected at submission because it can never run; empty: it would not
    std::vector<std::string> remarks; // ignored options, and notes as at submission
};

class JobOptions {
public:
    // Adds the options to a command; *this must exist until the command line is parsed. With `script`, also
    // --script.
    void add_to(base::Words& words, bool script = true);

    // Parses the options in a line of text, split like a #SBATCH line. `where` ("jobs.txt:3") begins each
    // error (Code::usage).
    static base::Expected<JobOptions> parse(std::string_view line, const std::string& where);

    // Adds options of `other` that were not given here.
    void fill(const JobOptions& other);

    // `otherwise`: the number of nodes if neither --nodes nor tasks determine it; 0: as many as --nodelist
    // names. Errors: Code::usage and Code::input for what sbatch would reject or the fabric does not have;
    // those of reading --script and node files.
    base::Expected<Job> resolve(const topo::Fabric& fabric, std::uint32_t otherwise = 0) const;

private:
    struct Reading;
    const std::string* find(std::string_view key) const;
    bool has(std::string_view key) const { return find(key) != nullptr; }

    std::map<std::string, std::string, std::less<>> given_; // by long name without dashes
};

// Prints one remark per line on standard error.
void print_remarks(const Job& job);

// placer.place(…), restricted by --switches. Errors: those of place().
base::Expected<Placement> place_job(const Placer& placer, const Snapshot& snapshot, const Job& job);

} // namespace sched::tool
