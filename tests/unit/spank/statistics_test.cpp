#include "spank/statistics.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

using spank::Setting;

namespace {

// An agent that answers one client so; what it was asked.
class Agent {
public:
    Agent(const std::string& path, std::string answer)
        : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path.c_str());
        REQUIRE(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(::listen(listener_.get(), 4) == 0);
        thread_ = std::thread([this, answer = std::move(answer)] {
            const base::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            char block[512] = "";
            const auto n = ::recv(client.get(), block, sizeof block, 0);
            if (n > 0) asked_.assign(block, static_cast<std::size_t>(n));
            ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        });
    }
    const std::string& asked() {
        thread_.join();
        return asked_;
    }
    ~Agent() {
        if (thread_.joinable()) thread_.join();
    }

private:
    base::UniqueFd listener_;
    std::string asked_;
    std::thread thread_;
};

} // namespace

TEST_CASE("statistics: the agent is asked for a port of the job's user") {
    const test::Folder folder;
    const auto path = (folder.path / "s").string();
    Agent agent(path, "{\"ok\":true,\"port\":40321}\n");
    const auto port = spank::ask_for_statistics(path, 12, 1, 1000);
    REQUIRE(port);
    CHECK(port->number == 40321);
    CHECK(port->connection);
    CHECK(agent.asked() == "{\"op\":\"stats\",\"job\":12,\"epoch\":1,\"uid\":1000}\n");
}

TEST_CASE("statistics: an agent that refuses, is older or says nonsense gives none, with the reason") {
    const std::pair<const char*, const char*> answers[] = {
        {"{\"ok\":false,\"error\":\"op: must be hello\"}\n", "nodewatchd refused: op: must be hello"},
        {"{\"ok\":true}\n", "port"},
        {"{\"ok\":true,\"port\":70000}\n", "port"},
        {"nonsense\n", "line 1"},
        {"", "reset"},
        {"{\"ok\":true", "reset"}};
    for (const auto& [answer, why] : answers) {
        INFO(answer);
        const test::Folder folder;
        const auto path = (folder.path / "s").string();
        Agent agent(path, answer);
        const auto port = spank::ask_for_statistics(path, 12, 1, 1000);
        REQUIRE_FALSE(port);
        INFO(port.error().text);
        CHECK(port.error().text.find(why) != std::string::npos);
    }
    CHECK(spank::ask_for_statistics("/nowhere/s", 1, 0, 0).error().text ==
          "nodewatchd at /nowhere/s: No such file or directory");
    CHECK_FALSE(spank::ask_for_statistics("/" + std::string(300, 'x'), 1, 0, 0));
}

TEST_CASE("statistics: the user's destination stays, an outer step's gives way") {
    const std::string to = "udp:127.0.0.1:40321";
    const std::vector<Setting> set{{"UCX_STATS_DEST", to},
                                   {"UCX_STATS_TRIGGER", "exit"},
                                   {"UCX_STATS_FILTER", "bytes_*,rx_am_bytes,rx_drop"},
                                   {"RAIL_UCX_STATS", to}};
    CHECK(spank::statistics_settings(40321, std::nullopt, std::nullopt) == set);
    CHECK(spank::statistics_settings(40321, "stdout", std::nullopt).empty());
    CHECK(spank::statistics_settings(40321, "stdout", "udp:127.0.0.1:1").empty());
    CHECK(spank::statistics_settings(40321, "udp:127.0.0.1:1", "udp:127.0.0.1:1") == set);
    CHECK(spank::statistics_settings(std::nullopt, std::nullopt, std::nullopt).empty());
    CHECK(spank::statistics_settings(std::nullopt, "stdout", std::nullopt).empty());
    for (const auto& [name, value] : spank::statistics_settings(std::nullopt, to, to))
        CHECK(value.empty());
    CHECK(spank::statistics_settings(std::nullopt, to, to).size() == set.size());
}
