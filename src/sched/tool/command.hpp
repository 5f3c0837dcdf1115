// The commands of railplan(1): each adds itself to the command line, and runs if it was selected.
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"

#include <functional>
#include <vector>

namespace sched::tool {

struct Command {
    base::Words* words = nullptr;             // owned by the parent
    std::function<base::Expected<int>()> run; // returns the exit status
};

Command add_batch(base::Words& parent);
Command add_bench(base::Words& parent);
Command add_compare(base::Words& parent);
Command add_oracle(base::Words& parent);
Command add_place(base::Words& parent);
Command add_simulate(base::Words& parent);

} // namespace sched::tool
