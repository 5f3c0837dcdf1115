// A subcommand of railcheck that tries a part of this host, and its input. To add one, write a class here and
// a row in checks.cpp.
#pragma once

#include "base/cli.hpp"
#include "base/clock.hpp"
#include "check/result.hpp"
#include "restart/watch/rules/expectations.hpp"
#include "restart/watch/rules/rule_book.hpp"
#include "restart/watch/rules/rule_set.hpp"
#include "topo/fabric.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace check {

// The longest that a check of a level takes on a sound part, once started. Level 1 is safe next to a job,
// level 3 needs an idle host.
constexpr base::Duration level_takes(int level) {
    return std::chrono::seconds(level == 1 ? 2 : level == 2 ? 60 : 300);
}

// The input of every check.
struct Request {
    int level = 1; // 1 to 3
    std::optional<base::Duration>
        deadline{}; // of each process, instead of the check's own; below level_takes() it blames no part
    restart::RuleSet rules;
    restart::Limits limits; // what railyard.conf sets for the rules
    restart::Expectations expected;
    std::string host;                   // this host, as named in fabric.json
    topo::Fabric fabric;                // this host alone; no host when it is unknown
    std::filesystem::path sysfs;        // "/sys"
    std::string nvml;                   // the library's name or path
    std::vector<std::string> libraries; // paths to try before the usual names of libcuda, libcublas, libnccl
    std::vector<std::string> mounts;    // named in railyard.conf
    std::function<void(std::string_view)> progress = [](std::string_view) {}; // one phrase, for the user
    int interrupt = -1; // readable once the user interrupts
};

class Check {
public:
    virtual ~Check() = default;
    // Options of this check in addition to the common ones. They are stored in this object.
    virtual void add_options(base::Words&) {}
    // Never throws, never hangs: what may block runs in a child process (apart.hpp). Something that could not
    // be tried is a result that says so.
    virtual std::vector<Result> run(const Request& request) = 0;
};

struct CheckRow {
    std::string_view name;  // of the subcommand
    std::string_view about; // one sentence
    std::unique_ptr<Check> (*make)();
    bool in_all = true; // `railcheck all` runs it; false for checks that need other hosts
};

// In the order of `railcheck all`.
std::span<const CheckRow> checks();

// Sets what is expected of `result.test` for the first of `kinds` ("NVIDIA H100 80GB HBM3", "PCIe 5 x16")
// that has a row, and the verdict: bad below the row's minimum share, or above it for values that should be
// small.
void judge(Result& result, const restart::Expectations& expected, std::span<const std::string> kinds);

} // namespace check
