// What the command lines of all programs share: --help, --version, exit statuses and the form of errors on
// standard error: "railtopo: fabric.json:12: problem: what to do".
//
// CLI11 parses it; only cli.cpp includes it: it adds ten seconds to a file's compile time.
#pragma once

#include "base/expected.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace base {

enum Exit { exit_done = 0, exit_finding = 1, exit_usage = 2 };

// An option or positional argument; its Words own it. Each setter returns the option itself.
class Option {
public:
    explicit Option(CLI::Option* option) : option_(option) {}

    Option* required();
    Option* capture_default_str();              // --help shows its current value as the
                                                // default
    Option* type_name(const std::string& name); // shown by --help
    Option* range(int low, int high);           // inclusive
    Option* range(std::size_t low, std::size_t high);
    Option* one_of(std::initializer_list<const char*> allowed); // only these values
    Option* repeatable();                                       // takes one value each time it is given
    Option* needs(Option* other);
    Option* excludes(Option* other);

    explicit operator bool() const; // true if it was given; valid after parsing

private:
    CLI::Option* option_;
};

// A command's arguments: its options, flags and subcommands. The variables that store them must outlive
// parsing.
class Words {
public:
    Words(); // without a program: no --help
    explicit Words(const std::string& about);
    ~Words();

    // T is one of the types listed at the end of cli.cpp; a list takes several values.
    template <class T> Option* add_option(const std::string& names, T& value, const std::string& about);
    Option* add_flag(const std::string& names, bool& value, const std::string& about);
    // An option whose text is passed to `keep` (empty without a value); the last one counts. A hidden one is
    // not shown by --help.
    void add_kept(const std::string& names, std::function<void(std::string)> keep, bool takes_value,
                  const std::string& about, bool hidden);

    Words* add_subcommand(const std::string& name, const std::string& about);
    void require_subcommand(int count);
    void fallthrough();             // options of this command may follow the subcommand
    explicit operator bool() const; // true if this command was given; valid after parsing

    // Parses the words, in order, without a program name. Error: Code::usage.
    Expected<void> parse(std::vector<std::string> words);

private:
    friend class Cli;
    explicit Words(CLI::App* app); // a command, owned by its parent
    CLI::App& app() { return *app_; }

    Option* keep(CLI::Option* option);

    std::unique_ptr<CLI::App> own_;
    CLI::App* app_;
    std::vector<std::unique_ptr<Option>> options_;
    std::vector<std::unique_ptr<Words>> commands_;
};

class Cli {
public:
    // `name` as typed, `about` one sentence. `manual` names the page: "railtopo(1)".
    Cli(std::string name, std::string about, std::string manual);

    Words& words() { return words_; }
    Words* operator->() { return &words_; }

    // Parses; true: continue. Otherwise `status` is the exit status: 0 after --help or --version, 2 after a
    // message about wrong usage.
    bool parse(int argc, char** argv, int& status);

    const std::string& name() const { return name_; }

    // Prints "name: text" on standard error and returns the status for the error: 2 for usage, input, io and
    // not_found, else 1.
    int fail(const Error& error) const;

private:
    Words words_;
    std::string name_;
};

// For a program whose standard output must arrive: flushes it and returns `status`, or exit_usage with a
// message if it could not be written (a full disk).
int finish_output(const Cli& cli, int status);

} // namespace base
