// What every program's command line shares: --help, --version, exit statuses and the form of errors on
// standard error: "railtopo: fabric.json:12: what is wrong: the way out".
//
// CLI11 reads it, and only cli.cpp sees CLI11: it costs each file that includes it ten seconds of compiling.
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
    Option* capture_default_str();                              // --help shows the value it has now
    Option* type_name(const std::string& name);                 // as --help shows it
    Option* range(int low, int high);                           // both included
    Option* range(std::size_t low, std::size_t high);
    Option* one_of(std::initializer_list<const char*> allowed); // nothing but these
    Option* repeatable(); // one value each time it is given
    Option* needs(Option* other);
    Option* excludes(Option* other);

    explicit operator bool() const; // was it given? After parsing.

private:
    CLI::Option* option_;
};

// The words of a command: options, flags and commands below it. What they are stored in must outlive the
// parsing.
class Words {
public:
    Words(); // of no program: without --help
    explicit Words(const std::string& about);
    ~Words();

    // T is one of the types named at the end of cli.cpp; a list takes several values.
    template <class T> Option* add_option(const std::string& names, T& value, const std::string& about);
    Option* add_flag(const std::string& names, bool& value, const std::string& about);
    // An option whose text `keep` gets (empty for one without a value); of several the last counts. A hidden
    // one is not shown by --help.
    void add_kept(const std::string& names, std::function<void(std::string)> keep, bool takes_value,
                  const std::string& about, bool hidden);

    Words* add_subcommand(const std::string& name, const std::string& about);
    void require_subcommand(int count);
    void fallthrough(); // options of this command may stand behind the one below it
    explicit operator bool() const; // was this command given? After parsing.

    // Words without a program's name, in their order. Error: Code::usage.
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

    // Parses; true = go on. Otherwise `status` is the exit status: 0 after --help or --version, 2 after a
    // message on wrong usage.
    bool parse(int argc, char** argv, int& status);

    const std::string& name() const { return name_; }

    // Prints "name: text" on standard error and returns the status for the error: 2 for usage, input, io and
    // not_found, else 1.
    int fail(const Error& error) const;

private:
    Words words_;
    std::string name_;
};

// Ends a program whose standard output must have arrived: flushes it and returns `status`, or exit_usage
// with a message when it could not be written (a full disk).
int finish_output(const Cli& cli, int status);

} // namespace base
