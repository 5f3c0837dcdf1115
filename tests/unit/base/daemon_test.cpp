// The loop that restartd, nodewatchd and fabricwatchd share, in this process; restart/watch/programs_test.py
// runs the three programs.
#include "base/daemon.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;

namespace {

// begin() changes the process: what it was comes back.
class Kept {
public:
    Kept() {
        ::pthread_sigmask(SIG_BLOCK, nullptr, &mask_);
        ::getrlimit(RLIMIT_NOFILE, &limit_);
        pipe_ = std::signal(SIGPIPE, SIG_DFL);
        std::signal(SIGPIPE, pipe_);
    }
    ~Kept() {
        ::unsetenv("NOTIFY_SOCKET");
        ::setrlimit(RLIMIT_NOFILE, &limit_);
        std::signal(SIGPIPE, pipe_);
        ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    const rlimit& limit() const { return limit_; }

private:
    sigset_t mask_{};
    rlimit limit_{};
    void (*pipe_)(int) = nullptr;
};

// What systemd would read.
class Systemd {
public:
    explicit Systemd(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        REQUIRE(path.size() < sizeof address.sun_path);
        std::memcpy(address.sun_path, path.c_str(), path.size());
        REQUIRE(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    }
    // The next state that was sent; empty: none.
    std::string next() const {
        std::array<char, 256> text{};
        const auto n = ::recv(fd_.get(), text.data(), text.size(), MSG_DONTWAIT);
        return {text.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
    }

private:
    base::UniqueFd fd_;
};

struct Program {
    explicit Program(std::vector<std::string> words) {
        std::vector<char*> argv;
        words.insert(words.begin(), "testd");
        for (auto& word : words)
            argv.push_back(word.data());
        REQUIRE(cli.parse(static_cast<int>(argv.size()), argv.data(), status));
    }
    base::Cli cli{"testd", "A daemon that does nothing.", "testd(8)"};
    base::Daemon daemon{cli, {base::ConfTable::agent, base::ConfTable::munge}};
    int status = -1;
};

} // namespace

TEST_CASE("daemon: a checked configuration ends the program, with the status of an error or of none") {
    const test::Folder folder;
    const auto file = (folder.path / "railyard.conf").string();
    REQUIRE(base::write_file(file, "[agent]\ninterval = \"250ms\"\n"));
    Program checked({"--config", file, "--check-config"});
    CHECK_FALSE(checked.daemon.configure(checked.status));
    CHECK(checked.status == base::exit_done);

    Program runs({"--config", file});
    const auto conf = runs.daemon.configure(runs.status);
    REQUIRE(conf);
    CHECK(conf->agent.interval == 250ms);

    REQUIRE(base::write_file(file, "[agent]\ninterval = \"1ms\"\n"));
    for (const auto& more :
         std::vector<std::vector<std::string>>{{}, {"--check-config"}, {"--print-config"}}) {
        std::vector<std::string> words{"--config", file};
        words.insert(words.end(), more.begin(), more.end());
        Program wrong(words);
        CHECK_FALSE(wrong.daemon.configure(wrong.status));
        CHECK(wrong.status == base::exit_usage);
    }

    // A table that this daemon does not use: it serves, and says so only where it is asked to check all.
    REQUIRE(base::write_file(file, "[fabricwatchd]\nport = 999\n"));
    Program serves({"--config", file}), asked({"--config", file, "--check-config"});
    CHECK(serves.daemon.configure(serves.status));
    CHECK_FALSE(asked.daemon.configure(asked.status));
    CHECK(asked.status == base::exit_usage);
}

TEST_CASE(
    "daemon: SIGHUP gives a good configuration to the daemon, a bad one changes nothing, SIGTERM ends") {
    const test::Folder folder;
    const Kept kept;
    const Systemd systemd((folder.path / "notify").string());
    const auto file = (folder.path / "railyard.conf").string();
    const auto write = [&](std::string_view interval) {
        REQUIRE(base::write_file(file, "[agent]\ninterval = \"" + std::string(interval) + "\"\n"));
    };
    write("1s");
    Program program({"--config", file});
    auto& daemon = program.daemon;
    REQUIRE(daemon.configure(program.status));
    REQUIRE(daemon.begin());
    std::vector<base::Duration> given;
    bool refuse = false;
    REQUIRE(daemon.serve([&](const base::Conf& fresh) -> base::Expected<void> {
        given.push_back(fresh.agent.interval);
        if (refuse) return base::Error{base::Code::input, "not this one"};
        return {};
    }));
    CHECK(systemd.next() == "READY=1");
    CHECK(daemon.wait(0ms));
    CHECK(given.empty());
    CHECK(systemd.next().empty());

    const auto reload = [&] {
        REQUIRE(::kill(::getpid(), SIGHUP) == 0);
        CHECK(daemon.wait(10s));
        CHECK_THAT(systemd.next(), Catch::StartsWith("RELOADING=1\nMONOTONIC_USEC="));
        CHECK(systemd.next() == "READY=1");
    };
    write("2s");
    reload();
    CHECK(given == std::vector<base::Duration>{2s});
    write("1ms");
    reload();
    CHECK(given.size() == 1);
    write("3s");
    refuse = true;
    reload();
    CHECK(given == std::vector<base::Duration>{2s, 3s});

    for (const int signal : {SIGTERM, SIGINT}) {
        REQUIRE(::kill(::getpid(), signal) == 0);
        CHECK_FALSE(daemon.wait(10s));
        CHECK(systemd.next() == "STOPPING=1");
        CHECK(daemon.wait(0ms));
    }
}

TEST_CASE("daemon: what is waited for beside signals ends the wait") {
    const Kept kept;
    Program program({});
    REQUIRE(program.daemon.begin());
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const base::UniqueFd reading(ends[0]), writing(ends[1]);
    REQUIRE(::write(writing.get(), "x", 1) == 1);
    CHECK(program.daemon.wait(24h, reading.get())); // otherwise the tests' deadline ends it
}

TEST_CASE("daemon: the limit on descriptors is raised and never lowered") {
    const Kept kept;
    if (kept.limit().rlim_max <= 256) {
        WARN("SKIP: the hard limit on descriptors leaves nothing to raise");
        return;
    }
    for (const rlim_t soft : {rlim_t{256}, kept.limit().rlim_max}) {
        rlimit limit{soft, kept.limit().rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
        Program program({});
        REQUIRE(program.daemon.begin());
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK(limit.rlim_cur == std::max(soft, std::min<rlim_t>(limit.rlim_max, 65536)));
    }
}
