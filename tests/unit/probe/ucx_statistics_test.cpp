#include "probe/ucx_statistics.hpp"

#include "probe/ucx_datagram_writer.hpp"

#include "base/file.hpp"
#include "unit/source.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

using namespace std::chrono_literals;
using probe::UcxDatagrams;
using probe::UcxStatistics;
using Bytes = std::vector<std::byte>;

namespace {

const base::Time start{1'700'000'000s};

UcxStatistics said(std::size_t devices = 3) {
    UcxStatistics one{"n001:4711", {}};
    for (std::size_t i = 0; i < devices; ++i)
        one.devices["mlx5_" + std::to_string(i) + ":1"] = {70'000 * i, std::uint64_t{1} << (7 * i % 60), i};
    return one;
}

bool same(const UcxStatistics& a, const UcxStatistics& b) {
    return a.process == b.process && std::equal(a.devices.begin(), a.devices.end(), b.devices.begin(),
                                                b.devices.end(), [](const auto& x, const auto& y) {
                                                    return x.first == y.first &&
                                                           x.second.sent == y.second.sent &&
                                                           x.second.received == y.second.received &&
                                                           x.second.dropped == y.second.dropped;
                                                });
}

std::string error_of(const Bytes& message) {
    const auto read = probe::read_ucx_statistics(message);
    return read ? "none" : read.error().text;
}

// Bytes as UCX 1.13.1 sent them: a process "n1:7" with interface eth0 of two endpoints, of which one has
// sent.
Bytes captured() {
    static constexpr char text[] = "\1\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0"
                                   "\0\0\0\0\0"
                                   "\6uct_ep\2\0\0\0\2am\13bytes_bcopy"
                                   "\11uct_iface\2\0\0\0\5rx_am\13rx_am_bytes"
                                   "\0\4n1:7"
                                   "\2\24-eth0-0x55d607320bb0\5\12\0\170\0"
                                   "\1\17-0x55d607332490\5\12\0\200\0\377"
                                   "\1\17-0x55d60734c420\0\377"
                                   "\377\377";
    Bytes bytes(sizeof text - 1);
    std::memcpy(bytes.data(), text, bytes.size());
    return bytes;
}

} // namespace

TEST_CASE("ucx: bytes and drops are added up by device") {
    const auto read = probe::read_ucx_statistics(captured());
    INFO((read ? "" : read.error().text));
    REQUIRE(read);
    CHECK(read->process == "n1:7");
    REQUIRE(read->devices.size() == 1);
    CHECK(read->devices.at("eth0").sent == 128);
    CHECK(read->devices.at("eth0").received == 120);
    const auto whole = probe::read_ucx_statistics(probe::ucx_message(said(8)));
    REQUIRE(whole);
    CHECK(same(*whole, said(8)));
}

TEST_CASE("ucx: what is no message says where and what") {
    CHECK(error_of({}) == "UCX statistics: at byte 0: it ends too soon");
    auto bytes = captured();
    bytes[0] = std::byte{2};
    CHECK(error_of(bytes).ends_with("its version is not 1"));
    bytes = captured();
    bytes[8] = std::byte{1};
    CHECK(error_of(bytes).ends_with("it is compressed"));
    bytes = captured();
    bytes[12] = std::byte{255};
    CHECK(error_of(bytes).ends_with("it has too many classes, or none"));
    bytes = captured();
    bytes.push_back(std::byte{0});
    CHECK(error_of(bytes).ends_with("there is more behind its end"));
    // Nodes within nodes, as deep as a message is long.
    bytes.resize(16);
    bytes[12] = std::byte{1};
    bytes.insert(bytes.end(), 5, std::byte{0}); // a class without a name and counters
    bytes.insert(bytes.end(), 200'000, std::byte{0});
    CHECK(error_of(bytes).ends_with("its nodes are too deep"));
}

TEST_CASE("ucx: a message that is cut anywhere is refused") {
    const auto whole = captured();
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK(error_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))) != "none");
}

TEST_CASE("ucx: damage anywhere is refused or read, and bounded either way") {
    std::mt19937 random(4711);
    for (int round = 0; round < 20'000; ++round) {
        auto bytes = round % 2 == 0 ? captured() : probe::ucx_message(said(20));
        for (std::size_t damages = 1 + random() % 4; damages > 0; --damages)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        if (round % 3 == 0) bytes.resize(random() % bytes.size() + 1);
        const auto read = probe::read_ucx_statistics(bytes);
        if (!read) continue;
        CHECK(read->devices.size() <= 64);
        CHECK(read->process.size() <= 39);
    }
}

TEST_CASE("ucx: fragments make a message in any order, each once") {
    const auto message = probe::ucx_message(said(60));
    auto parts = probe::ucx_datagrams(message, 5);
    REQUIRE(parts.size() > 2);
    std::mt19937 random(4711);
    for (std::uint64_t time = 6; time < 50; ++time) {
        UcxDatagrams datagrams;
        parts = probe::ucx_datagrams(message, time);
        std::shuffle(parts.begin(), parts.end(), random);
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            CHECK_FALSE(datagrams.take(1, parts[i], start));
            CHECK_FALSE(datagrams.take(1, parts[i], start)); // twice
        }
        const auto whole = datagrams.take(1, parts.back(), start);
        REQUIRE(whole);
        CHECK(*whole == message);
        CHECK_FALSE(datagrams.take(1, parts.back(), start));
        CHECK(datagrams.refused() == parts.size());
        CHECK(datagrams.held() == 0);
    }
}

