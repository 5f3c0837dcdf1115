// The commands of railplan(1): each adds itself to the command line and is run when it was named.
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"

#include <functional>
#include <vector>

namespace sched::tool {

struct Command {
    CLI::App* words = nullptr;                // owned by the parent
    std::function<base::Expected<int>()> run; // returns the exit status
};

Command add_batch(CLI::App& parent);
Command add_bench(CLI::App& parent);
Command add_compare(CLI::App& parent);
Command add_oracle(CLI::App& parent);
Command add_place(CLI::App& parent);

} // namespace sched::tool
