#include "base/cli.hpp"

#include "base/standard_files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <railyard_config.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

namespace base {

// --- options ---

Option* Option::required() {
    option_->required();
    return this;
}

Option* Option::capture_default_str() {
    option_->capture_default_str();
    return this;
}

Option* Option::type_name(const std::string& name) {
    option_->type_name(name);
    return this;
}

Option* Option::range(int low, int high) {
    option_->check(CLI::Range(low, high));
    return this;
}

Option* Option::range(std::size_t low, std::size_t high) {
    option_->check(CLI::Range(low, high));
    return this;
}

Option* Option::one_of(std::initializer_list<const char*> allowed) {
    option_->check(CLI::IsMember(std::vector<std::string>(allowed.begin(), allowed.end())));
    return this;
}

Option* Option::repeatable() {
    option_->expected(1)->take_all();
    return this;
}

Option* Option::needs(Option* other) {
    option_->needs(other->option_);
    return this;
}

Option* Option::excludes(Option* other) {
    option_->excludes(other->option_);
    return this;
}

Option::operator bool() const {
    return option_->count() > 0;
}

// --- words ---

Words::Words(const std::string& about) : own_(std::make_unique<CLI::App>(about)), app_(own_.get()) {}
Words::Words() : Words(std::string()) {
    app_->set_help_flag();
}
Words::Words(CLI::App* app) : app_(app) {}
Words::~Words() = default;

Option* Words::keep(CLI::Option* option) {
    return options_.emplace_back(std::make_unique<Option>(option)).get();
}

template <class T> Option* Words::add_option(const std::string& names, T& value, const std::string& about) {
    return keep(app_->add_option(names, value, about));
}

Option* Words::add_flag(const std::string& names, bool& value, const std::string& about) {
    return keep(app_->add_flag(names, value, about));
}

void Words::add_kept(const std::string& names, std::function<void(std::string)> keep, bool takes_value,
                     const std::string& about, bool hidden) {
    const auto take = [keep = std::move(keep)](const CLI::results_t& values) {
        keep(values.empty() ? std::string() : values.back());
        return true;
    };
    auto* option = app_->add_option(names, take, about);
    if (takes_value)
        option->type_name("TEXT");
    else
        option->type_size(0)->expected(0);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (hidden) option->group("");
}

Words* Words::add_subcommand(const std::string& name, const std::string& about) {
    return commands_.emplace_back(new Words(app_->add_subcommand(name, about))).get();
}

void Words::require_subcommand(int count) {
    app_->require_subcommand(count);
}

void Words::fallthrough() {
    app_->fallthrough();
}

Words::operator bool() const {
    return app_->parsed();
}

Expected<void> Words::parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end()); // the order that CLI11 expects
    try {
        app_->parse(words);
    } catch (const CLI::ParseError& wrong) {
        return Error{Code::usage, wrong.what()};
    }
    return {};
}

// --- a program's ---

namespace {

// CLI11's help wrapped to the width of a terminal: longer text continues below its description.
std::string wrapped(const std::string& help) {
    constexpr std::size_t width = 80;
    std::string out;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
        const auto first = std::min(line.find_first_not_of(' '), line.size());
        // Two spaces separate an option from its description.
        const auto gap = line.find("  ", first);
        auto indent = gap == std::string::npos ? first : line.find_first_not_of(' ', gap);
        if (indent == std::string::npos || indent > width / 2) indent = first;
        while (line.size() > width) {
            auto at = line.rfind(' ', width);
            if (at == std::string::npos || at <= indent) at = line.find(' ', width);
            if (at == std::string::npos) break;
            out += line.substr(0, at) + '\n';
            line.erase(0, line.find_first_not_of(' ', at));
            line.insert(0, indent, ' ');
        }
        out += line + '\n';
    }
    return out;
}

} // namespace

Cli::Cli(std::string name, std::string about, std::string manual) : words_(about), name_(std::move(name)) {
    open_standard_files();
    auto& app = words_.app();
    app.name(name_);
    app.set_version_flag("--version", fmt::format("{} (railyard) {}", name_, PACKAGE_VERSION),
                         "Print the version and exit");
    app.set_help_flag("--help", "Print this help and exit");
    app.footer(fmt::format("Exit status: 0 done, 1 a finding or a request that does not fit, 2 wrong usage "
                           "or unreadable input.\n"
                           "Manual: {}",
                           manual));
    app.get_formatter()->column_width(34);
}

bool Cli::parse(int argc, char** argv, int& status) {
    try {
        words_.app().parse(argc, argv);
        return true;
    } catch (const CLI::Success& done) { // --help and --version
        std::ostringstream text;
        words_.app().exit(done, text, std::cerr);
        std::cout << wrapped(text.str());
        status = finish_output(*this, exit_done);
    } catch (const CLI::ParseError& wrong) {
        fmt::print(stderr, "{}: {}\n{}: see {} --help\n", name_, wrong.what(), name_, name_);
        status = exit_usage;
    }
    return false;
}

int Cli::fail(const Error& error) const {
    fmt::print(stderr, "{}: {}\n", name_, error.text);
    const bool usage = error.code == Code::usage || error.code == Code::input ||
                       error.code == Code::not_found || error.code == Code::io;
    return usage ? exit_usage : exit_finding;
}

int finish_output(const Cli& cli, int status) {
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout)
        return cli.fail(system_error("standard output", errno != 0 ? errno : EIO));
    return status;
}

// The types that an option may be stored in.
template Option* Words::add_option(const std::string&, std::string&, const std::string&);
template Option* Words::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* Words::add_option(const std::string&, int&, const std::string&);
template Option* Words::add_option(const std::string&, std::uint32_t&, const std::string&);
template Option* Words::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* Words::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option* Words::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option* Words::add_option(const std::string&, std::optional<std::size_t>&, const std::string&);

} // namespace base
