#include "restart/ctl/doctor/show.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace restart::doctor {

std::string show(const std::vector<Complaint>& complaints, const base::Look& look) {
    std::string text;
    std::array<std::size_t, 3> count{};
    for (const auto weight : {Weight::error, Weight::warning, Weight::note})
        for (const auto& complaint : complaints) {
            if (complaint.weight != weight) continue;
            ++count.at(static_cast<std::size_t>(weight));
            const auto tint = weight == Weight::error     ? base::Tint::bad
                              : weight == Weight::warning ? base::Tint::doubtful
                                                          : base::Tint::none;
            text +=
                fmt::format("{}: {} [{}]\n    {}\n", base::tinted(std::string(to_string(weight)), tint, look),
                            complaint.text, complaint.code, complaint.fix);
        }
    if (complaints.empty()) return "nothing is wrong\n";
    return text + fmt::format("{} error{}, {} warning{}, {} note{}\n", count[0], count[0] == 1 ? "" : "s",
                              count[1], count[1] == 1 ? "" : "s", count[2], count[2] == 1 ? "" : "s");
}

std::string to_json(const std::vector<Complaint>& complaints) {
    boost::json::array findings;
    for (const auto& complaint : complaints)
        findings.push_back(boost::json::object{{"code", complaint.code},
                                               {"weight", to_string(complaint.weight)},
                                               {"text", complaint.text},
                                               {"fix", complaint.fix}});
    return base::to_pretty(boost::json::object{{"v", 1}, {"findings", std::move(findings)}});
}

} // namespace restart::doctor
