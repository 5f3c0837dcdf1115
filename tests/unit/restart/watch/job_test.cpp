#include "restart/watch/job_session.hpp"

#include "base/json.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

UcxBook ucx; // nobody speaks of it here

const base::Time now{std::chrono::seconds(1'700'000'000)};

std::string hello(std::uint32_t job, std::uint32_t epoch = 0) {
    return fmt::format(R"({{"op":"hello","job":{},"epoch":{},"rank":0}})", job, epoch);
}
std::string commit(std::uint64_t step, const std::string& path = "/scratch/c") {
    return fmt::format(R"({{"op":"commit","step":{},"path":"{}","cost_s":0.8,"bytes":123}})", step, path);
}

bool ok(const std::string& answer) {
    return answer.find("\"ok\":false") == std::string::npos && answer.ends_with("\n");
}

Reply reply_for(base::JobId job, std::uint32_t epoch, std::optional<base::Time> save_by = {}) {
    Reply reply;
    reply.jobs.push_back(
        {job, epoch, 37.5, save_by, save_by ? std::optional<std::string>("i-7") : std::nullopt});
    return reply;
}

// restartd answers until jobs without a client are no longer spoken for.
void answer_often(JobBook& book) {
    for (std::size_t i = 0; i <= JobBook::idle_answers; ++i)
        book.delivered(book.entries(), {});
}

} // namespace

TEST_CASE("hello, due, commit: what a job says and hears") {
    JobBook book;
    {
        JobSession session(book, ucx, 1000);
        CHECK(session.answer(hello(12, 1), now) ==
              "{\"interval_s\":null,\"save_by\":null,\"incident\":null,\"ok\":true}\n");
        CHECK(session.news());
        CHECK_FALSE(session.news());
        CHECK(book.entries() == std::vector<JobReport>{{12, 1, 1000, {}}});
        book.delivered(book.entries(), reply_for(12, 1, now + 9s));
        const auto due = *base::parse_json(session.answer(R"({"op":"due"})", now));
        CHECK(due.at("interval_s").to_number<double>() == 37.5);
        CHECK(due.at("save_by").to_number<double>() == 1'700'000'009.0);
        CHECK(due.at("incident").as_string() == "i-7");
        CHECK(session.answer(commit(400), now) == "{\"ok\":true}\n");
        const auto entries = book.entries();
        REQUIRE(entries.size() == 1);
        REQUIRE(entries[0].ckpt);
        CHECK(*entries[0].ckpt == Commit{400, "/scratch/c", now, 0.8, 123});
        // restartd asks for nothing any more
        book.delivered({}, reply_for(12, 1));
        CHECK(session.answer(R"({"op":"due"})", now).find("\"save_by\":null") != std::string::npos);
    }
    CHECK(book.undelivered() == 1); // the client has gone, its commit stays
    book.delivered(book.entries(), {});
    CHECK(book.undelivered() == 0);
    answer_often(book);
    CHECK(book.entries().empty());
}

TEST_CASE("how long a checkpoint took to be safe is reported with it") {
    JobBook book;
    JobSession session(book, ucx, 1000);
    session.answer(hello(12), now);
    const auto line = R"({"op":"commit","step":1,"path":"/x","cost_s":2,"bytes":1,"safe_s":30})";
    REQUIRE(ok(session.answer(line, now)));
    const auto sent = book.entries().at(0).ckpt;
    CHECK(sent->safe_s == 30);
    CHECK(sent->beside_s() == 28);
    session.answer(commit(2), now);
    CHECK(book.entries().at(0).ckpt->beside_s() == 0); // it stood still until then
}

TEST_CASE("a job that asks anew each minute is told what came between") {
    JobBook book;
    const auto ask = [&] {
        JobSession session(book, ucx, 1000);
        session.answer(hello(12, 1), now);
        return session.answer(R"({"op":"due"})", now);
    };
    CHECK(ask().find("\"save_by\":null") != std::string::npos);
    book.delivered(book.entries(), reply_for(12, 1, now + 9s));
    CHECK(ask().find("\"save_by\":1.700000009E9") != std::string::npos);
    // It is forgotten when it has not asked for long, and makes room when the book is full.
    for (std::size_t i = 0; i < JobBook::idle_answers; ++i)
        book.delivered(book.entries(), {});
    CHECK(book.entries().size() == 1);
    ask();
    for (std::uint32_t id = 100; id < 99 + JobBook::most_entries_a_uid; ++id)
        REQUIRE(book.join({base::JobId(id), 0, 1000}));
    CHECK(book.entries().size() == JobBook::most_entries_a_uid);
    CHECK(book.join({7, 0, 1000}));
    CHECK_FALSE(book.join({8, 0, 1000})); // all have clients now
}

TEST_CASE("a job whose launcher knows that it ends is to save, until it has") {
    JobBook book;
    JobSession launcher(book, ucx, 1000), rank(book, ucx, 1000), other(book, ucx, 1001);
    CHECK(launcher.answer(R"({"op":"save","within_s":10})", now).find("say hello first") !=
          std::string::npos);
    for (auto* session : {&launcher, &rank, &other})
        session->answer(hello(12, 1), now);
    CHECK(launcher.answer(R"({"op":"save","within_s":10})", now).find("\"ok\":true") != std::string::npos);
    const auto asked = [&](JobSession& session) {
        return session.answer(R"({"op":"due"})", now).find("\"save_by\":1.70000001E9") != std::string::npos;
    };
    CHECK(asked(rank));
    CHECK_FALSE(asked(other));                        // another user's job of this number
    book.delivered(book.entries(), reply_for(12, 1)); // restartd asks for nothing
    CHECK(asked(rank));
    book.delivered(book.entries(), reply_for(12, 1, now + 5s)); // what comes first counts
    CHECK(book.advice({12, 1, 1000}).save_by == now + 5s);
    book.delivered(book.entries(), reply_for(12, 1, now + 50s));
    CHECK(asked(rank));
    rank.answer(commit(3), now);
    CHECK(book.advice({12, 1, 1000}).save_by == now + 50s);
    for (const char* wrong : {"0", "-1", "1e9", "\"x\"", "null"})
        CHECK(launcher.answer(std::string(R"({"op":"save","within_s":)") + wrong + "}", now)
                  .find("\"ok\":false") != std::string::npos);
    CHECK_FALSE(asked(rank));
}

TEST_CASE("a commit that came after the report was made stays to be told") {
    JobBook book;
    JobSession session(book, ucx, 1000);
    session.answer(hello(12), now);
    session.answer(commit(1), now);
    const auto sent = book.entries();
    session.answer(commit(2), now);
    book.delivered(sent, {});
    CHECK(book.undelivered() == 1);
    book.delivered(book.entries(), {});
    CHECK(book.undelivered() == 0);
}

TEST_CASE("users, starts and jobs do not mix") {
    JobBook book;
    JobSession owner(book, ucx, 1000), other(book, ucx, 1001), older(book, ucx, 1000);
    owner.answer(hello(12, 1), now);
    other.answer(hello(12, 1), now);
    older.answer(hello(12, 0), now);
    other.answer(commit(9, "/evil"), now);
    const auto entries = book.entries();
    REQUIRE(entries.size() == 3);
    for (const auto& entry : entries)
        CHECK(entry.ckpt.has_value() == (entry.uid == 1001));
    book.delivered(entries, reply_for(12, 1));
    CHECK_FALSE(book.advice({12, 0, 1000}).interval_s);
    CHECK(book.advice({12, 1, 1000}).interval_s == 37.5);
}

TEST_CASE("several ranks are one entry until the last has gone; a second hello moves a client") {
    JobBook book;
    {
        JobSession first(book, ucx, 1000);
        first.answer(hello(12), now);
        {
            JobSession second(book, ucx, 1000);
            second.answer(hello(12), now);
            second.answer(hello(12), now);
            CHECK(book.entries().size() == 1);
        }
        CHECK(book.entries().size() == 1);
        first.answer(hello(13), now);
        answer_often(book);
        CHECK(book.entries() == std::vector<JobReport>{{13, 0, 1000, {}}});
    }
    answer_often(book);
    CHECK(book.entries().empty());
}

TEST_CASE("lines that are refused name the field and change nothing") {
    const std::pair<std::string, std::string> lines[] = {
        {"", "not JSON"},
        {"garbage", "not JSON"},
        {"[]", "op"},
        {"{}", "op"},
        {R"({"op":1})", "op"},
        {R"({"op":"dance"})", "must be hello, due, commit, run, over, ucx, stats, mark, keep, save or "
                              "preflight"},
        {R"({"op":"hello"})", "job"},
        {R"({"op":"hello","job":0,"epoch":0})", "job"},
        {R"({"op":"hello","job":-1,"epoch":0})", "job"},
        {R"({"op":"hello","job":9223372036854775808,"epoch":0})", "job"},
        {R"({"op":"hello","job":"12[0]","epoch":0})", "job"},
        {R"({"op":"hello","job":12})", "epoch"},
        {R"({"op":"hello","job":"12","epoch":0})", "job"},
        {R"({"op":"due"})", "say hello first"},
        {commit(1), "say hello first"},
    };
    for (const auto& [line, what] : lines) {
        INFO(line);
        JobBook book;
        JobSession session(book, ucx, 1000);
        const auto answer = session.answer(line, now);
        CHECK_FALSE(ok(answer));
        CHECK(answer.find(what) != std::string::npos);
        CHECK(book.entries().empty());
    }
    const std::pair<std::string, std::string> commits[] = {
        {R"({"op":"commit"})", "step"},
        {R"({"op":"commit","step":-1,"path":"/x","cost_s":1,"bytes":1})", "step"},
        {R"({"op":"commit","step":1,"path":"x","cost_s":1,"bytes":1})", "path"},
        {R"({"op":"commit","step":1,"path":"/x\n","cost_s":1,"bytes":1})", "path"},
        {R"({"op":"commit","step":1,"path":"/)" + std::string(4095, 'x') + R"(","cost_s":1,"bytes":1})",
         "path"},
        {R"({"op":"commit","step":1,"path":"/x","cost_s":-1,"bytes":1})", "cost_s"},
        {R"({"op":"commit","step":1,"path":"/x","cost_s":1e9,"bytes":1})", "cost_s"},
        {R"({"op":"commit","step":1,"path":"/x","cost_s":1,"bytes":1.5})", "bytes"},
        {R"({"op":"commit","step":1,"path":"/x","cost_s":1,"bytes":1,"safe_s":-1})", "safe_s"},
        {"{\"op\":\"commit\",\"step\":1,\"path\":\"/\xff\",\"cost_s\":1,\"bytes\":1}", "not JSON"},
    };
    for (const auto& [line, what] : commits) {
        INFO(line);
        JobBook book;
        JobSession session(book, ucx, 1000);
        REQUIRE(ok(session.answer(hello(12), now)));
        CHECK(session.answer(line, now).find(what) != std::string::npos);
        CHECK_FALSE(book.entries().at(0).ckpt);
    }
}

TEST_CASE("too many wrong lines make a client hopeless") {
    JobBook book;
    JobSession session(book, ucx, 1000);
    for (int i = 0; i < JobSession::most_errors; ++i) {
        CHECK_FALSE(session.hopeless());
        session.answer("x", now);
    }
    CHECK(session.hopeless());
}

TEST_CASE("a user cannot fill the book for others") {
    JobBook book;
    for (std::uint32_t id = 1; id <= JobBook::most_entries_a_uid; ++id)
        REQUIRE(book.join({base::JobId(id), 0, 1000}));
    const auto refused = book.join({5000, 0, 1000});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("uid 1000") != std::string::npos);
    CHECK(book.join({5000, 0, 1001}));
    CHECK(book.join({1, 0, 1000})); // a job that is already there
}

TEST_CASE("a report stays small: paths beyond the budget wait for the next one") {
    JobBook book;
    const std::string path = "/" + std::string(4000, 'x');
    for (std::uint32_t id = 1; id <= 100; ++id) {
        REQUIRE(book.join({base::JobId(id), 0, 1000}));
        book.commit({base::JobId(id), 0, 1000}, {1, path, now, 1, 1});
    }
    int rounds = 0;
    for (; book.undelivered() > 0 && rounds < 10; ++rounds) {
        const auto sent = book.entries();
        std::size_t bytes = 0;
        for (const auto& job : sent)
            bytes += job.ckpt ? job.ckpt->path.size() : 0;
        CHECK(bytes <= JobBook::most_path_bytes);
        CHECK(sent.size() == 100);
        book.delivered(sent, {});
    }
    CHECK(rounds == 2);
}

TEST_CASE("railrun says what it runs and hears what it is to do") {
    const std::string line = R"({"op":"run","launch":1,"hosts":"n[1-4]","spares":"n5","ended":true})";
    JobBook book;
    CHECK(book.awaited() == JobBook::Awaited::nothing);
    {
        JobSession railrun(book, ucx, 1000);
        CHECK_FALSE(ok(railrun.answer(line, now))); // no hello yet
        railrun.answer(hello(12, 1), now);
        railrun.news();
        CHECK(railrun.answer(line, now) ==
              "{\"heard\":false,\"suspected\":false,\"order\":null,\"ok\":true}\n");
        CHECK(railrun.news());
        railrun.answer(line, now);
        CHECK_FALSE(railrun.news()); // it says that all the time
        CHECK(book.awaited() == JobBook::Awaited::now);
        const auto entries = book.entries();
        REQUIRE(entries.size() == 1);
        CHECK(entries[0].run == JobRun{1, "n[1-4]", "n5", true});
        auto reply = reply_for(12, 1);
        reply.jobs[0].order = RunOrder{1, "n[1-3],n5", "i-7"};
        reply.jobs[0].suspected = true;
        book.delivered(entries, reply);
        CHECK(railrun.answer(line, now) ==
              "{\"heard\":true,\"suspected\":true,\"order\":{\"launch\":1,\"hosts\":\"n[1-3],n5\","
              "\"incident\":\"i-7\"},\"ok\":true}\n");
        // What it says now restartd has not heard.
        railrun.answer(R"({"op":"run","launch":2,"hosts":"n[1-3],n5","spares":""})", now);
        CHECK_FALSE(book.run_advice({12, 1, 1000}).heard);
        CHECK(book.awaited() == JobBook::Awaited::later);
        book.delivered(book.entries(), reply_for(12, 1));
        CHECK_FALSE(book.run_advice({12, 1, 1000}).order);
        book.delivered(book.entries(), reply_for(12, 1, now + 9s));
        CHECK(book.awaited() == JobBook::Awaited::now); // it saves, to be moved

        // One speaks for a job; the ranks' commits stay as they are.
        JobSession second(book, ucx, 1000);
        second.answer(hello(12, 1), now);
        CHECK_FALSE(ok(second.answer(line, now)));
        CHECK(ok(second.answer(R"({"op":"over"})", now)));
        CHECK(book.entries()[0].run->launch == 2);
        CHECK(ok(second.answer(commit(7), now)));
        CHECK(ok(railrun.answer(R"({"op":"over"})", now)));
        CHECK_FALSE(book.entries()[0].run);
        CHECK(ok(second.answer(line, now)));
    }
    CHECK_FALSE(book.entries()[0].run); // its end ends it
    CHECK(book.awaited() == JobBook::Awaited::nothing);
}

TEST_CASE("a railrun's hosts are hosts, and their lists have an end") {
    JobBook book;
    JobSession session(book, ucx, 1000);
    session.answer(hello(12, 1), now);
    const auto run = [&](const std::string& hosts) {
        return session.answer(
            fmt::format(R"({{"op":"run","launch":0,"hosts":"{}","spares":"","ended":false}})", hosts), now);
    };
    CHECK(ok(run("n[001-004],login-7.site")));
    CHECK_FALSE(ok(run("")));
    CHECK_FALSE(ok(run("n1; reboot")));
    CHECK_FALSE(ok(run("$(id)")));
    CHECK(run(std::string(20'000, 'x')).find("hosts") != std::string::npos);
    CHECK(book.entries()[0].run->hosts == "n[001-004],login-7.site");
}

TEST_CASE("the first step of a start is reported by its age until restartd has answered about the job") {
    JobBook book;
    const JobKey job{base::JobId(12), 1, 1000};
    REQUIRE(book.join(job));
    JobBook::Clock::time_point clock{};
    clock += std::chrono::hours(1);
    book.mark(job, {0, 10, 6, 1, true}, clock);
    book.mark(job, {1, 10, 5, 1, true}, clock); // a neighbour that was a little later
    const auto age = [&] { return book.entries(clock).front().stepped_s; };
    CHECK(age() == 6);
    book.delivered(book.entries(clock), {}); // restartd has not read the job yet
    clock += std::chrono::seconds(2);
    REQUIRE(age() == 8);
    book.delivered(book.entries(clock), reply_for(job.id, job.epoch));
    CHECK_FALSE(age());
    book.mark(job, {0, 100, 5, 1, false}, clock);
    CHECK_FALSE(age());
    book.mark(job, {0, 10, 5, 1, true}, clock); // a process of another launch
    CHECK(age() == 5);
    for (int i = 0; i < JobBook::most_stepped_said; ++i) // of a job that restartd does not have
        book.delivered(book.entries(clock), {});
    CHECK_FALSE(age());
}

TEST_CASE("who keeps a job's processes says so as long as it is connected, and hears why they are to end") {
    JobBook book;
    {
        JobSession starter(book, ucx, 1000), process(book, ucx, 1000);
        REQUIRE(ok(starter.answer(hello(12, 1), now)));
        REQUIRE(ok(process.answer(hello(12, 1), now)));
        CHECK(book.entries()[0].kept == Kept::no);
        CHECK(starter.answer(R"({"op":"keep"})", now) == "{\"end\":null,\"cut_off\":null,\"ok\":true}\n");
        CHECK(book.entries()[0].kept == Kept::here);
        CHECK(book.keeps_any());
        Reply reply;
        reply.ends = {{12, 1, "job 12 runs without n003"}, {12, 2, "another start"}};
        book.delivered(book.entries(), reply);
        CHECK(*book.keep_advice({12, 1, 1000}).end == "job 12 runs without n003");
        book.set_cut_off("this host is cut off");
        CHECK(ok(starter.answer(R"({"op":"keep","ended":true})", now)));
        CHECK(book.entries()[0].kept == Kept::ended);
        // Another that has not ended its own: not all are.
        JobSession other(book, ucx, 1000);
        REQUIRE(ok(other.answer(hello(12, 1), now)));
        REQUIRE(ok(other.answer(R"({"op":"keep"})", now)));
        CHECK(book.entries()[0].kept == Kept::here);
        book.delivered(book.entries(), {}); // restartd no longer says so
        CHECK_FALSE(book.keep_advice({12, 1, 1000}).end);
    }
    CHECK(book.entries()[0].kept == Kept::no);
    CHECK_FALSE(book.keeps_any());
    JobSession stranger(book, ucx, 1000);
    CHECK_FALSE(ok(stranger.answer(R"({"op":"keep"})", now))); // whose?
}

TEST_CASE("a fault on a GPU is told of the job whose process had it, once, until restartd knows") {
    JobBook book;
    const ProgramFault fault{"gpu3", 31, 4711, "MMU Fault"};
    const auto told = [&](base::JobId id, std::uint32_t epoch = 0) {
        for (const auto& job : book.entries())
            if (job.id == id && job.epoch == epoch) return job.fault;
        return std::optional<ProgramFault>();
    };
    for (const std::uint32_t job : {12U, 13U})
        REQUIRE(book.join({base::JobId(job), 0, 1000}));
    book.put_fault(1000, std::nullopt, fault); // of which of the two it is is not known
    CHECK_FALSE(told(12));
    CHECK_FALSE(told(13));
    book.put_fault(1001, 12, fault); // another user's number
    CHECK_FALSE(told(12));
    book.put_fault(1000, 14, fault); // a job that does not speak to us
    CHECK_FALSE(told(12));
    book.leave({12, 0, 1000}); // as a program does that has failed
    book.put_fault(1000, 12, fault);
    CHECK(told(12) == fault);
    CHECK_FALSE(told(13));
    book.put_fault(1000, 12, {"gpu1", 43, 4712, ""});
    CHECK(told(12) == fault); // a job that fails as one has many
    book.delivered(book.entries(), {});
    CHECK(told(12) == fault); // restartd has not read of the job yet
    book.delivered(book.entries(), reply_for(12, 0));
    CHECK_FALSE(told(12));
    book.put_fault(1000, 12, fault);
    CHECK_FALSE(told(12));
    // It was started again.
    REQUIRE(book.join({12, 1, 1000}));
    book.put_fault(1000, 12, fault);
    CHECK_FALSE(told(12, 0));
    CHECK(told(12, 1) == fault);
    book.put_fault(1000, std::nullopt, fault);
    CHECK_FALSE(told(13)); // 12 is here, too
    book.leave({12, 1, 1000});
    book.put_fault(1000, std::nullopt, fault);
    CHECK(told(13) == fault);
}

TEST_CASE("of an array whose tasks all fail a report has some faults, and the rest follow") {
    JobBook book;
    for (std::uint32_t job = 1; job <= JobBook::most_entries_a_uid; ++job) {
        REQUIRE(book.join({base::JobId(job), 0, 1000}));
        book.put_fault(1000, job, {"gpu0", 13, job, std::string(longest_fault, 'x')});
    }
    std::size_t told = 0;
    for (int reports = 0; reports < 100; ++reports) {
        const auto sent = book.entries();
        Reply reply;
        std::size_t here = 0;
        for (const auto& job : sent) {
            here += job.fault ? 1 : 0;
            reply.jobs.push_back({job.id, job.epoch, {}, {}, {}});
        }
        CHECK(here <= JobBook::most_faults);
        told += here;
        book.delivered(sent, reply);
    }
    CHECK(told == JobBook::most_entries_a_uid);
}
