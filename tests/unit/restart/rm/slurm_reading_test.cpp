#include "restart/rm/slurm_reading.hpp"
#include "restart/rm/slurm_waiting.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using restart::JobPhase;

namespace {

// What is read is partly in lists of the library's own.
[[maybe_unused]] const bool library_is_there =
    restart::load_slurm_calls(restart::slurm_library()).has_value();

restart::RmNode node(std::uint32_t state, const char* reason = nullptr) {
    node_info_t raw;
    std::memset(&raw, 0, sizeof raw);
    std::string name = "n001", why = reason == nullptr ? "" : reason;
    raw.name = name.data();
    raw.node_state = state;
    if (reason != nullptr) raw.reason = why.data();
    return restart::read_node(raw, [](std::uint32_t uid) { return "user" + std::to_string(uid); });
}

job_info_t blank_job() {
    job_info_t raw;
    std::memset(&raw, 0, sizeof raw);
    raw.job_id = 12;
    return raw;
}

JobPhase phase(std::uint32_t state) {
    auto raw = blank_job();
    raw.job_state = state;
    return restart::read_job(raw).phase;
}

} // namespace

TEST_CASE("a node's state is read as scontrol writes it") {
    CHECK(node(NODE_STATE_IDLE).state == "IDLE");
    CHECK(node(NODE_STATE_ALLOCATED | NODE_STATE_NO_RESPOND | NODE_STATE_DRAIN).state == "ALLOCATED*+DRAIN");
    CHECK(node(NODE_STATE_IDLE | NODE_STATE_NO_RESPOND).not_responding);
    CHECK_FALSE(node(NODE_STATE_IDLE | NODE_STATE_NO_RESPOND).down);
    CHECK(node(NODE_STATE_IDLE | NODE_STATE_FAIL).drain);
    CHECK(node(NODE_STATE_ALLOCATED | NODE_STATE_MAINT).maintenance); // of an active reservation
    CHECK_FALSE(node(NODE_STATE_ALLOCATED).maintenance);
    CHECK(node(NODE_STATE_IDLE).use == base::HostState::free); // in everybody's words
    CHECK(node(NODE_STATE_IDLE | NODE_STATE_FAIL).use == base::HostState::drained);
    CHECK(node(NODE_STATE_DOWN | NODE_STATE_DRAIN, "railyard[i-7]: host lost").drain);
}

TEST_CASE("where a node's slurmd takes connections is read, by its name where it has no address") {
    node_info_t raw;
    std::memset(&raw, 0, sizeof raw);
    std::string name = "n001", address = "10.0.0.1";
    raw.name = name.data();
    raw.port = 6818;
    const auto read = [&] { return restart::read_node(raw, [](std::uint32_t) { return ""; }); };
    CHECK(read().address == "n001");
    raw.node_addr = address.data();
    CHECK(read().address == "10.0.0.1");
    CHECK(read().port == 6818);
}

TEST_CASE("a node that slurmctld set down itself is nobody's decision") {
    CHECK(node(NODE_STATE_DOWN, "Not responding").automatic);
    CHECK(node(NODE_STATE_DOWN, "Node unexpectedly rebooted").automatic);
    CHECK_FALSE(node(NODE_STATE_DOWN, "fan, ticket 7").automatic);
    CHECK_FALSE(node(NODE_STATE_DOWN | NODE_STATE_DRAIN, "Not responding").automatic);
    CHECK_FALSE(node(NODE_STATE_IDLE).automatic);
}

