#include "restart/daemon/journal.hpp"

#include "base/file.hpp"
#include "restart/core/store/state_json.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using restart::Journal;
using restart::Record;

namespace {

base::Time at(int second) {
    return base::Time(std::chrono::seconds(1'700'000'000 + second));
}

// Of a state that is told by its next incident.
std::vector<restart::StateRow> rows_of(std::uint64_t next_incident) {
    restart::State state;
    state.next_incident = next_incident;
    return restart::StateRows().changes(state);
}

restart::Action drain(std::string id, std::string host) {
    return {std::move(id), restart::DrainHost{std::move(host), "railyard[i-1]: host silent"}};
}

constexpr const char* as_version_2 =
    "DROP INDEX notes_uid; DROP INDEX notes_account; ALTER TABLE notes DROP COLUMN uid; ALTER TABLE notes "
    "DROP "
    "COLUMN account; ALTER TABLE intents DROP COLUMN uid; ALTER TABLE intents DROP COLUMN account; PRAGMA "
    "user_version = 2; DROP TABLE lease; DROP TABLE segments; DROP TABLE events;";

Journal open(const std::filesystem::path& path) {
    auto journal = Journal::open(path);
    INFO((journal ? "" : journal.error().text));
    REQUIRE(journal);
    return *std::move(journal);
}

std::string open_error(const std::filesystem::path& path, base::Code code) {
    const auto before = base::read_file(path).value_or("");
    const auto journal = Journal::open(path);
    REQUIRE_FALSE(journal);
    CHECK(journal.error().code == code);
    CHECK(journal.error().text.starts_with(path.string()));
    CHECK(base::read_file(path).value_or("") == before); // never overwritten
    return journal.error().text;
}

void make_journal(const std::filesystem::path& path) {
    auto journal = open(path);
    Record record;
    for (int i = 0; i < 200; ++i)
        record.notes.push_back(
            {at(i), restart::NoteKind::signal, "i-1", "n001", {}, std::string(100, 'x'), {}});
    REQUIRE(journal.commit(record, at(0)));
}

} // namespace

TEST_CASE("a record is there after the journal was closed") {
    const test::Folder folder;
    const auto path = folder.path / "sub" / "journal.db";
    {
        auto journal = open(path);
        CHECK_FALSE(journal.state()->has_value());
        Record record;
        record.rows = rows_of(1);
        record.notes.push_back({at(1), restart::NoteKind::signal, "i-1", "n003", {}, "silent for 3 s", {}});
        record.notes.push_back({at(2),
                                restart::NoteKind::decision,
                                "i-1",
                                "n003",
                                base::JobId(12),
                                "requeue",
                                {{1001, "physics"}}});
        record.given = {drain("i-1/1", "n003"), drain("i-1/2", "n004")};
        REQUIRE(journal.commit(record, at(2)));
        REQUIRE(journal.commit(
            {rows_of(2), {}, {}, {{"i-1/1", "", true}, {"i-1/2", "slurmctld is away", false}}, {}, {}},
            at(3)));
    }
    auto journal = open(path);
    CHECK((*journal.state())->next_incident == 2);
    const auto notes = journal.notes({});
    REQUIRE(notes);
    REQUIRE(notes->size() == 2);
    CHECK(notes->front() ==
          restart::Note{at(1), restart::NoteKind::signal, "i-1", "n003", {}, "silent for 3 s", {}});
    CHECK(notes->back().kind == restart::NoteKind::decision);
    CHECK(notes->back().owner == restart::JobOwner{1001, "physics"});
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms(0077)) ==
          std::filesystem::perms::none); // whose jobs are in it is for restartd to tell
    auto intents = journal.intents("i-1");
    REQUIRE(intents);
    REQUIRE(intents->size() == 2);
    CHECK(intents->at(0).id == "i-1/2");
    CHECK(intents->at(0).state == "pending");
    CHECK(intents->at(0).error == "slurmctld is away");
    CHECK(intents->at(1).state == "done");
    CHECK(intents->at(1).finished == at(3));
    CHECK(journal.intents("i-9")->empty());
    Record again; // the same action, given once more
    again.given = {drain("i-1/2", "n004")};
    REQUIRE(journal.commit(again, at(5)));
    intents = journal.intents("i-1");
    CHECK(intents->at(0).tries == 2);
    CHECK(intents->at(0).created == at(2));
}