TEST_CASE("ucx: a later message takes the place of one that is not whole, an earlier one is passed over") {
    UcxDatagrams datagrams;
    const auto first = probe::ucx_datagrams(probe::ucx_message(said(60)), 5);
    const auto second = probe::ucx_datagrams(probe::ucx_message(said(1)), 6);
    REQUIRE(second.size() == 1);
    CHECK_FALSE(datagrams.take(1, first[0], start));
    CHECK(datagrams.take(1, second[0], start));
    for (const auto& part : first)
        CHECK_FALSE(datagrams.take(1, part, start));
    CHECK(datagrams.take(2, second[0], start)); // another sender
    // The port has another process after a while.
    CHECK(datagrams.take(1, probe::ucx_datagrams(probe::ucx_message(said(1)), 3)[0], start + 61s));
}

TEST_CASE("ucx: a flood of beginnings holds little memory, and ends") {
    UcxDatagrams datagrams;
    const Bytes large(UcxDatagrams::most_message, std::byte{1});
    const auto beginning = probe::ucx_datagrams(large, 5)[0];
    for (int round = 0; round < 3; ++round)
        for (std::uint32_t sender = 0; sender < 65'536; sender += 7)
            CHECK_FALSE(datagrams.take(static_cast<std::uint16_t>(sender), beginning, start));
    CHECK(datagrams.senders() <= UcxDatagrams::most_senders);
    CHECK(datagrams.held() <= UcxDatagrams::most_held);
    CHECK(datagrams.refused() > 1000);
    // Seconds later those that brought no more give way.
    const auto small = probe::ucx_datagrams(probe::ucx_message(said(1)), 5)[0];
    CHECK(datagrams.take(1, small, start + 6s));
}

TEST_CASE("ucx: datagrams that are no fragments are refused") {
    const auto sound = probe::ucx_datagrams(probe::ucx_message(said(60)), 5)[1];
    UcxDatagrams datagrams;
    std::uint64_t refused = 0;
    const auto refuses = [&](const Bytes& datagram) {
        CHECK_FALSE(datagrams.take(1, datagram, start));
        CHECK(datagrams.refused() == ++refused);
    };
    for (const std::size_t at : {0U, 18U, 19U, 20U, 24U}) { // magic, total, offset, size
        auto damaged = sound;
        damaged[at] ^= std::byte{0x55};
        refuses(damaged);
    }
    refuses({});
    refuses(Bytes(sound.begin(), sound.begin() + 27));
    refuses(Bytes(sound.begin(), sound.end() - 1));
    CHECK_FALSE(datagrams.take(1, sound, start));
    CHECK(datagrams.refused() == refused);
}

// What the fuzzer begins with. A record is a datagram behind its sender, the seconds since the one before and
// its length, as tests/fuzz/ucx_statistics_fuzz.cpp reads it.
TEST_CASE("ucx: the fuzzer's corpus is what UCX would send") {
    const auto record = [](Bytes& into, std::uint8_t sender, std::uint8_t seconds, const Bytes& datagram) {
        for (const auto byte :
             {std::size_t{sender}, std::size_t{seconds}, datagram.size() >> 8, datagram.size() & 0xff})
            into.push_back(static_cast<std::byte>(byte));
        into.insert(into.end(), datagram.begin(), datagram.end());
    };
    auto deep = said(1);
    deep.process = std::string(39, 'n');
    Bytes one, two, again;
    for (const auto& part : probe::ucx_datagrams(probe::ucx_message(said(12)), 5))
        record(one, 1, 0, part);
    const auto first = probe::ucx_datagrams(probe::ucx_message(said(20)), 5),
               second = probe::ucx_datagrams(probe::ucx_message(said(14)), 9);
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
        if (i < first.size()) record(two, 1, 1, first[first.size() - 1 - i]);
        if (i < second.size()) record(two, 2, 0, second[i]);
    }
    record(again, 3, 0, first[0]);
    record(again, 3, 61, probe::ucx_datagrams(probe::ucx_message(said(1)), 3)[0]);
    record(again, 3, 5, probe::ucx_datagrams(probe::ucx_message(said(1)), 2)[0]);
    record(again, 3, 5, {std::byte{1}});

    const auto folder = test::source("tests/fuzz/corpus/ucx_statistics");
    const std::pair<const char*, Bytes> seeds[] = {
        {"captured.bin", captured()},
        {"none.bin", probe::ucx_message(said(0))},
        {"eight.bin", probe::ucx_message(said(8))},
        {"named.bin", probe::ucx_message(deep)},
        {"datagrams.bin", one},
        {"two_senders.bin", two},
        {"port_again.bin", again},
    };
    for (const auto& [name, bytes] : seeds) {
        const std::string wanted(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (std::getenv("RAILYARD_WRITE") != nullptr) REQUIRE(base::write_file(folder / name, wanted));
        INFO("RAILYARD_WRITE=1 tests/unit/unit_probe \"ucx: the fuzzer's corpus*\" writes " << name);
        const auto held = base::read_file(folder / name, 1 << 20);
        REQUIRE(held);
        CHECK(*held == wanted);
    }
}
