#include "restart/core/facts/rights.hpp"

#include "restart/rm/slurm_words.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace restart;
using Answer = Ruling::Answer;

namespace {

constexpr std::uint32_t alice = 1001, bob = 1002;
const RmWords words = slurm_words();

constexpr RmPrivacy none{}, jobs{.jobs = true}, nodes{.nodes = true}, events{.events = true},
    labels{.jobs = true, .by_label = true};

Standing nobody(bool open) {
    Standing who;
    who.open = open;
    return who;
}
Standing user(RmLevel level = RmLevel::none, std::vector<std::string> accounts = {}) {
    Standing who;
    who.uid = alice;
    who.name = "alice";
    who.rm = RmUser{level, std::move(accounts)};
    return who;
}
Standing unasked() {
    auto who = user();
    who.rm.reset();
    return who;
}
Standing named() {
    auto who = unasked();
    who.named_operator = true;
    return who;
}
Standing scraper() {
    Standing who;
    who.metrics_token = true;
    return who;
}

std::string word(Wish wish) {
    switch (wish) {
    case Wish::change: return "change";
    case Wish::status: return "status";
    case Wish::explain_job: return "explain job";
    case Wish::explain_host: return "explain host";
    case Wish::history: return "history";
    case Wish::rates: return "rates";
    case Wish::metrics: break;
    }
    return "metrics";
}

} // namespace

TEST_CASE("who may ask what") {
    // Of: change, status, explain job, explain host, history, rates, metrics. y: yes, all; v: as far as a
    // view goes; w: who asks must say so; n: no; -: not yet
    struct Row {
        const char* who;
        Standing standing;
        std::optional<RmPrivacy> hides;
        const char* answers;
    };
    const Row rows[] = {
        {"nobody, here", nobody(true), none, "wyyyyyy"},
        {"nobody, here", nobody(true), jobs, "wwwwwwy"},
        {"nobody, here", nobody(true), nodes, "wwwwwww"},
        {"nobody, here", nobody(true), events, "wwwwwww"},
        {"nobody, here", nobody(true), {}, "w------"},
        {"nobody, elsewhere", nobody(false), none, "wwwwwww"},
        {"nobody, elsewhere", nobody(false), {}, "wwwwwww"},
        {"a user", user(), none, "nyyyyyy"},
        {"a user", user(), jobs, "nvvvvvy"},
        {"a user", user(), nodes, "nvvnvnn"},
        {"a user", user(), events, "nvvvvnn"},
        {"a user", user(), {}, "n------"},
        {"a coordinator", user(RmLevel::none, {"physics"}), jobs, "nvvvvvy"},
        {"a coordinator", user(RmLevel::none, {"physics"}), nodes, "nvvnvnn"},
        {"a user whom accounting could not be asked about", unasked(), jobs, "nvvvvvy"},
        {"a user whom accounting could not be asked about", unasked(), nodes, "nvvnvnn"},
        {"an operator of accounting", user(RmLevel::reads), none, "nyyyyyy"},
        {"an operator of accounting", user(RmLevel::reads), nodes, "nyyyyyy"},
        {"an operator of accounting", user(RmLevel::reads), {}, "nyyyyyy"},
        {"an administrator of accounting", user(RmLevel::acts), none, "yyyyyyy"},
        {"an administrator of accounting", user(RmLevel::acts), nodes, "yyyyyyy"},
        {"an administrator of accounting", user(RmLevel::acts), {}, "yyyyyyy"},
        {"a named operator", named(), none, "yyyyyyy"},
        {"a named operator", named(), nodes, "yyyyyyy"},
        {"a named operator", named(), {}, "yyyyyyy"},
        {"Prometheus, with a token", scraper(), none, "wwwwwwy"},
        {"Prometheus, with a token", scraper(), nodes, "wwwwwwy"},
        {"Prometheus, with a token", scraper(), {}, "wwwwwwy"},
    };
    for (const auto& row : rows) {
        std::size_t column = 0;
        for (const auto wish : {Wish::change, Wish::status, Wish::explain_job, Wish::explain_host,
                                Wish::history, Wish::rates, Wish::metrics}) {
            const auto ruling = rule(wish, row.standing, row.hides, words);
            const char got = ruling.answer == Answer::yes       ? (ruling.view.all ? 'y' : 'v')
                             : ruling.answer == Answer::who     ? 'w'
                             : ruling.answer == Answer::not_yet ? '-'
                                                                : 'n';
            INFO(row.who << ", " << word(wish) << ", hidden: "
                         << (!row.hides          ? "not known"
                             : row.hides->jobs   ? "jobs"
                             : row.hides->nodes  ? "nodes"
                             : row.hides->events ? "events"
                                                 : "nothing"));
            CHECK(got == row.answers[column++]);
            CHECK(ruling.text.empty() == (ruling.answer == Answer::yes)); // who may, and how
        }
    }
}

TEST_CASE("accounting is asked only where it decides") {
    for (const auto wish : {Wish::change, Wish::status, Wish::metrics}) {
        CHECK_FALSE(asks_accounting(wish, nobody(true), jobs));
        CHECK_FALSE(asks_accounting(wish, named(), nodes));
        CHECK(asks_accounting(wish, unasked(), nodes));
        CHECK(asks_accounting(wish, unasked(), {}));
    }
    CHECK(asks_accounting(Wish::change, unasked(), none));
    CHECK_FALSE(asks_accounting(Wish::status, unasked(), none));
    CHECK_FALSE(asks_accounting(Wish::metrics, unasked(), jobs)); // they name no job
    CHECK_FALSE(asks_accounting(Wish::metrics, scraper(), nodes));
}

