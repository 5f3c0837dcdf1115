#include "restart/ctl/doctor/checks.hpp"
#include "restart/ctl/doctor/lsf.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

using namespace restart;
using namespace restart::doctor;
using namespace std::chrono_literals;

namespace {

HostStatus host(const std::string& name) {
    HostStatus made;
    made.name = name;
    made.state = "ok";
    made.agent.last_report = base::now();
    return made;
}

// A cluster of two under LSF with nothing wrong.
Facts sound() {
    Facts facts;
    facts.config_source = "configuration: /etc/railyard/railyard.conf";
    facts.conf.restartd.resource_manager = "lsf";
    facts.conf.restartd.url = {"http://10.0.0.1:8917"};
    facts.conf.restartd.observe_only = false;
    facts.conf.restartd.user = "lsfadmin";
    facts.conf.agent.cut_off_after = std::chrono::seconds(20);
    facts.conf.lsf.parking_queues = {"gang", "biggang"};
    facts.conf.lsf.run_queue = "gangrun";
    facts.nodes = {"n1", "n2"};
    facts.fabric.hosts = facts.nodes;
    facts.fabric.age = 24h;
    auto& lsf = facts.lsf;
    for (const char* name : {"gang", "biggang"})
        lsf.queues[name] = {"", "select[planned>0]", "all", true};
    lsf.queues["gangrun"] = {"", "", "lsfadmin", true};
    lsf.timing = {{"MBD_SLEEP_TIME", "2"}, {"SBD_SLEEP_TIME", "2"}, {"JOB_TERMINATE_INTERVAL", "10"}};
    lsf.planned = {{"n1", "0.0"}, {"n2", "0.0"}, {"master", "-"}};
    lsf.conf_path = "/conf/lsf.conf";
    lsf.conf = {{"LSB_SUB_COMMANDNAME", "Y"}};
    lsf.esub = "/lsf/etc/esub.rail";
    lsf.esub_runs = true;
    Status status;
    status.resource_manager.answers = true;
    for (const auto& name : facts.nodes)
        status.hosts.push_back(host(name));
    facts.status = std::move(status);
    return facts;
}

struct Mistake {
    const char* code;
    Weight weight;
    const char* text; // a part of the sentence
    std::function<void(Facts&)> plant;
};

const std::vector<Mistake> mistakes = {
    {"config.user", Weight::error, "is empty",
     [](Facts& f) {
         f.conf.restartd.user.clear();
         f.lsf.error = "lsid: failed"; // whom the run queue must admit is not known without
     }},
    {"lsf.away", Weight::error, "lsid: failed", [](Facts& f) { f.lsf.error = "lsid: failed"; }},
    {"lsf.no_parking", Weight::error, "biggang",
     [](Facts& f) { f.lsf.queues["biggang"].error = "No such queue"; }},
    {"lsf.parking_starts", Weight::error, "has no RES_REQ",
     [](Facts& f) { f.lsf.queues["gang"].res_req = ""; }},
    {"lsf.parking_starts", Weight::error, "RES_REQ select[mem>9]",
     [](Facts& f) { f.lsf.queues["gang"].res_req = "select[mem>9]"; }},
    {"lsf.not_rerunnable", Weight::note, "gang", [](Facts& f) { f.lsf.queues["gang"].rerunnable = false; }},
    {"lsf.no_run_queue", Weight::error, "gangrun",
     [](Facts& f) { f.lsf.queues["gangrun"].error = "No such queue"; }},
    {"lsf.run_queue_open", Weight::error, "all users",
     [](Facts& f) { f.lsf.queues["gangrun"].users = "all"; }},
    {"lsf.run_queue_closed", Weight::error, "of root and not of",
     [](Facts& f) { f.lsf.queues["gangrun"].users = "root"; }},
    {"lsf.run_queue_shared", Weight::warning, "also takes jobs of alice",
     [](Facts& f) { f.lsf.queues["gangrun"].users = "lsfadmin alice"; }},
    {"lsf.no_planned", Weight::error, "no index", [](Facts& f) { f.lsf.has_planned = false; }},
    {"lsf.planned_set", Weight::error, "n2", [](Facts& f) { f.lsf.planned["n2"] = "1.0"; }},
    {"lsf.elim_silent", Weight::warning, "n1", [](Facts& f) { f.lsf.planned["n1"] = "-"; }},
    {"lsf.esub_missing", Weight::error, "/lsf/etc/esub.rail", [](Facts& f) { f.lsf.esub_runs = false; }},
    {"lsf.no_commandname", Weight::error, "/conf/lsf.conf", [](Facts& f) { f.lsf.conf.clear(); }},
    {"lsf.no_commandname", Weight::error, "lacks", [](Facts& f) { f.lsf.conf["LSB_SUB_COMMANDNAME"] = "N"; }},
    {"lsf.conf_unread", Weight::note, "no such file",
     [](Facts& f) { f.lsf.conf_error = "lsf.conf: no such file"; }},
    {"lsf.slow", Weight::warning, "MBD_SLEEP_TIME = 10 (lsb.params: 2)",
     [](Facts& f) { f.lsf.timing["MBD_SLEEP_TIME"] = "10"; }},
    {"lsf.poll", Weight::warning, "2.5", [](Facts& f) { f.lsf.timing["ELIM_POLL_INTERVAL"] = "2.5"; }},
    {"lsf.no_cut_off", Weight::warning, "cut_off_after is 0",
     [](Facts& f) { f.conf.agent.cut_off_after = {}; }},
    {"lsf.cut_off_late", Weight::note, "after some 27 s, but a gang waits until 65 s",
     [](Facts& f) {
         f.conf.agent.cut_off_after = std::chrono::seconds(60);
         f.lsf.timing["EXINTERVAL"] = "5";
         f.lsf.timing["HOST_INACTIVITY_LIMIT"] = "2";
         f.lsf.timing["RETRY_LIMIT"] = "1";
     }},
    {"lsf.cluster_unread", Weight::note, "timing of lim",
     [](Facts& f) { f.lsf.cluster_error = "lsf.cluster.y: gone"; }},
    {"fabric.lacks_nodes", Weight::warning, "hosts of LSF that", [](Facts& f) { f.fabric.hosts = {"n1"}; }},
    {"fabric.extra_hosts", Weight::note, "that LSF does not have",
     [](Facts& f) { f.fabric.hosts.push_back("n3"); }},
    {"restartd.no_lsf", Weight::error, "LSF", [](Facts& f) { f.status->resource_manager.answers = false; }},
    {"agent.name", Weight::error, "that LSF does not have",
     [](Facts& f) { f.status->unknown_hosts = {"n9.site"}; }},
};

} // namespace

