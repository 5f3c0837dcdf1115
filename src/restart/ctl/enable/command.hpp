// `railctl enable` and `railctl disable` on the command line.
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"

#include <memory>
#include <string>

namespace restart::enable {

class Command {
public:
    // Adds both to the commands of the program, which must outlive it.
    explicit Command(base::Cli& cli);
    ~Command();
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    bool given() const;
    // The exit status. Prints the plan, or with --apply each step as it is done.
    base::Expected<int> run(const std::string& config, const std::string& url, bool json) const;

private:
    struct Typed;
    std::unique_ptr<Typed> typed_;
};

} // namespace restart::enable
