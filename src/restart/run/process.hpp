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

    // The words as they are, looked for on PATH; no shell is between. It is sent SIGTERM when railrun dies.
    // Errors: Code::not_found, Code::io with the reason.
    // `output`: where its standard output goes; -1: where railrun's does.
    base::Expected<void> start(const Started& what, int output = -1);

    bool runs() const { return pid_ > 0; }
    void send(int number) const;
    // Its exit status, or 128 and the signal that ended it, once it has ended.
    std::optional<int> reap();

private:
    pid_t pid_ = -1;
};

} // namespace restart::run