TEST_CASE("of notes and actions a viewer finds what they may see") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    using enum restart::NoteKind;
    using restart::JobOwner;
    const JobOwner alice{1001, "chemistry"}, bob{1002, "physics"};
    const auto requeue = [](std::string id, std::uint32_t job, const std::optional<JobOwner>& owner) {
        restart::RequeueJob action;
        action.job.id = base::JobId(job);
        action.job.owner = owner;
        return restart::Action{std::move(id), std::move(action)};
    };
    Record record;
    record.notes = {{at(1), signal, "i-1", "n003", {}, "silent", {}},
                    {at(2), decision, "i-1", "n003", base::JobId(12), "alice's", alice},
                    {at(3), decision, "i-1", "n003", base::JobId(13), "bob's", bob},
                    {at(4), decision, "i-2", "n004", base::JobId(14), "whose", {}},
                    {at(5), signal, "i-3", "n005", {}, "power brake", {}},
                    {at(6), outcome, "i-3", "n005", base::JobId(12), "another life's, bob's", bob}};
    record.given = {drain("i-1/1", "n003"), requeue("i-1/2", 12, alice), requeue("i-1/3", 13, bob),
                    requeue("i-2/1", 14, {})};
    REQUIRE(journal.commit(record, at(6)));
    const auto seconds = [&](const restart::NoteFilter& filter) {
        std::string all;
        const auto notes = journal.notes(filter);
        REQUIRE(notes);
        for (const auto& note : *notes)
            all += fmt::format("{} ", (note.time - at(0)).count() / 1000);
        return all;
    };
    const auto actions = [&](const restart::View& view) {
        std::string all;
        const auto intents = journal.intents("", view);
        REQUIRE(intents);
        for (const auto& intent : *intents)
            all = intent.id + " " + all;
        return all;
    };
    const restart::View everything, of_alice{false, 1001, {}, {.jobs = true}},
        of_coordinator{false, 1001, {"biology", "physics"}, {.jobs = true}},
        by_label{false, 1001, {"physics"}, {.jobs = true, .by_label = true}},
        without_nodes{false, 1001, {}, {.nodes = true}},
        without_both{false, 1001, {"physics"}, {.jobs = true, .events = true}};
    CHECK(seconds({.view = everything}) == "1 2 3 4 5 6 ");
    CHECK(seconds({.view = of_alice}) == "1 2 5 ");
    CHECK(seconds({.view = of_coordinator}) == "1 2 3 5 6 ");
    CHECK(seconds({.view = by_label}) == "1 2 5 ");
    CHECK(seconds({.view = without_nodes}) == "2 ");
    CHECK(seconds({.view = without_both}) == "2 3 6 ");
    CHECK(actions(everything) == "i-1/1 i-1/2 i-1/3 i-2/1 ");
    CHECK(actions(of_alice) == "i-1/1 i-1/2 ");
    CHECK(actions(of_coordinator) == "i-1/1 i-1/2 i-1/3 ");
    CHECK(actions(without_nodes) == "i-1/2 ");
    CHECK(actions(without_both) == "i-1/2 i-1/3 ");
    // Whoever asks about another's job does not learn where it was, nor of an earlier life of the number.
    CHECK(seconds({.job = base::JobId(13), .view = of_alice}).empty());
    CHECK(seconds({.job = base::JobId(12), .view = of_alice}) == "1 2 ");
    CHECK(seconds({.job = base::JobId(14), .view = of_coordinator}).empty());
    // The newest that are theirs, not theirs among the newest.
    CHECK(seconds({.view = of_alice, .most = 2}) == "2 5 ");
    CHECK(seconds({.view = without_nodes, .most = 1}) == "2 ");
    CHECK(seconds({.host = "n003", .view = of_alice}) == "1 2 ");
}

