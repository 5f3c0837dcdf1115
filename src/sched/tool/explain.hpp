// railplan place --explain: the options it adds, and what it prints.
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"
#include "sched/outlook.hpp"
#include "sched/place.hpp"

#include <optional>
#include <string>

namespace sched::tool {

struct ExplainOptions {
    bool explain = false;
    std::string jobs, reasons, now;

    void add_to(base::Words& words);

    // Known besides the snapshot. `wish_ends_in`: the wish for the span ends this long after now. Errors:
    // those of base::read_file, parse_holders and parse_reasons; Code::usage for options that need --explain.
    base::Expected<Circumstances> read(const topo::Fabric& fabric,
                                       std::optional<base::Duration> wish_ends_in = {}) const;
};

// Places, explains and prints; returns the exit status.
base::Expected<int> explain_place(const topo::Fabric& fabric, const Snapshot& snapshot,
                                  const Request& request, const Circumstances& circumstances, bool json);

} // namespace sched::tool