TEST_CASE("doctor: a sound cluster of LSF has no findings, whatever Slurm would say") {
    auto facts = sound();
    CHECK(complaints(facts, false).empty());
    facts.slurm_error = "there is no scontrol on PATH: Slurm is not installed here";
    CHECK(complaints(facts, false).empty());
}

TEST_CASE("doctor: each mistake planted in LSF is found, alone, with a way out") {
    for (const auto& mistake : mistakes) {
        INFO(mistake.code);
        auto facts = sound();
        mistake.plant(facts);
        auto found = complaints(facts, false);
        if (mistake.code == std::string("config.user"))
            std::erase_if(found, [](const Complaint& one) { return one.code == "lsf.away"; });
        REQUIRE(found.size() == 1);
        CHECK(found[0].code == mistake.code);
        CHECK(found[0].weight == mistake.weight);
        CHECK_THAT(found[0].text, Catch::Contains(mistake.text));
        CHECK_FALSE(found[0].fix.empty());
        CHECK_FALSE(found[0].text.ends_with('.'));
    }
}

TEST_CASE("doctor: an agent is wanted on each host but LSF's master") {
    auto facts = sound();
    for (const char* name : {"master", "n2"}) {
        auto one = host(name);
        one.agent.last_report.reset();
        facts.status->hosts.push_back(one);
    }
    facts.status->hosts.erase(facts.status->hosts.begin() + 1);
    const auto found = complaints(facts, false);
    REQUIRE(found.size() == 1);
    CHECK(found[0].text == "nodewatchd has never reported from n2");
}

TEST_CASE("doctor: of one host only what it has") {
    auto facts = sound();
    facts.lsf.queues["gangrun"].users = "all";
    facts.lsf.has_planned = false;
    CHECK(complaints(facts, true).empty());
    facts.lsf.esub_runs = false;
    CHECK(complaints(facts, true).size() == 1);
}

TEST_CASE("doctor: a queue is read as bqueues -l shows it") {
    const auto queue =
        parse_queue("\nQUEUE: gang\n  -- gangs wait here: all of them\n\nUSERS:  all\nHOSTS:  n1 n2 \n"
                    "RES_REQ:  select[planned>0]\nRERUNNABLE :  yes\n");
    CHECK(queue == LsfQueue{"", "select[planned>0]", "all", true});
    CHECK(parse_queue("USERS: root \n").users == "root");
    CHECK(parse_queue("") == LsfQueue{});
}

TEST_CASE("doctor: parameters are read from what bparams shows and from LSF's files") {
    const auto shown = parse_parameters("The interval:\n    MBD_SLEEP_TIME = 10 (seconds)\n"
                                        "    JOB_TERMINATE_INTERVAL = 2 \n    not a = key\n");
    CHECK(shown ==
          std::map<std::string, std::string>{{"MBD_SLEEP_TIME", "10"}, {"JOB_TERMINATE_INTERVAL", "2"}});
    const auto conf =
        parse_parameters("# LSB_SUB_COMMANDNAME=N\nLSB_SUB_COMMANDNAME=Y\r\nA=\"b c\" # d\nE=\n");
    CHECK(conf == std::map<std::string, std::string>{{"LSB_SUB_COMMANDNAME", "Y"}, {"A", "b c"}, {"E", ""}});
    const auto cluster = parse_parameters(parameters_section(
        "Begin Host\nA = 1\nEnd Host\nBegin Parameters\nEXINTERVAL = 5\nEnd Parameters\nB=2\n"));
    CHECK(cluster == std::map<std::string, std::string>{{"EXINTERVAL", "5"}});
}

TEST_CASE("doctor: a load index is read by its column") {
    const std::string shown = "HOST_NAME   status  r15s  health planned\nn1   ok   0.0  100.0     0.0\n"
                              "n2       -ok   0.0   55.0       -\nn3     unavail\n";
    CHECK(parse_index(shown, "planned") ==
          std::map<std::string, std::string>{{"n1", "0.0"}, {"n2", "-"}, {"n3", ""}});
    CHECK(parse_index(shown, "podpos").empty());
    CHECK(parse_index("", "planned").empty());
}