TEST_CASE("a journal of version 2, which did not say whose jobs were, is taken up") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    {
        auto journal = open(path);
        Record record;
        record.rows = rows_of(5);
        record.notes = {
            {at(1), restart::NoteKind::signal, "i-1", "n003", {}, "requeue job 12", {}},
            {at(2), restart::NoteKind::decision, "i-1", "n003", base::JobId(12), "text", {{1001, ""}}}};
        record.given = {drain("i-1/1", "n003")};
        REQUIRE(journal.commit(record, at(2)));
    }
    {
        auto old = restart::Database::open(path, restart::Database::Open::existing);
        REQUIRE(old->execute(as_version_2));
    }
    std::filesystem::permissions(path, std::filesystem::perms(0644));
    const restart::View someone{false, 1001, {}, {.jobs = true}};
    for (int i = 0; i < 2; ++i) {
        auto journal = open(path);
        CHECK((*journal.state())->next_incident == 5);
        CHECK(journal.notes({})->size() == 2);
        CHECK(journal.notes({.view = someone})
                  ->empty()); // whose they are nobody knows; hosts' notes named jobs
        CHECK(journal.intents("")->size() == 1);
        CHECK(journal.intents("", someone)->empty());
    }
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms(0007)) ==
          std::filesystem::perms::none);
}

TEST_CASE("notes are chosen by job, host and incident") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    using enum restart::NoteKind;
    Record record;
    record.notes = {
        {at(1), signal, "i-1", "n003", {}, "silent", {}},
        {at(2), decision, "i-1", "n003", base::JobId(12), "requeue 12", {}},
        {at(3), decision, "i-1", "n003", base::JobId(13), "requeue 13", {}},
        {at(4), signal, "i-2", "n009", {}, "power brake", {}},
        {at(5), signal, "", "n003", {}, "seen again", {}},
        {at(6), outcome, "i-1", "", base::JobId(12), "runs elsewhere", {}},
    };
    REQUIRE(journal.commit(record, at(6)));
    const auto texts = [&](const restart::NoteFilter& filter) {
        std::string all;
        const auto notes = journal.notes(filter);
        REQUIRE(notes);
        for (const auto& note : *notes)
            all += note.text + "; ";
        return all;
    };
    CHECK(texts({.job = base::JobId(12)}) == "silent; requeue 12; runs elsewhere; ");
    CHECK(texts({.host = "n003"}) == "silent; requeue 12; requeue 13; seen again; runs elsewhere; ");
    CHECK(texts({.host = "n009"}) == "power brake; ");
    CHECK(texts({.incident = "i-2"}) == "power brake; ");
    CHECK(texts({.most = 2}) == "seen again; runs elsewhere; ");
    CHECK(texts({.host = "n' OR 1=1 --"}).empty());
}

TEST_CASE("jobs of a journal are plain numbers as ever, and elements of arrays texts") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    const auto element = base::JobId(12U, 3), large = base::JobId(std::uint64_t{1} << 40);
    using enum restart::NoteKind;
    open(path);
    {
        // As releases wrote it that knew numbers of 32 bits and 0 alone.
        auto old = restart::Database::open(path, restart::Database::Open::existing);
        REQUIRE(old->execute(std::string(as_version_2) +
                             "INSERT INTO notes (time, kind, incident, host, job, text) VALUES "
                             "(1000, 'signal', 'i-1', 'n003', 0, 'silent'), "
                             "(2000, 'decision', 'i-1', 'n003', 12, 'requeue 12'), "
                             "(3000, 'decision', 'i-1', 'n003', 4294967294, 'requeue the last')"));
    }
    auto journal = open(path);
    Record record;
    record.notes = {{at(4), decision, "i-1", "n003", element, "requeue 12[3]", {}},
                    {at(5), decision, "i-2", "n003", large, "requeue the large one", {}},
                    {at(6), decision, "i-2", "n003", base::JobId(13), "requeue 13", {}}};
    REQUIRE(journal.commit(record, at(6)));
    const auto notes = journal.notes({});
    REQUIRE(notes);
    REQUIRE(notes->size() == 6);
    CHECK_FALSE(notes->at(0).job);
    CHECK(notes->at(1).job == base::JobId(12));
    CHECK(notes->at(2).job == base::JobId(4294967294U));
    CHECK(notes->at(3).job == element);
    CHECK(notes->at(4).job == large);
    const auto texts = [&](base::JobId job) {
        std::string all;
        const auto of_job = journal.notes({.job = job});
        REQUIRE(of_job);
        for (const auto& note : *of_job)
            all += note.text + "; ";
        return all;
    };
    CHECK(texts(base::JobId(12)) == "silent; requeue 12; ");
    CHECK(texts(element) == "silent; requeue 12[3]; ");
    CHECK(texts(large) == "requeue the large one; ");
    auto raw = restart::Database::open(path, restart::Database::Open::existing);
    CHECK(*raw->value(
              "SELECT group_concat(typeof(job) || ' ' || job) FROM (SELECT job FROM notes ORDER BY id)") ==
          "integer 0,integer 12,integer 4294967294,text 12[3],integer 1099511627776,integer 13");
}