TEST_CASE("whose jobs one sees") {
    const JobOwner own{alice, "chemistry"}, other{bob, "physics"}, without_account{bob, ""};
    struct Row {
        const char* who;
        Standing standing;
        RmPrivacy hides;
        bool own, other, without_account, unknown;
    };
    const Row rows[] = {
        {"a user", user(), none, true, true, true, true},
        {"a user", user(), jobs, true, false, false, false},
        {"a user", user(), labels, true, false, false, false},
        {"a user", user(), nodes, true, true, true, true},
        {"a coordinator", user(RmLevel::none, {"biology", "physics"}), jobs, true, true, false, false},
        {"a coordinator", user(RmLevel::none, {"biology", "physics"}), labels, true, false, false, false},
        {"a coordinator of nothing of the kind", user(RmLevel::none, {"", "phys"}), jobs, true, false, false,
         false},
        {"an operator", user(RmLevel::reads), jobs, true, true, true, true},
        {"a named operator", named(), labels, true, true, true, true},
    };
    for (const auto& row : rows) {
        INFO(row.who);
        const auto view = rule(Wish::explain_job, row.standing, row.hides, words).view;
        CHECK(view.sees_job(own) == row.own);
        CHECK(view.sees_job(other) == row.other);
        CHECK(view.sees_job(without_account) == row.without_account);
        CHECK(view.sees_job(std::nullopt) == row.unknown);
    }
}

TEST_CASE("what is kept from one is said") {
    const auto hidden = [](const Standing& who, const RmPrivacy& hides) {
        return rule(Wish::status, who, hides, words).view.not_shown(words);
    };
    CHECK(hidden(user(), none).empty());
    CHECK(hidden(named(), {true, true, true, false}).empty());
    CHECK(hidden(user(), jobs) ==
          std::vector<std::string>{"jobs of others (PrivateData=jobs in slurm.conf)"});
    CHECK(hidden(user(), {true, true, true, false}).back() == "hosts (PrivateData=nodes in slurm.conf)");
    CHECK(hidden(user(), events).front() == "what happened to hosts (PrivateData=events in slurm.conf)");
}

TEST_CASE("what happened to hosts is seen by those who see hosts and their past") {
    const auto view = [](const RmPrivacy& hides) { return rule(Wish::history, user(), hides, words).view; };
    const JobOwner own{alice, ""}, other{bob, ""};
    CHECK(view(jobs).sees_events());
    CHECK_FALSE(view(events).sees_events());
    CHECK(view(events).sees_hosts());
    CHECK_FALSE(view(nodes).sees_events());
    // A job's story tells of its hosts: only one's own then, also where jobs are not private.
    CHECK(view(events).sees_job(other));
    CHECK_FALSE(view(events).sees_story(other));
    CHECK(view(events).sees_story(own));
    CHECK(view(jobs).sees_story(own));
    CHECK_FALSE(view(jobs).sees_story(other));
}

TEST_CASE("a job's owner sees no more where it is not known what is hidden") {
    const auto view = view_of_owner({alice, "physics"}, {});
    CHECK(view.sees_job(JobOwner{alice, ""}));
    CHECK_FALSE(view.sees_job(JobOwner{bob, "physics"}));
    CHECK_FALSE(view.sees_hosts());
    CHECK(view_of_owner({alice, "physics"}, none).sees_job(JobOwner{bob, "physics"}));
}

TEST_CASE("refusals say who may, and how") {
    CHECK(rule(Wish::change, user(), none, words).text ==
          "alice is not an operator: root, SlurmUser, AdminLevel=Administrator in sacctmgr, "
          "restartd.operators and "
          "restartd.operator_groups may drain and resume hosts, and pause restartd");
    CHECK(
        rule(Wish::change, unasked(), none, words)
            .text.ends_with("; what accounting grants alice could not be asked: slurmctld does not answer"));
    CHECK(rule(Wish::explain_host, user(), nodes, words).text ==
          "hosts are not shown to alice: PrivateData=nodes in slurm.conf: operators (AdminLevel=Operator in "
          "sacctmgr, restartd.operators, restartd.operator_groups) may see them");
    CHECK(rule(Wish::metrics, nobody(true), nodes, words).text.find("restartd.metrics_token") !=
          std::string::npos);
    CHECK(rule(Wish::status, nobody(true), jobs, words).text ==
          "not shown to everybody: jobs of others (PrivateData=jobs in slurm.conf): a MUNGE credential is "
          "needed "
          "(railctl sends one)");
    CHECK(no_such_job("12", view_of_owner({alice, ""}, jobs), words) ==
          "no job 12 is shown to this user, whether there is one or not: PrivateData=jobs in slurm.conf: its "
          "owner, "
          "coordinators of its account (sacctmgr) and operators (AdminLevel=Operator in sacctmgr, "
          "restartd.operators, restartd.operator_groups) may see it");
    CHECK(no_such_job("12", view_of_owner({alice, ""}, labels), words).find("coordinators") ==
          std::string::npos);
}
