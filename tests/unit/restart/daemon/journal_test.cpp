#include "restart/daemon/journal.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;
using restart::Journal;
using restart::Record;

namespace {

base::Time at(int second) {
    return base::Time(std::chrono::seconds(1'700'000'000 + second));
}

restart::Action drain(std::string id, std::string host) {
    restart::Action action;
    action.id = std::move(id);
    action.host = std::move(host);
    action.reason = "railyard[i-1]: host silent";
    return action;
}

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
    record.state = "{}";
    for (int i = 0; i < 200; ++i)
        record.notes.push_back({at(i), restart::NoteKind::signal, "i-1", "n001", 0, std::string(100, 'x')});
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
        record.state = R"({"a":1})";
        record.notes.push_back({at(1), restart::NoteKind::signal, "i-1", "n003", 0, "silent for 3 s"});
        record.notes.push_back({at(2), restart::NoteKind::decision, "i-1", "n003", 12, "requeue"});
        record.given = {drain("i-1/1", "n003"), drain("i-1/2", "n004")};
        REQUIRE(journal.commit(record, at(2)));
        REQUIRE(journal.commit(
            {R"({"a":2})", {}, {}, {{"i-1/1", "", true}, {"i-1/2", "slurmctld is away", false}}}, at(3)));
    }
    auto journal = open(path);
    CHECK(**journal.state() == R"({"a":2})");
    const auto notes = journal.notes({});
    REQUIRE(notes);
    REQUIRE(notes->size() == 2);
    CHECK(notes->front() ==
          restart::Note{at(1), restart::NoteKind::signal, "i-1", "n003", 0, "silent for 3 s"});
    CHECK(notes->back().kind == restart::NoteKind::decision);
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

TEST_CASE("notes are chosen by job, host and incident") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    using enum restart::NoteKind;
    Record record;
    record.notes = {
        {at(1), signal, "i-1", "n003", 0, "silent"},
        {at(2), decision, "i-1", "n003", 12, "requeue 12"},
        {at(3), decision, "i-1", "n003", 13, "requeue 13"},
        {at(4), signal, "i-2", "n009", 0, "power brake"},
        {at(5), signal, "", "n003", 0, "seen again"},
        {at(6), outcome, "i-1", "", 12, "runs elsewhere"},
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
    CHECK(texts({.job = 12}) == "silent; requeue 12; runs elsewhere; ");
    CHECK(texts({.host = "n003"}) == "silent; requeue 12; requeue 13; seen again; runs elsewhere; ");
    CHECK(texts({.host = "n009"}) == "power brake; ");
    CHECK(texts({.incident = "i-2"}) == "power brake; ");
    CHECK(texts({.most = 2}) == "seen again; runs elsewhere; ");
    CHECK(texts({.host = "n' OR 1=1 --"}).empty());
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
        record.state = "committed";
        record.given = {drain("i-1/1", "n003")};
        if (!journal || !journal->commit(record, at(1))) ::_exit(1);
        ::kill(::getpid(), SIGKILL); // between the intent and its action
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    auto journal = open(path);
    CHECK(**journal.state() == "committed");
    CHECK(journal.intents("")->at(0).state == "pending");
}

TEST_CASE("a record is written whole or not at all") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    REQUIRE(journal.commit({"old", {}, {}, {}}, at(0)));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{1 << 20, before.rlim_max}; // what a full disk looks like to the writer
    ::setrlimit(RLIMIT_FSIZE, &full);
    Record record;
    record.state = std::string(4 << 20, 'x');
    record.notes.push_back({at(1), restart::NoteKind::signal, "i-1", "n003", 0, "text"});
    const auto refused = journal.commit(record, at(1));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignore);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::unavailable);
    CHECK(refused.error().text.find("journal.db") != std::string::npos);
    CHECK(**journal.state() == "old");
    CHECK(journal.notes({})->empty());
    REQUIRE(journal.commit(record, at(2))); // the same once there is room
    CHECK((**journal.state()).size() == 4 << 20);
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
            REQUIRE(later->execute("PRAGMA user_version = 2"));
        }
        CHECK(open_error(path, base::Code::input).find("newer restartd (journal version 2") !=
              std::string::npos);
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