TEST_CASE("who keeps a node out of use is known by its reason, or by who gave it") {
    const auto by = [](std::string reason, std::uint32_t uid = 1000) {
        node_info_t raw{};
        std::string name = "n003";
        raw.name = name.data();
        raw.node_state = NODE_STATE_IDLE | NODE_STATE_DRAIN;
        raw.reason = reason.data();
        raw.reason_uid = uid;
        return restart::read_node(raw, [](std::uint32_t of) { return "user" + std::to_string(of); }).set_by;
    };
    for (const auto* reason :
         {"Kill task failed", "batch job complete failure", "Prolog error", "Epilog error", "Not responding",
          "Low RealMemory (reported:100 < 100.00% of configured:200)",
          "gres/gpu count reported lower than configured (7 < 8)", "Duplicate jobid"})
        CHECK(by(reason, 0) == "slurmctld");
    CHECK(by("NHC: check_fs_mount: /scratch not mounted", 0) == "NHC");
    CHECK(by("fan, ticket 7") == "user1000");
    CHECK(by("fan, ticket 7", NO_VAL) == "");
    CHECK(by("railyard[i-7]: host lost", 0) == ""); // ours
    CHECK(by("") == "");
}

TEST_CASE("a running job ends by its time limit, one without a limit at no time known") {
    auto raw = blank_job();
    raw.job_state = JOB_RUNNING;
    raw.start_time = 1'700'000'000;
    raw.end_time = raw.start_time + 3600;
    raw.time_limit = 60;
    CHECK(restart::read_job(raw).ends == base::time_from_seconds(1'700'003'600));
    raw.time_limit = INFINITE;
    CHECK_FALSE(restart::read_job(raw).ends);
    raw.time_limit = 60;
    raw.job_state = JOB_PENDING;
    CHECK_FALSE(restart::read_job(raw).ends);
}

TEST_CASE("a job's phase follows state and flags") {
    CHECK(phase(JOB_PENDING) == JobPhase::pending);
    CHECK(phase(JOB_PENDING | JOB_COMPLETING) == JobPhase::completing);
    CHECK(phase(JOB_RUNNING) == JobPhase::running);
    CHECK(phase(JOB_RUNNING | JOB_CONFIGURING) == JobPhase::pending);
    CHECK(phase(JOB_SUSPENDED) == JobPhase::suspended);
    CHECK(phase(JOB_COMPLETE | JOB_COMPLETING) == JobPhase::ended);
    CHECK(phase(JOB_NODE_FAIL) == JobPhase::ended);
}

TEST_CASE("a job carries its nodes, its restarts and what its user asked of us") {
    auto raw = blank_job();
    std::string nodes = "n[003-004,007]", excluded = "n009", required = "n[003,007]",
                comment = "keep this; railyard: span=unit restart=auto ckpt-dir=/s/r%207";
    raw.user_id = 1000;
    raw.job_state = JOB_RUNNING;
    raw.nodes = nodes.data();
    raw.exc_nodes = excluded.data();
    raw.req_nodes = required.data();
    raw.admin_comment = comment.data();
    raw.restart_cnt = 2;
    raw.requeue = 1;
    raw.batch_flag = 1;
    raw.start_time = 1'700'000'000;
    auto job = restart::read_job(raw);
    CHECK(job.nodes == std::vector<std::string>{"n003", "n004", "n007"});
    CHECK(job.node_count == 3);
    CHECK(job.restarts == 2);
    CHECK(job.excluded == std::vector<std::string>{"n009"});
    CHECK(job.required == std::vector<std::string>{"n003", "n007"});
    CHECK(job.restart == true);
    CHECK(job.requeue);
    CHECK(job.ckpt_dir == "/s/r 7");
    CHECK(job.start == base::time_from_seconds(1'700'000'000));

    SECTION("an interactive job cannot be requeued") {
        raw.batch_flag = 0;
        CHECK_FALSE(restart::read_job(raw).requeue);
        CHECK(restart::read_job(raw).interactive);
    }
    SECTION("a requeued job that is still being ended is on no node") {
        raw.job_state = JOB_PENDING | JOB_COMPLETING;
        CHECK(restart::read_job(raw).nodes.empty());
    }
    SECTION("that it failed by itself is told with its exit status, when it may be started again") {
        comment = "railyard: restart=auto restart-max=7 restart-on=1,3-5";
        raw.admin_comment = comment.data();
        raw.end_time = 1'700'000'100;
        const auto failure = [&](std::uint32_t state, std::uint32_t status) {
            raw.job_state = state;
            raw.exit_code = status; // as wait(2) has it
            return restart::read_job(raw).failure;
        };
        const auto failed = failure(JOB_FAILED, 3 << 8);
        REQUIRE(failed);
        CHECK(*failed ==
              restart::RmFailure{3, base::time_from_seconds(1'700'000'100), {"n003", "n004", "n007"}});
        job = restart::read_job(raw);
        CHECK(job.phase == JobPhase::ended);
        CHECK(job.nodes.empty());
        CHECK(job.restart_max == 7);
        CHECK(sched::to_string(job.restart_on) == "1,3-5");
        CHECK(restart::read_whole_jobs(&raw, 1).size() == 1);
        REQUIRE(failure(JOB_FAILED | JOB_COMPLETING, 9));
        CHECK(failure(JOB_FAILED, 9)->code == 128 + 9);
        CHECK(failure(JOB_OOM, 125)->code == 128 + 125);
        raw.derived_ec = 9;
        CHECK(failure(JOB_FAILED, 3 << 8)->step_failed);
        CHECK_FALSE(failure(JOB_COMPLETE, 0)); // long ago
        raw.end_time = std::time(nullptr) - 5;
        REQUIRE(failure(JOB_COMPLETE, 0));
        CHECK(failure(JOB_COMPLETE, 0)->code == 0);
        CHECK(failure(JOB_COMPLETE, 0)->step_failed);
        CHECK(restart::read_whole_jobs(&raw, 1).size() == 1);
        raw.derived_ec = 0;
        CHECK_FALSE(failure(JOB_COMPLETE, 0)->step_failed);
        raw.admin_comment = nullptr; // nobody is to start it again
        CHECK(restart::read_whole_jobs(&raw, 1).empty());
        raw.admin_comment = comment.data();
        for (const auto state :
             {JOB_COMPLETE, JOB_CANCELLED, JOB_TIMEOUT, JOB_NODE_FAIL, JOB_PREEMPTED, JOB_DEADLINE})
            CHECK_FALSE(failure(state, 1 << 8));
        CHECK_FALSE(failure(JOB_FAILED, 0));
        CHECK(restart::read_whole_jobs(&raw, 1).empty());
        raw.requeue = 0;
        CHECK_FALSE(failure(JOB_FAILED, 1 << 8));
        raw.requeue = 1;
        raw.batch_flag = 0;
        CHECK_FALSE(failure(JOB_FAILED, 1 << 8));
        raw.batch_flag = 1;
        comment = "railyard: restart=never";
        raw.admin_comment = comment.data();
        CHECK_FALSE(failure(JOB_FAILED, 1 << 8));
        CHECK(restart::read_whole_jobs(&raw, 1).empty());
    }
    SECTION("what it waits for names its reservation") {
        std::string reservation = "full";
        raw.job_state = JOB_PENDING;
        raw.state_reason = WAIT_ARRAY_TASK_LIMIT;
        CHECK(restart::read_job(raw).why == "JobArrayTaskLimit");
        raw.state_reason = WAIT_RESOURCES;
        raw.resv_name = reservation.data();
        CHECK(restart::read_job(raw).why == "Resources, in reservation full");
    }
    SECTION("another's comment says nothing") {
        comment = "ask bob";
        raw.admin_comment = comment.data();
        CHECK_FALSE(restart::read_job(raw).restart.has_value());
    }
}

TEST_CASE("what its user called a job is read as far as it counts, whatever stands there") {
    job_info_t raw{};
    CHECK(restart::read_job(raw).title.empty());
    std::string name = "train/7b";
    raw.name = name.data();
    CHECK(restart::read_job(raw).title == "train/7b");
    name = "a\x1b[2J\xff" + std::string(2000, 'x');
    raw.name = name.data();
    CHECK(restart::read_job(raw).title == "a?[2J?" + std::string(58, 'x'));
}

TEST_CASE("a job goes by the name that its user knows, and is requeued by one that names nothing else") {
    auto raw = blank_job();
    raw.array_task_id = NO_VAL;
    CHECK(restart::name_of_job(raw) == "12");
    CHECK(restart::requeue_name(raw) == "12");
    std::string waiting = "4-9%2";
    SECTION("the tasks of an array that wait") {
        raw.array_job_id = 12;
        raw.array_task_str = waiting.data();
        CHECK(restart::name_of_job(raw) == "12_[4-9%2]");
    }
    SECTION("an array's last task has the array's own id") {
        raw.array_job_id = 12;
        raw.array_task_id = 3;
        CHECK(restart::name_of_job(raw) == "12_3");
        CHECK(restart::requeue_name(raw) == "12_3");
        CHECK(restart::read_job(raw).name == "12_3");
    }
    SECTION("a component of a heterogeneous job moves with its leader") {
        raw.het_job_id = 11;
        raw.het_job_offset = 1;
        CHECK(restart::name_of_job(raw) == "11+1");
        CHECK(restart::requeue_name(raw) == "11");
    }
}

TEST_CASE("a heterogeneous job is one job on the hosts of all its components") {
    std::string first = "n[001-002]", second = "n007", excluded = "n009", comment = "railyard: restart=auto";
    std::vector<job_info_t> raw(3, blank_job());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        raw[i].job_id = static_cast<std::uint32_t>(11 + i);
        raw[i].job_state = JOB_RUNNING;
        raw[i].array_task_id = NO_VAL;
        raw[i].batch_flag = raw[i].requeue = 1;
        raw[i].restart_cnt = 2;
    }
    auto& alone = raw[0];
    auto& other = raw[1]; // not in the order of the components
    auto& leader = raw[2];
    other.job_id = 13;
    leader.job_id = 12;
    leader.het_job_id = other.het_job_id = 12;
    other.het_job_offset = 1;
    leader.nodes = first.data();
    leader.admin_comment = comment.data();
    other.nodes = second.data();
    other.exc_nodes = excluded.data();
    const auto read = [&] { return restart::read_whole_jobs(raw.data(), raw.size()); };
    auto jobs = read();
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].id == alone.job_id);
    CHECK(jobs[0].components.empty());
    const auto& whole = jobs[1];
    CHECK(whole.id == 12);
    CHECK(whole.name == "12");
    CHECK(whole.nodes == std::vector<std::string>{"n001", "n002", "n007"});
    CHECK(whole.node_count == 3);
    CHECK(whole.restart == true);
    CHECK(whole.requeue);
    CHECK(whole.restarts == 2);
    CHECK(whole.phase == JobPhase::running);
    CHECK(whole.excluded == std::vector<std::string>{"n009"});
    REQUIRE(whole.components.size() == 2);
    CHECK(whole.components[1] == restart::RmComponent{13, "12+1", {"n007"}});

    SECTION("it runs only when all its components do") {
        other.job_state = JOB_PENDING;
        CHECK(read()[1].phase == JobPhase::pending);
        leader.job_state = JOB_PENDING | JOB_COMPLETING;
        CHECK(read()[1].phase == JobPhase::completing);
        CHECK(read()[1].nodes.empty());
    }
    SECTION("it is in its former start as long as one component is") {
        leader.job_state = JOB_PENDING; // slurmctld requeued the leader alone
        leader.restart_cnt = 3;
        CHECK(read()[1].phase == JobPhase::pending);
        CHECK(read()[1].restarts == 2);
    }
    SECTION("it has ended when its leader has") {
        leader.job_state = JOB_COMPLETE;
        CHECK(read().size() == 1);
    }
    SECTION("it has failed when its leader has, on the hosts of all components") {
        leader.job_state = JOB_FAILED;
        leader.exit_code = 3 << 8;
        other.job_state = JOB_CANCELLED;
        REQUIRE(read().size() == 2);
        const auto failed = read()[1];
        REQUIRE(failed.failure);
        CHECK(failed.failure->code == 3);
        CHECK(failed.failure->nodes == std::vector<std::string>{"n001", "n002", "n007"});
        CHECK(failed.name == "12");
    }
    SECTION("a component that has ended is no part of it any more") {
        other.job_state = JOB_FAILED;
        CHECK(read()[1].nodes == std::vector<std::string>{"n001", "n002"});
    }
    SECTION("without its leader's record there is no job to move") {
        raw.pop_back();
        CHECK(read().size() == 1);
    }
}

TEST_CASE("exclusions are merged and requirements rewritten") {
    CHECK(restart::merged_exclusion("", {"n003"}) == "n003");
    CHECK(restart::merged_exclusion("n[001-002]", {"n003"}) == "n[001-003]");
    CHECK(restart::merged_exclusion("n006", {"n002"}) == "n[002,006]");
    CHECK_FALSE(restart::merged_exclusion("n[001-004]", {"n003"}).has_value());
    CHECK(restart::merged_exclusion("n[1", {"n003"}) == "n[1,n003");
    CHECK(restart::merged_exclusion("n[001-003]", {}, {"n002"}) == "n[001,003]");
    CHECK(restart::merged_exclusion("n002", {}, {"n002"}) == "");
    CHECK(restart::merged_exclusion("n002", {"n004"}, {"n002"}) == "n004");
    CHECK_FALSE(restart::merged_exclusion("n[001-003]", {}, {"n004"}).has_value());
    CHECK_FALSE(restart::merged_exclusion("n[1", {}, {"n003"}).has_value());
    CHECK(restart::rewritten_requirement("n[001-003]", {"n002"}) == "n[001,003]");
    CHECK(restart::rewritten_requirement("n002", {"n002"}) == "");
    CHECK_FALSE(restart::rewritten_requirement("n001", {"n002"}).has_value());
    CHECK_FALSE(restart::rewritten_requirement("", {"n002"}).has_value());
}

TEST_CASE("what slurmctld is configured with tells what of us is missing") {
    slurm_conf_t raw;
    std::memset(&raw, 0, sizeof raw);
    std::string submit = "lua, job_submit/rail", select = "select/rail", topology = "topology/tree";
    raw.job_submit_plugins = submit.data();
    raw.select_type = select.data();
    raw.topology_plugin = topology.data();
    raw.slurmd_timeout = 300;
    const auto whole = restart::read_config(raw);
    CHECK(whole.declares_down_after == base::Duration(300'000));
    CHECK(whole.takes_flags);
    CHECK(whole.chooses_nodes);
    CHECK(whole.missing.empty());
    submit = "lua,rail";
    raw.job_submit_plugins = submit.data();
    CHECK(restart::read_config(raw) == whole);

    // PrivateData, and labels in the place of coordinators.
    REQUIRE(whole.hides);
    CHECK(*whole.hides == restart::RmPrivacy{});
    raw.private_data = PRIVATE_DATA_JOBS | PRIVATE_DATA_USERS;
    CHECK(*restart::read_config(raw).hides == restart::RmPrivacy{.jobs = true});
    raw.private_data = PRIVATE_DATA_NODES | PRIVATE_DATA_EVENTS;
    std::string labels = "ondemand,privatedata";
    raw.mcs_plugin_params = labels.data();
    CHECK(*restart::read_config(raw).hides ==
          restart::RmPrivacy{.nodes = true, .events = true, .by_label = true});
    raw.private_data = 0;

    raw.job_submit_plugins = nullptr;
    raw.select_type = nullptr;
    const auto bare = restart::read_config(raw);
    CHECK_FALSE(bare.takes_flags);
    CHECK_FALSE(bare.chooses_nodes);
    const auto& missing = bare.missing;
    REQUIRE(missing.size() == 2);
    CHECK_THAT(missing[0],
               Catch::Contains("--restart=auto") && Catch::Contains("JobSubmitPlugins lacks rail"));
    CHECK_THAT(missing[1], Catch::Contains("SelectType") && Catch::Contains("TopologyPlugin"));

    submit = "railway,trail";
    raw.job_submit_plugins = submit.data();
    topology = "topology/rail";
    raw.topology_plugin = topology.data();
    CHECK_FALSE(restart::read_config(raw).takes_flags);
    CHECK(restart::read_config(raw).chooses_nodes);
}

TEST_CASE("what slurmctld knows of a user") {
    std::string alice = "alice", bob = "bob", physics = "physics", optics = "optics";
    slurmdb_coord_rec_t first{}, second{};
    first.name = physics.data();
    second.name = optics.data();
    slurmdb_user_rec_t users[2]{};
    users[0].name = alice.data();
    users[0].admin_level = SLURMDB_ADMIN_OPERATOR;
    users[1].name = bob.data();
    users[1].admin_level = SLURMDB_ADMIN_NONE;
    users[1].coord_accts = restart::slurm_list_create(nullptr);
    restart::slurm_list_append(users[1].coord_accts, &first);
    restart::slurm_list_append(users[1].coord_accts, &second);
    assoc_mgr_info_msg_t known{};
    CHECK(restart::read_user(known, "alice") == restart::RmUser{}); // without accounting
    known.user_list = restart::slurm_list_create(nullptr);
    restart::slurm_list_append(known.user_list, &users[0]);
    restart::slurm_list_append(known.user_list, &users[1]);
    CHECK(restart::read_user(known, "alice") == restart::RmUser{restart::RmLevel::reads, {}});
    CHECK(restart::read_user(known, "bob") == restart::RmUser{restart::RmLevel::none, {"physics", "optics"}});
    CHECK(restart::read_user(known, "carol") == restart::RmUser{});
    users[0].admin_level = SLURMDB_ADMIN_SUPER_USER;
    CHECK(restart::read_user(known, "Alice").level == restart::RmLevel::acts); // as slurmctld compares them
    restart::slurm_list_destroy(users[1].coord_accts);
    restart::slurm_list_destroy(known.user_list);
}

TEST_CASE("Slurm's errors say whether to try again") {
    CHECK(restart::slurm_error("x", SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR).code ==
          base::Code::unavailable);
    CHECK(restart::slurm_error("x", SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT).code == base::Code::unavailable);
    CHECK(restart::slurm_error("x", ECONNREFUSED).code == base::Code::unavailable);
    CHECK(restart::slurm_error("x", ESLURM_INVALID_JOB_ID).code == base::Code::not_found);
    CHECK(restart::slurm_error("x", ESLURM_ACCESS_DENIED).code == base::Code::denied);
    CHECK(restart::slurm_error("requeue of job 7", ESLURM_JOB_HELD).code == base::Code::unfit);
    CHECK_THAT(restart::slurm_error("requeue of job 7", ESLURM_JOB_HELD).text,
               Catch::StartsWith("requeue of job 7: "));
}

TEST_CASE("only what Slurm can number is handed to it") {
    CHECK(*restart::slurm_id(12) == 12U);
    CHECK(*restart::slurm_id(base::JobId(NO_VAL - 1)) == NO_VAL - 1);
    for (const auto job :
         {base::JobId(), base::JobId(12U, 3), base::JobId(NO_VAL), base::JobId(std::uint64_t{1} << 32)}) {
        const auto refused = restart::slurm_id(job);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == base::Code::input);
    }
    CHECK(restart::slurm_id(base::JobId(12U, 3)).error().text == "job 12[3] is none of Slurm's");
}

TEST_CASE(
    "the hosts that a waiting job had are written beside what its record says, and only when it changes") {
    auto raw = blank_job();
    std::string admin = "ticket 7; railyard: restart=auto", comment = "mine";
    raw.admin_comment = admin.data();
    raw.comment = comment.data();
    restart::WaitingChange change;
    CHECK_FALSE(restart::texts_of(change, raw).any());
    change.had = {"n001", "n002", "n004"};
    change.start = 2;
    auto texts = restart::texts_of(change, raw);
    CHECK(texts.admin_comment == "ticket 7; railyard: restart=auto; railyard-had: start=2 n[001-002,004]");
    CHECK_FALSE((texts.comment || texts.excluded || texts.required));
    raw.admin_comment = texts.admin_comment->data();
    CHECK_FALSE(restart::texts_of(change, raw).any());
    change.exclude = {"n002"};
    change.comment = "requeued";
    const auto again = restart::texts_of(change, raw);
    CHECK(again.excluded == "n002");
    CHECK(again.comment == "mine; railyard: requeued");
    CHECK_FALSE(again.admin_comment);
}
