#include "restart/core/facts/rights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace restart {
namespace {

using Answer = Ruling::Answer;

constexpr RmPrivacy everything{true, true, true, true};

// Whether its answers contain anything that is hidden.
bool concerns(const RmPrivacy& hides, Wish wish) {
    return hides.nodes || hides.events || (hides.jobs && wish != Wish::metrics);
}

bool reads_all(const Standing& who) {
    return who.named_operator || (who.rm && who.rm->level >= RmLevel::reads);
}

bool acts(const Standing& who) {
    return who.named_operator || (who.rm && who.rm->level >= RmLevel::acts);
}

// Added when a user is refused whom accounting might have made an operator.
std::string not_asked(const Standing& who, const RmWords& words) {
    if (!who.uid || who.rm) return {};
    return fmt::format("; what accounting grants {} could not be asked: {} does not answer", who.name,
                       words.controller);
}

std::string operators(const RmWords& words) {
    return fmt::format("operators ({}, restartd.operators, restartd.operator_groups)", words.readers);
}

Ruling rule_change(const Standing& who, const RmWords& words) {
    if (!who.uid)
        return {Answer::who, "who asks must be known: a MUNGE credential is needed (railctl sends one)"};
    if (acts(who)) return {Answer::yes, {}};
    return {
        Answer::no,
        fmt::format("{} is not an operator: root, {}, restartd.operators and restartd.operator_groups may "
                    "drain and resume hosts, and pause restartd{}",
                    who.name, words.administrators, not_asked(who, words))};
}

Ruling rule_metrics(const Standing& who, const RmPrivacy& hides, const RmWords& words) {
    const View view{false, 0, {}, hides};
    const auto hidden = fmt::format("{}", fmt::join(view.not_shown(words), " and "));
    constexpr std::string_view way = "a token of restartd.metrics_token (Authorization: Bearer), or a MUNGE "
                                     "credential";
    if (!who.uid)
        return {Answer::who,
                fmt::format("the metrics count what is not shown to everybody: {}: {} of {} is needed",
                            hidden, way, operators(words))};
    return {Answer::no,
            fmt::format("the metrics count what is not shown to {}: {}: {} and who has a token of "
                        "restartd.metrics_token may read them{}",
                        who.name, hidden, operators(words), not_asked(who, words))};
}

} // namespace

bool View::owns(const std::optional<JobOwner>& owner) const {
    if (!owner) return false;
    if (owner->uid == uid) return true;
    return !hides.by_label && !owner->account.empty() &&
           std::find(accounts.begin(), accounts.end(), owner->account) != accounts.end();
}

std::vector<std::string> View::not_shown(const RmWords& words) const {
    std::vector<std::string> list;
    if (all) return list;
    if (hides.jobs) list.push_back(fmt::format("jobs of others ({})", words.private_jobs));
    if (hides.nodes)
        list.push_back(fmt::format("hosts ({})", words.private_nodes));
    else if (hides.events)
        list.push_back(fmt::format("what happened to hosts ({})", words.private_events));
    return list;
}

bool asks_accounting(Wish wish, const Standing& who, const std::optional<RmPrivacy>& hides) {
    if (!who.uid || who.named_operator || (wish == Wish::metrics && who.metrics_token)) return false;
    return wish == Wish::change || !hides || concerns(*hides, wish);
}

Ruling rule(Wish wish, const Standing& who, const std::optional<RmPrivacy>& hides, const RmWords& words) {
    if (wish == Wish::change) return rule_change(who, words);
    if (reads_all(who) || (wish == Wish::metrics && who.metrics_token)) return {Answer::yes, {}};
    if (!who.uid && !who.open)
        return {Answer::who,
                fmt::format("reading from another machine needs a MUNGE credential (railctl sends one){}, or "
                            "restartd.open_reading",
                            wish == Wish::metrics ? ", a token of restartd.metrics_token" : "")};
    if (!hides)
        return {
            Answer::not_yet,
            fmt::format("whose jobs and hosts are private is not known before {} has answered: until then "
                        "{} alone may read",
                        words.controller, operators(words))};
    if (!concerns(*hides, wish)) return {Answer::yes, {}};
    if (wish == Wish::metrics) return rule_metrics(who, *hides, words);
    View view{false, 0, {}, *hides};
    if (!who.uid)
        return {Answer::who,
                fmt::format("not shown to everybody: {}: a MUNGE credential is needed (railctl sends one)",
                            fmt::join(view.not_shown(words), " and "))};
    view.uid = *who.uid;
    if (who.rm) view.accounts = who.rm->accounts;
    if (wish == Wish::explain_host && hides->nodes)
        return {Answer::no, fmt::format("hosts are not shown to {}: {}: {} may see them{}", who.name,
                                        words.private_nodes, operators(words), not_asked(who, words))};
    if (wish == Wish::rates && !view.sees_events())
        return {Answer::no, fmt::format("rates tell what is not shown to {}: {}: {} may see them{}", who.name,
                                        hides->nodes ? words.private_nodes : words.private_events,
                                        operators(words), not_asked(who, words))};
    return {Answer::yes, {}, std::move(view)};
}

std::string no_such_job(std::string_view job, const View& view, const RmWords& words) {
    return fmt::format(
        "no job {} is shown to this user, whether there is one or not: {}: its owner{} and {} may "
        "see it",
        job, words.private_jobs,
        view.hides.by_label ? std::string() : fmt::format(", {}", words.coordinators), operators(words));
}

View view_of_owner(const JobOwner& owner, const std::optional<RmPrivacy>& hides) {
    return {false, owner.uid, {}, hides.value_or(everything)};
}

} // namespace restart
