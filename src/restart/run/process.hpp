// The launcher: one child at a time, in railrun's own process group, so that a terminal's signals reach both.
#pragma once

#include "base/expected.hpp"
#include "restart/run/command.hpp"

#include <optional>
#include <string>
#include <sys/types.h>

namespace restart::run {

class Process {
public:
    Process() = default;
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // Runs the words as they are, searched for on PATH, without a shell. It gets SIGTERM when railrun dies.
    // `output`: its standard output; -1: the same as railrun's. Errors: Code::not_found, Code::io with the
    // reason.
    base::Expected<void> start(const Started& what, int output = -1);

    bool runs() const { return pid_ > 0; }
    void send(int number) const;
    // Its exit status, or 128 plus the signal that ended it, once it has ended.
    std::optional<int> reap();

private:
    pid_t pid_ = -1;
};

} // namespace restart::run