TEST_CASE("a second restartd is told who holds the journal") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    {
        const auto first = open(path);
        const auto second = Journal::open(path);
        REQUIRE_FALSE(second);
        CHECK(second.error().code == base::Code::unavailable);
        CHECK(second.error().text.find(fmt::format("process {}", ::getpid())) != std::string::npos);
    }
    open(path);
}

TEST_CASE("what was committed survives a kill, what was not leaves no trace") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    const pid_t child = ::fork();
    if (child == 0) {
        auto journal = Journal::open(path);
        Record record;
        record.rows = rows_of(7);
        record.given = {drain("i-1/1", "n003")};
        if (!journal || !journal->commit(record, at(1))) ::_exit(1);
        ::kill(::getpid(), SIGKILL); // between the intent and its action
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    auto journal = open(path);
    CHECK((*journal.state())->next_incident == 7);
    CHECK(journal.intents("")->at(0).state == "pending");
}

TEST_CASE("a record is written whole or not at all") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    REQUIRE(journal.commit({rows_of(3), {}, {}, {}, {}, {}}, at(0)));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{1 << 20, before.rlim_max}; // what a full disk looks like to the writer
    ::setrlimit(RLIMIT_FSIZE, &full);
    Record record;
    record.rows = rows_of(4);
    record.rows.push_back({"host/n001", R"({"unit":")" + std::string(4 << 20, 'x') + R"("})"});
    record.notes.push_back({at(1), restart::NoteKind::signal, "i-1", "n003", {}, "text", {}});
    const auto refused = journal.commit(record, at(1));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignore);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::unavailable);
    CHECK(refused.error().text.find("journal.db") != std::string::npos);
    CHECK((*journal.state())->next_incident == 3);
    CHECK(journal.notes({})->empty());
    REQUIRE(journal.commit(record, at(2))); // the same once there is room
    CHECK((*journal.state())->hosts.at("n001").unit.size() == 4 << 20);
}

TEST_CASE("a journal of version 1, which held the state in one text, is taken up") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    make_journal(path);
    const auto write = [&](const std::string& json) {
        auto old = restart::Database::open(path, restart::Database::Open::existing);
        REQUIRE(old->execute(
            std::string(as_version_2) +
            "DROP TABLE rows; DROP INDEX intents_incident; PRAGMA user_version = 1; CREATE TABLE state "
            "(one INTEGER PRIMARY KEY, time INTEGER NOT NULL, json TEXT NOT NULL)"));
        auto insert = old->prepare("INSERT INTO state VALUES (1, 0, ?1)");
        REQUIRE(insert->bind(1, json).run());
    };
    restart::State state;
    state.next_incident = 17;
    state.hosts["n001"].unit = "su1";
    SECTION("its state and its notes stay") {
        write(to_json(state));
        for (int i = 0; i < 2; ++i) { // once it was taken up it is one of ours
            auto journal = open(path);
            CHECK(**journal.state() == state);
            CHECK(journal.notes({})->size() == 200);
        }
    }
    SECTION("one that cannot be understood is left alone") {
        write(R"({"v":2,"hosts":17})");
        for (int i = 0; i < 2; ++i)
            CHECK(open_error(path, base::Code::input).find("cannot be understood: hosts: ") !=
                  std::string::npos);
    }
}

