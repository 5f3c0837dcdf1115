#include "restart/rm/slurm_kept.hpp"

#include "base/file.hpp"
#include "restart/rm/slurm_reading.hpp"
#include "sched/slurm/admin_comment.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>
#include <memory>

using restart::SlurmKept;

namespace {

[[maybe_unused]] const bool library_is_there =
    restart::load_slurm_calls(restart::slurm_library()).has_value();

base::Time at(double seconds) {
    return base::time_from_seconds(1'732'723'000 + seconds);
}

// A slurmctld with one job, 12, of two nodes.
class Controller {
public:
    Controller() {
        std::memset(&conf, 0, sizeof conf);
        conf.state_save_location = state_.data();
        conf.accounting_storage_type = accounting.data();
        conf.min_job_age = 300;
        std::memset(&job, 0, sizeof job);
        job.job_id = 12;
        job.batch_flag = job.requeue = 1;
        job.job_state = JOB_RUNNING;
        job.array_task_id = NO_VAL;
        job.admin_comment = comment.data();
        job.name = name.data();
        job.nodes = nodes.data();
        job.command = command.data();
        job.num_nodes = 2;
        job.num_cpus = 32;
        job.num_tasks = 16;
        job.cpus_per_task = 2;
        job.user_id = 1000;
        job.group_id = 100;
        job.time_limit = 90;
        job.shared = NO_VAL16;
        job.submit_time = 1'732'722'900;
        files("#!/bin/sh\nsrun ./train\n",
              {"PATH=/bin", "RAIL_CKPT_TAKE_OVER=3", "SLURM_SPANK_RAIL_RESTART=auto", "SLURM_SPANK_OTHER=1"});
    }
    void files(const std::string& script, const std::vector<std::string>& environment) const {
        const auto dir = folder.path / "spool" / "hash.2" / "job.12";
        std::filesystem::create_directories(dir);
        std::ofstream(dir / "script", std::ios::binary) << script << '\0';
        std::ofstream out(dir / "environment", std::ios::binary);
        const auto count = static_cast<std::uint32_t>(environment.size());
        out.write(reinterpret_cast<const char*>(&count), sizeof count);
        for (const auto& variable : environment)
            out << variable << '\0';
    }
    std::vector<restart::RmJob> look(SlurmKept& kept, double seconds) const {
        return kept.look({&job, known ? std::size_t{1} : 0}, &conf, at(seconds));
    }

    test::Folder folder;
    std::string comment = "railyard: restart=auto restart-on=any; railyard-why: x", name = "train",
                nodes = "n[001-002]", command = "/home/u/train.sh --lr 0.1",
                accounting = "accounting_storage/none";
    job_info_t job{};
    slurm_conf_t conf{};
    bool known = true; // to slurmctld

    std::filesystem::path kept() const { return folder.path / "kept"; }
    std::filesystem::path file() const { return kept() / "12"; }

private:
    std::string state_ = (folder.path / "spool").string();
};

restart::SubmitAgain again() {
    restart::SubmitAgain action;
    action.job = restart::target(12, "12", 0, "n002");
    return action;
}

} // namespace

TEST_CASE(
    "what a job with --restart=auto was submitted with is kept while it runs, for nobody else to read") {
    Controller slurm;
    SlurmKept kept(slurm.kept());
    CHECK(slurm.look(kept, 0).empty());
    REQUIRE(std::filesystem::exists(slurm.file()));
    using std::filesystem::perms;
    CHECK(std::filesystem::status(slurm.file()).permissions() == (perms::owner_read | perms::owner_write));
    CHECK(std::filesystem::status(slurm.kept()).permissions() == perms::owner_all);
    const auto job = restart::parse_submission(*base::read_file(slurm.file()));
    REQUIRE(job);
    CHECK(job->script == "#!/bin/sh\nsrun ./train\n");
    CHECK(job->environment.size() == 4);
    SECTION("until its user cancels it") {
        slurm.job.job_state = JOB_CANCELLED;
        CHECK(slurm.look(kept, 1).empty());
        CHECK_FALSE(std::filesystem::exists(slurm.file()));
        slurm.known = false;
        CHECK(slurm.look(kept, 2).empty());
    }
    SECTION("until its time is up") {
        slurm.job.job_state = JOB_TIMEOUT;
        slurm.look(kept, 1);
        CHECK_FALSE(std::filesystem::exists(slurm.file()));
    }
    SECTION("and again when it is in another start") {
        slurm.job.job_state = JOB_PENDING;
        slurm.look(kept, 1);
        slurm.job.job_state = JOB_RUNNING;
        slurm.job.restart_cnt = 1;
        slurm.look(kept, 2);
        CHECK(restart::parse_submission(*base::read_file(slurm.file()))->number("epoch") == 1);
    }
}

TEST_CASE("of jobs without --restart=auto, and of those that wait, nothing is kept") {
    Controller slurm;
    SlurmKept kept(slurm.kept());
    SECTION("never") {
        slurm.comment = "railyard: restart=never";
    }
    SECTION("others") {
        slurm.comment = "by alice";
    }
    SECTION("waiting") {
        slurm.job.job_state = JOB_PENDING;
    }
    SECTION("no requeue") {
        slurm.job.requeue = 0;
    }
    slurm.job.admin_comment = slurm.comment.data();
    slurm.look(kept, 0);
    CHECK_FALSE(std::filesystem::exists(slurm.file()));
}

TEST_CASE("a job that slurmctld has forgotten is one that ended") {
    Controller slurm;
    auto kept = std::make_unique<SlurmKept>(slurm.kept());
    slurm.look(*kept, 0);
    const auto forget = [&] {
        slurm.known = false;
        kept = std::make_unique<SlurmKept>(slurm.kept()); // restartd was away
        return slurm.look(*kept, 10);
    };
    SECTION("with an end that was seen") {
        slurm.job.job_state = JOB_FAILED;
        slurm.job.exit_code = 3 << 8;
        slurm.job.end_time = 1'732'723'005;
        CHECK(slurm.look(*kept, 5).empty());
        const auto jobs = forget();
        REQUIRE(jobs.size() == 1);
        const auto& job = jobs.front();
        CHECK((job.id == 12 && job.name == "12" && job.title == "train" && job.uid == 1000 &&
               job.node_count == 2));
        CHECK((job.restart == true && job.requeue && job.restart_on.matches(1)));
        REQUIRE(job.failure);
        CHECK((job.failure->code == 3 && !job.failure->unknown && job.failure->ended == at(5)));
        CHECK(job.failure->nodes == std::vector<std::string>{"n001", "n002"});
        REQUIRE(job.forgotten);
        CHECK((job.forgotten->why_not.empty() && !job.forgotten->asking));
        CHECK(slurm.look(*kept, 3000).size() == 1);
        CHECK(slurm.look(*kept, 3700).empty()); // not for ever
        CHECK_FALSE(std::filesystem::exists(slurm.file()));
    }
    SECTION("with success, which is remembered no longer than Slurm does by default") {
        slurm.job.job_state = JOB_COMPLETE;
        slurm.job.end_time = std::time(nullptr);
        slurm.look(*kept, 5);
        CHECK(forget().size() == 1);
        CHECK(slurm.look(*kept, 311).empty());
    }
    SECTION("nobody knows how") {
        const auto jobs = forget();
        REQUIRE(jobs.size() == 1);
        CHECK(jobs.front().failure->unknown);
        CHECK_FALSE(jobs.front().forgotten->asking);
    }
    SECTION("and is one that runs, should slurmctld know it after all") {
        CHECK(forget().size() == 1);
        slurm.known = true;
        CHECK(slurm.look(*kept, 12).empty());
        CHECK(restart::parse_submission(*base::read_file(slurm.file()))->word("gone").empty());
    }
    SECTION("and was submitted again: nothing is left to do") {
        CHECK(forget().size() == 1);
        slurm.known = true;
        slurm.job.job_id = 15;
        slurm.comment = "railyard: restart=auto; railyard-again: 12.0 1732722900";
        slurm.job.admin_comment = slurm.comment.data();
        CHECK(restart::read_job(slurm.job).again == restart::FormerStart{12, 0});
        CHECK(kept->submit(again(), {&slurm.job, 1}, &slurm.conf, at(11)));
        CHECK(slurm.look(*kept, 12).empty());
        CHECK_FALSE(std::filesystem::exists(slurm.file()));
    }
}

TEST_CASE("a job whose comment an administrator took away is not forgotten") {
    Controller slurm;
    SlurmKept kept(slurm.kept());
    slurm.look(kept, 0);
    slurm.job.admin_comment = nullptr;
    CHECK(slurm.look(kept, 10).empty());
    slurm.job.job_state = JOB_COMPLETE;
    CHECK(slurm.look(kept, 20).empty());
    CHECK_FALSE(std::filesystem::exists(slurm.file()));
}

TEST_CASE("another job of the same number is not taken for the one that was kept") {
    Controller slurm;
    SlurmKept kept(slurm.kept());
    slurm.look(kept, 0);
    slurm.job.submit_time += 5;
    slurm.job.user_id = 1001;
    SECTION("while it runs") {
        slurm.look(kept, 10);
        CHECK(restart::parse_submission(*base::read_file(slurm.file()))->number("uid") == 1001);
    }
    SECTION("when it has ended") {
        slurm.job.job_state = JOB_FAILED;
        slurm.job.exit_code = 1 << 8;
        slurm.look(kept, 10);
        CHECK_FALSE(std::filesystem::exists(slurm.file()));
    }
}

TEST_CASE("accounting is asked how a forgotten job ended") {
    Controller slurm;
    slurm.accounting = "accounting_storage/slurmdbd";
    slurm.conf.accounting_storage_type = slurm.accounting.data();
    base::Expected<restart::SlurmEnds> answer(base::Error{base::Code::unavailable, "away"});
    SlurmKept kept(slurm.kept(), [&](const std::vector<std::uint32_t>& jobs, base::Duration) {
        CHECK(jobs == std::vector<std::uint32_t>{12});
        return answer;
    });
    slurm.look(kept, 0);
    slurm.known = false;
    REQUIRE(slurm.look(kept, 10).size() == 1);
    CHECK(slurm.look(kept, 11).front().forgotten->asking);
    SECTION("it failed") {
        restart::RmFailure failure;
        failure.code = 3;
        failure.ended = at(4);
        answer = restart::SlurmEnds{{12, failure}};
        const auto jobs = slurm.look(kept, 13);
        REQUIRE(jobs.size() == 1);
        CHECK((jobs.front().failure->code == 3 && jobs.front().failure->ended == at(4)));
        CHECK_FALSE(jobs.front().forgotten->asking);
    }
    SECTION("its user cancelled it: his word stands") {
        answer = restart::SlurmEnds{{12, std::nullopt}};
        CHECK(slurm.look(kept, 13).empty());
        CHECK_FALSE(std::filesystem::exists(slurm.file()));
    }
    SECTION("it does not answer") {
        const auto jobs = slurm.look(kept, 41);
        REQUIRE(jobs.size() == 1);
        CHECK(jobs.front().failure->unknown);
        CHECK_FALSE(jobs.front().forgotten->asking);
    }
}

TEST_CASE("why a job cannot be submitted again is known when it is kept") {
    Controller slurm;
    std::string store = "#BB";
    std::string wanted;
    SECTION("an array's task") {
        slurm.job.array_job_id = 12;
        slurm.job.array_task_id = 3;
        wanted = "tasks of an array";
    }
    SECTION("a heterogeneous job") {
        slurm.job.het_job_id = 12;
        wanted = "heterogeneous jobs";
    }
    SECTION("a burst buffer") {
        slurm.job.burst_buffer = store.data();
        wanted = "its burst buffer may be gone";
    }
    SECTION("arguments with blanks") {
        slurm.command = "/home/u/train.sh a  b";
        slurm.job.command = slurm.command.data();
        wanted = "how its script's arguments are parted";
    }
    SECTION("no script") {
        std::filesystem::remove_all(slurm.folder.path / "spool");
        wanted = "its script could not be kept";
    }
    SECTION("a script that is too large") {
        slurm.files(std::string(SlurmKept::most_bytes, '#'), {});
        wanted = "its script could not be kept";
    }
    SECTION("an environment that is none") {
        std::ofstream(slurm.folder.path / "spool/hash.2/job.12/environment") << "ab";
        wanted = "is no environment as slurmctld writes it";
    }
    SlurmKept kept(slurm.kept());
    slurm.look(kept, 0);
    slurm.known = false;
    const auto jobs = slurm.look(kept, 10);
    REQUIRE(jobs.size() == 1);
    CHECK_THAT(jobs.front().forgotten->why_not, Catch::Contains(wanted));
}

TEST_CASE("a submission that may have been made is not made twice") {
    Controller slurm;
    SlurmKept kept(slurm.kept());
    slurm.look(kept, 0);
    slurm.known = false;
    slurm.look(kept, 10);
    auto job = *restart::parse_submission(*base::read_file(slurm.file()));
    job.words["tried"] = std::to_string(at(20).time_since_epoch() / std::chrono::seconds(1));
    REQUIRE(base::write_file(slurm.file(), restart::to_text(job), 0600));
    SlurmKept next(slurm.kept());
    const auto done = next.submit(again(), {}, &slurm.conf, at(320));
    REQUIRE_FALSE(done);
    CHECK(done.error().code == base::Code::denied);
    CHECK_THAT(done.error().text, Catch::Contains("it may have been submitted"));
}

TEST_CASE("what is not kept cannot be submitted again") {
    Controller slurm;
    SlurmKept kept(slurm.kept());
    const auto done = kept.submit(again(), {}, &slurm.conf, at(0));
    REQUIRE_FALSE(done);
    CHECK(done.error().code == base::Code::not_found);
    CHECK_THAT(done.error().text, Catch::Contains("submit it again by hand"));
}

TEST_CASE("a job is submitted as it was, as its user's") {
    Controller slurm;
    auto kept = restart::submission_of(slurm.job);
    REQUIRE(restart::read_files(kept, slurm.conf.state_save_location, SlurmKept::most_bytes));
    auto job = *restart::parse_submission(restart::to_text(kept));
    CHECK(job == kept);
    const restart::SlurmDescription description(job);
    const auto& raw = description.raw;
    CHECK((raw.user_id == 1000 && raw.group_id == 100));
    CHECK((raw.min_nodes == 2 && raw.max_nodes == NO_VAL && raw.num_tasks == 16 && raw.cpus_per_task == 2));
    CHECK((raw.min_cpus == 32 && raw.time_limit == 90 && raw.shared == NO_VAL16 && raw.requeue == 1));
    CHECK(std::string(raw.name) == "train");
    CHECK(std::string(raw.script) == "#!/bin/sh\nsrun ./train\n");
    REQUIRE(raw.argc == 3);
    CHECK((std::string(raw.argv[0]) == "/home/u/train.sh" && std::string(raw.argv[2]) == "0.1"));
    REQUIRE(raw.env_size == 4);
    REQUIRE(raw.spank_job_env_size == 1); // our own flags are in admin_comment
    CHECK(std::string(raw.spank_job_env[0]) == "OTHER=1");
    CHECK(raw.open_mode == OPEN_MODE_APPEND);
}

TEST_CASE("text that restartd did not keep is refused") {
    for (const auto* text : {"", "railyard-submission=1", "x=1"})
        CHECK_FALSE(restart::parse_submission(text));
    using namespace std::string_view_literals;
    CHECK_FALSE(restart::parse_submission("railyard-submission=1\0job=0\0"sv));
    CHECK_FALSE(restart::parse_submission("railyard-submission=2\0job=12\0"sv));
    CHECK(restart::parse_submission("railyard-submission=1\0job=12\0"sv));
}
