#include "restart/ctl/enable/show.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart::enable {

std::string show(const Plan& plan) {
    std::string text;
    for (const auto& obstacle : plan.obstacles)
        text += fmt::format("in the way{}: {} [{}]\n    {}\n", obstacle.of_apply ? " of --apply" : "",
                            obstacle.text, obstacle.code, obstacle.fix);
    if (plan.steps.empty()) return text;
    text += plan.part == Part::placement
                ? fmt::format("placement by {}, {}:\n", to_string(plan.way), plan.on ? "on" : "off")
                : fmt::format("{}, {}:\n", plan.part == Part::flags ? "flags of jobs" : "acting",
                              plan.on ? "on" : "off");
    std::size_t number = 0;
    for (const auto& step : plan.steps) {
        text += fmt::format("{:>3}. {} on {}: {}\n", ++number, step.done ? "done" : "to do",
                            step.where == Where::head     ? "the head"
                            : step.where == Where::backup ? "the backup"
                                                          : "all hosts",
                            step.text);
        if (step.done) continue;
        for (std::size_t i = 0; i < step.commands.size(); ++i)
            text += fmt::format("       {}{}\n", step.where == Where::hosts && i > 0 ? "or " : "",
                                step.commands[i]);
        if (step.id == "conf.head" || step.id == "observe.conf")
            for (const auto& change : plan.settings)
                text +=
                    fmt::format("       {}: {} -> {}\n", change.file,
                                change.before.empty() ? "no " + change.key : change.key + "=" + change.before,
                                change.after.empty() ? "no " + change.key : change.key + "=" + change.after);
    }
    for (const auto& note : plan.notes)
        text += fmt::format("note: {}\n", note);
    if (plan.nothing_to_do()) return text + "nothing to do: it is so already\n";
    return text + "nothing has been changed; on the head, --apply does it\n";
}

std::string to_json(const Plan& plan) {
    boost::json::array obstacles, steps, settings, notes;
    for (const auto& obstacle : plan.obstacles)
        obstacles.push_back(boost::json::object{{"code", obstacle.code},
                                                {"text", obstacle.text},
                                                {"fix", obstacle.fix},
                                                {"of_apply", obstacle.of_apply}});
    for (const auto& step : plan.steps) {
        boost::json::array commands;
        for (const auto& command : step.commands)
            commands.emplace_back(command);
        steps.push_back(boost::json::object{{"id", step.id},
                                            {"where", to_string(step.where)},
                                            {"done", step.done},
                                            {"text", step.text},
                                            {"commands", std::move(commands)}});
    }
    for (const auto& change : plan.settings)
        settings.push_back(boost::json::object{
            {"file", change.file}, {"key", change.key}, {"before", change.before}, {"after", change.after}});
    for (const auto& note : plan.notes)
        notes.emplace_back(note);
    return base::to_pretty(boost::json::object{{"v", 1},
                                               {"on", plan.on},
                                               {"part", to_string(plan.part)},
                                               {"way", to_string(plan.way)},
                                               {"done", !plan.steps.empty() && plan.nothing_to_do()},
                                               {"obstacles", std::move(obstacles)},
                                               {"steps", std::move(steps)},
                                               {"settings", std::move(settings)},
                                               {"notes", std::move(notes)}});
}

} // namespace restart::enable