TEST_CASE("what is old is forgotten, the oldest first, and what is not done never") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    Record record;
    for (int i = 0; i < 12'000; ++i)
        record.notes.push_back({at(i), restart::NoteKind::signal, "i-1", "n001", {}, "text", {}});
    record.given = {drain("i-1/1", "n003"), drain("i-1/2", "n004")};
    record.outcomes = {{"i-1/1", "", true}};
    REQUIRE(journal.commit(record, at(0)));
    CHECK(*journal.forget(at(11'000)));
    CHECK(journal.notes({.most = 100'000})->front().time == at(5000));
    CHECK(*journal.forget(at(11'000)));
    CHECK_FALSE(*journal.forget(at(11'000)));
    CHECK(journal.notes({.most = 100'000})->size() == 1000);
    const auto actions = journal.intents("");
    REQUIRE(actions->size() == 1);
    CHECK(actions->front().id == "i-1/2");
}

TEST_CASE("a reader of many notes holds up no writer") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    Record record;
    for (int i = 0; i < 20'000; ++i)
        record.notes.push_back(
            {at(i), restart::NoteKind::signal, "i-1", "n001", {}, std::string(100, 'x'), {}});
    REQUIRE(journal.commit(record, at(0)));
    std::atomic<bool> stop = false;
    std::atomic<int> read = 0;
    std::jthread reader([&] {
        while (!stop) {
            const auto notes = journal.notes({.most = 20'000});
            if (notes && notes->size() >= 20'000) ++read;
        }
    });
    int written = 0;
    for (; read < 3 && written < 100'000; ++written)
        REQUIRE(journal.commit({rows_of(static_cast<std::uint64_t>(written)), {}, {}, {}, {}, {}}, at(1)));
    stop = true;
    reader.join();
    CHECK(read >= 3);
    CHECK(written > 3); // in between
    CHECK((*journal.state())->next_incident == static_cast<std::uint64_t>(written - 1));
}

TEST_CASE("a file that is no sound journal is refused and left alone") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    SECTION("empty") {
        REQUIRE(base::write_file(path, ""));
        CHECK(open_error(path, base::Code::input).find("truncated") != std::string::npos);
    }
    SECTION("text") {
        REQUIRE(base::write_file(path, "[restartd]\nlisten = \"127.0.0.1:8917\"\n" + std::string(5000, '#')));
        CHECK(open_error(path, base::Code::input).find("is not a journal") != std::string::npos);
    }
    SECTION("another program's database") {
        {
            auto other = restart::Database::open(path, restart::Database::Open::create);
            REQUIRE(other->execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)"));
        }
        CHECK(open_error(path, base::Code::input).find("another program") != std::string::npos);
    }
    SECTION("newer") {
        make_journal(path);
        {
            auto later = restart::Database::open(path, restart::Database::Open::existing);
            REQUIRE(later->execute(fmt::format("PRAGMA user_version = {}", Journal::version + 1)));
        }
        CHECK(open_error(path, base::Code::input).find("newer restartd") != std::string::npos);
    }
    SECTION("cut short") {
        make_journal(path);
        auto bytes = *base::read_file(path);
        const auto keep = GENERATE(100U, 4096U, 10000U, 0xe000U);
        REQUIRE(bytes.size() > keep);
        REQUIRE(base::write_file(path, std::string_view(bytes).substr(0, keep)));
        open_error(path, base::Code::input);
    }
    SECTION("bytes changed") {
        make_journal(path);
        auto bytes = *base::read_file(path);
        for (std::size_t i = 4096; i < bytes.size(); i += 64)
            bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
        REQUIRE(base::write_file(path, bytes));
        CHECK(open_error(path, base::Code::input).find("damaged") != std::string::npos);
    }
    SECTION("a directory") {
        std::filesystem::create_directory(path);
        CHECK_FALSE(Journal::open(path));
    }
    SECTION("no such directory") {
        const auto journal = Journal::open(folder.path / "a" / "b" / "journal.db");
        REQUIRE_FALSE(journal);
        CHECK(journal.error().code == base::Code::io);
    }
}
