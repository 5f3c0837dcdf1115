#include "restart/ctl/enable/acting.hpp"

#include "base/conf.hpp"
#include "restart/ctl/doctor/checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::enable {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// The first word of a line, up to blanks, = and comments.
std::string_view word_of(std::string_view line) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return line.substr(begin, line.find_first_of(" \t=#\r", begin) - begin);
}

std::string with_line(const std::string& text, std::string_view value) {
    bool inside = false;
    std::size_t after_header = std::string::npos;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        const auto line = std::string_view(text).substr(begin, end - begin);
        const auto word = word_of(line);
        if (word.starts_with("[")) {
            inside = word == "[restartd]";
            if (inside) after_header = std::min(end + 1, text.size());
        } else if (inside && word == "observe_only") {
            const auto equals = line.find('=');
            const auto from =
                equals == std::string_view::npos ? equals : line.find_first_not_of(" \t", equals + 1);
            if (from == std::string_view::npos) return text;
            const auto to = std::min(line.find_first_of(" \t#\r", from), line.size());
            return text.substr(0, begin + from) + std::string(value) + text.substr(begin + to);
        }
        begin = end + 1;
    }
    const auto setting = fmt::format("observe_only = {}\n", value);
    const bool open = !text.empty() && text.back() != '\n';
    if (after_header == std::string::npos) return text + (open ? "\n" : "") + "[restartd]\n" + setting;
    const bool last = after_header == text.size() && open;
    return text.substr(0, after_header) + (last ? "\n" : "") + setting + text.substr(after_header);
}

} // namespace

Expected<std::string> with_observe_only(const std::string& text, bool observe_only) {
    auto changed = with_line(text, observe_only ? "true" : "false");
    const auto read = base::Conf::from_text(changed, "railyard.conf", {base::ConfTable::restartd});
    if (!read || read->restartd.observe_only != observe_only)
        return Error{Code::unfit,
                     fmt::format("[restartd] observe_only cannot be found in railyard.conf: write "
                                 "observe_only = {} there by hand",
                                 observe_only)};
    return changed;
}

Plan plan_acting(const Facts& facts, const Wish& wish) {
    Plan plan;
    plan.on = wish.on;
    plan.part = wish.part;
    const bool observe = !wish.on;
    const auto& path = facts.railyard_conf;
    const auto text = facts.railyard_text.value_or("");
    // A restartd that does not answer cannot be made to act; to make it only observe, the file is enough.
    const bool answers = facts.doctor.status.has_value();
    const bool runs_so = answers && facts.doctor.status->observe_only == observe;
    const bool written =
        facts.doctor.config_error.empty() && facts.doctor.conf.restartd.observe_only == observe;
    if (!written) {
        if (auto changed = with_observe_only(text, observe); !changed)
            plan.obstacles.push_back({"conf.unclear", changed.error().text, "then run this again"});
        else
            plan.files.push_back({path, facts.railyard_text, *changed});
        plan.settings.push_back(
            {path, "observe_only", observe ? "false" : "true", observe ? "true" : "false"});
    }
    plan.steps = {
        {"observe.conf", Where::head, written, fmt::format("{} has observe_only = {}", path, observe), {}},
        {"restartd.reload",
         Where::head,
         written && runs_so,
         "restartd reads it",
         {"systemctl reload restartd"}},
        {"verify",
         Where::head,
         written && runs_so,
         observe ? "restartd records what it would do, and does nothing" : "restartd drains and requeues",
         {"railctl status"}}};
    if (wish.on) {
        plan.notes.emplace_back(
            "railctl history tells what it would have done so far; railctl disable acting is the way back");
        for (const auto& complaint : doctor::complaints(facts.doctor, false)) {
            if (complaint.weight == doctor::Weight::error)
                plan.obstacles.push_back({complaint.code, complaint.text, complaint.fix});
            else if (complaint.weight == doctor::Weight::warning)
                plan.notes.push_back(fmt::format("{} ({})", complaint.text, complaint.fix));
        }
    }
    if (!facts.root)
        plan.obstacles.push_back({"apply.root", "only root may change railyard.conf", "sudo", true});
    if (!facts.railyard_unsafe.empty())
        plan.obstacles.push_back({"apply.unsafe", facts.railyard_unsafe, "then run this again", true});
    return plan;
}

} // namespace restart::enable
