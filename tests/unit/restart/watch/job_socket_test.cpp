#include "restart/watch/job_socket.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"
#include "unit/restart/watch/served_thread.hpp"

#include "restart/watch/job_session.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace restart;

namespace {

// A client that waits at most test::patience() for anything.
class Client {
public:
    explicit Client(const std::filesystem::path& path)
        : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path.c_str());
        connected = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    bool send(std::string_view text) { return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) > 0; }
    // A line without its newline; "(closed)" at the end, "(silence)" where neither comes in time.
    std::string line() {
        for (;;) {
            if (const auto end = in_.find('\n'); end != std::string::npos) {
                const auto found = in_.substr(0, end);
                in_.erase(0, end + 1);
                return found;
            }
            pollfd watched{fd_.get(), POLLIN, 0};
            if (::poll(&watched, 1, static_cast<int>(test::patience().count())) != 1) return "(silence)";
            std::array<char, 4096> block{};
            const auto n = ::recv(fd_.get(), block.data(), block.size(), 0);
            if (n <= 0) return "(closed)";
            in_.append(block.data(), static_cast<std::size_t>(n));
        }
    }
    std::string ask(std::string_view text) {
        send(std::string(text) + "\n");
        return line();
    }
    bool connected = false;

private:
    base::UniqueFd fd_;
    std::string in_;
};

UcxBook ucx; // nobody speaks of it here
constexpr auto hello = R"({"op":"hello","job":12,"epoch":1,"rank":0})";

} // namespace

TEST_CASE("a job speaks through the socket; its uid is the kernel's word") {
    const test::Folder folder;
    const auto path = folder.path / "run" / "job.sock";
    JobBook book;
    std::atomic<int> news = 0;
    {
        const auto socket = JobSocket::open(path, book, ucx, [&] { ++news; });
        REQUIRE(socket);
        const test::ServedThread serves(**socket);
        struct stat about {};
        REQUIRE(::stat(path.c_str(), &about) == 0);
        CHECK((about.st_mode & 0777) == 0666);
        Client client(path);
        CHECK(client.ask(hello).find("\"ok\":true") != std::string::npos);
        REQUIRE(book.entries().size() == 1);
        CHECK(book.entries()[0].uid == ::getuid());
        CHECK(client.ask(R"({"op":"commit","step":4,"path":"/x","cost_s":1,"bytes":1})") == "{\"ok\":true}");
        CHECK(test::eventually([&] { return news >= 2; }));
    }
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(book.undelivered() == 1);
}

TEST_CASE("several lines in one write and one line in several writes") {
    const test::Folder folder;
    JobBook book;
    const auto socket = JobSocket::open(folder.path / "s", book, ucx, {});
    REQUIRE(socket);
    const test::ServedThread serves(**socket);
    Client client(folder.path / "s");
    client.send(std::string(hello) + "\n{\"op\":\"due\"}\n{\"op\":");
    CHECK(client.line().find("\"ok\":true") != std::string::npos);
    CHECK(client.line().find("interval_s") != std::string::npos);
    client.send("\"due\"}\n");
    CHECK(client.line().find("interval_s") != std::string::npos);
}

TEST_CASE("clients that misbehave are dropped, others go on") {
    const test::Folder folder;
    const auto path = folder.path / "s";
    JobBook book;
    const auto socket = JobSocket::open(path, book, ucx, {});
    REQUIRE(socket);
    const test::ServedThread serves(**socket);
    Client good(path);
    good.ask(hello);

    Client endless(path);
    while (endless.send(std::string(4096, 'x'))) {}
    CHECK(endless.line() == "(closed)");

    Client wrong(path);
    for (int i = 0; i < JobSession::most_errors; ++i)
        CHECK(wrong.ask("rubbish").find("\"ok\":false") != std::string::npos);
    CHECK(wrong.line() == "(closed)");

    Client deaf(path); // asks and never reads
    bool taken = true;
    for (int i = 0; i < 100'000 && taken; ++i)
        taken = deaf.send(std::string(hello) + "\n");
    CHECK_FALSE(taken);

    { Client gone(path); }
    {
        Client half(path);
        half.send("{\"op\":");
    }

    CHECK(good.ask(R"({"op":"due"})").find("interval_s") != std::string::npos);
    CHECK(test::eventually([&] { return book.entries().size() == 1; }));
}

TEST_CASE("a stale socket is replaced, a served one and a file are not") {
    const test::Folder folder;
    const auto path = folder.path / "s";
    JobBook book;
    {
        // What a killed server leaves.
        base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path.c_str());
        REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    }
    auto first = JobSocket::open(path, book, ucx, {});
    REQUIRE(first);
    const test::ServedThread serves(**first);
    CHECK(Client(path).ask(hello).find("\"ok\":true") != std::string::npos);
    const auto second = JobSocket::open(path, book, ucx, {});
    REQUIRE_FALSE(second);
    CHECK(second.error().code == base::Code::unavailable);
    CHECK(second.error().text.find("another nodewatchd") != std::string::npos);
    CHECK(Client(path).connected); // the first one serves on

    const auto file = folder.path / "file";
    std::ofstream(file) << "precious";
    CHECK_FALSE(JobSocket::open(file, book, ucx, {}));
    CHECK(std::filesystem::file_size(file) == 8);

    const auto longest = JobSocket::open(folder.path / std::string(200, 'x'), book, ucx, {});
    REQUIRE_FALSE(longest);
    CHECK(longest.error().code == base::Code::input);
    const auto nowhere = JobSocket::open("/nonexistent/folder/s", book, ucx, {});
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().text.find("/nonexistent/folder/s") != std::string::npos);
}

TEST_CASE("hundreds of ranks at once") {
    const test::Folder folder;
    JobBook book;
    const auto socket = JobSocket::open(folder.path / "s", book, ucx, {});
    REQUIRE(socket);
    const test::ServedThread serves(**socket);
    std::vector<std::unique_ptr<Client>> ranks;
    for (int i = 0; i < 300; ++i)
        ranks.push_back(std::make_unique<Client>(folder.path / "s"));
    for (auto& rank : ranks)
        rank->send(std::string(hello) + "\n");
    for (auto& rank : ranks)
        CHECK(rank->line().find("\"ok\":true") != std::string::npos);
    CHECK(book.entries().size() == 1);
    ranks.clear();
    CHECK(test::eventually(
        [&] { // the job is forgotten once nobody speaks for it and restartd has answered often
            for (std::size_t i = 0; i <= JobBook::idle_answers; ++i)
                book.delivered(book.entries(), {});
            return book.entries().empty();
        }));
}
