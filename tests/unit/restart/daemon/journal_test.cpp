#include "restart/daemon/journal.hpp"

#include "base/file.hpp"
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
        record.rows = rows_of(1);
        record.notes.push_back({at(1), restart::NoteKind::signal, "i-1", "n003", 0, "silent for 3 s"});
        record.notes.push_back({at(2), restart::NoteKind::decision, "i-1", "n003", 12, "requeue"});
        record.given = {drain("i-1/1", "n003"), drain("i-1/2", "n004")};
        REQUIRE(journal.commit(record, at(2)));
        REQUIRE(journal.commit(
            {rows_of(2), {}, {}, {{"i-1/1", "", true}, {"i-1/2", "slurmctld is away", false}}}, at(3)));
    }
    auto journal = open(path);
    CHECK((*journal.state())->next_incident == 2);
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
    REQUIRE(journal.commit({rows_of(3), {}, {}, {}}, at(0)));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{1 << 20, before.rlim_max}; // what a full disk looks like to the writer
    ::setrlimit(RLIMIT_FSIZE, &full);
    Record record;
    record.rows = rows_of(4);
    record.rows.push_back({"host/n001", R"({"unit":")" + std::string(4 << 20, 'x') + R"("})"});
    record.notes.push_back({at(1), restart::NoteKind::signal, "i-1", "n003", 0, "text"});
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
        REQUIRE(old->execute("DROP TABLE rows; DROP INDEX intents_incident; PRAGMA user_version = 1; CREATE TABLE state "
                             "(one INTEGER PRIMARY KEY, time INTEGER NOT NULL, json TEXT NOT NULL)"));
        auto insert = old->prepare("INSERT INTO state VALUES (1, 0, ?1)");
        REQUIRE(insert->bind(1, json).run());
    };
    restart::State state;
    state.next_incident = 17;
    state.hosts["n001"].unit = "su1";
    SECTION("its state and its notes stay") {
        write(state.to_json());
        for (int i = 0; i < 2; ++i) { // once it was taken up it is one of ours
            auto journal = open(path);
            CHECK(**journal.state() == state);
            CHECK(journal.notes({})->size() == 200);
        }
    }
    SECTION("one that cannot be understood is left alone") {
        write(R"({"v":2,"hosts":17})");
        for (int i = 0; i < 2; ++i)
            CHECK(open_error(path, base::Code::input).find("cannot be understood: hosts: ") != std::string::npos);
    }
}

TEST_CASE("what is old is forgotten, the oldest first, and what is not done never") {
    const test::Folder folder;
    auto journal = open(folder.path / "journal.db");
    Record record;
    for (int i = 0; i < 12'000; ++i)
        record.notes.push_back({at(i), restart::NoteKind::signal, "i-1", "n001", 0, "text"});
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
        record.notes.push_back({at(i), restart::NoteKind::signal, "i-1", "n001", 0, std::string(100, 'x')});
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
        REQUIRE(journal.commit({rows_of(static_cast<std::uint64_t>(written)), {}, {}, {}}, at(1)));
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
            REQUIRE(later->execute("PRAGMA user_version = 3"));
        }
        CHECK(open_error(path, base::Code::input).find("newer restartd (journal version 3") !=
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
