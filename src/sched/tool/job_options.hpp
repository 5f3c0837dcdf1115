// A job's options as sbatch has them, read from railplan's command line, from the #SBATCH lines of a script
// or from a line of a batch; and the request they make.
//
// Options of sbatch that decide nothing here are accepted, so that a real script can be replayed, and named:
// those that would have narrowed the candidates inside Slurm (a partition, a constraint) separately, since
// their effect belongs into the state.
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
    Request request;                            // a span whose wait is over is not in it
    std::optional<std::uint32_t> switches;      // --switches, while it is still waited for
    std::optional<base::Duration> wish_ends_in; // the span of the request is a wish for so long still
    std::string refusal; // it would be refused at submit as it can never run; empty: it would not
    std::vector<std::string> remarks; // which options were ignored, and notes as at submit
};

class JobOptions {
public:
    // Adds the options to a command; *this must live until the command line was parsed. With `script`,
    // --script too.
    void add_to(base::Words& words, bool script = true);

    // The options of a line of text, split as a #SBATCH line is. `where` ("jobs.txt:3") opens each error
    // (Code::usage).
    static base::Expected<JobOptions> parse(std::string_view line, const std::string& where);

    // Options of `other` that were not given here.
    void fill(const JobOptions& other);

    // `otherwise`: how many nodes where neither --nodes nor tasks determine it; 0: as many as --nodelist
    // names. Errors: Code::usage and Code::input for what sbatch would refuse or the fabric does not have;
    // those of reading --script and node files.
    base::Expected<Job> resolve(const topo::Fabric& fabric, std::uint32_t otherwise = 0) const;

private:
    struct Reading;
    const std::string* find(std::string_view key) const;
    bool has(std::string_view key) const { return find(key) != nullptr; }

    std::map<std::string, std::string, std::less<>> given_; // by long name without dashes
};

// Each remark a line on standard error.
void print_remarks(const Job& job);

// placer.place(…), held to --switches. Errors: those of place().
base::Expected<Placement> place_job(const Placer& placer, const Snapshot& snapshot, const Job& job);

} // namespace sched::tool
