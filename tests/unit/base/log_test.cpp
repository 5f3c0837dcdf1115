#include "base/log.hpp"

#include "base/unique_fd.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <charconv>
#include <fcntl.h>
#include <fstream>
#include <istream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

// What is written to the log while this lives goes elsewhere.
class LogTo {
public:
    explicit LogTo(int fd) : before_(::dup(STDERR_FILENO)) { ::dup2(fd, STDERR_FILENO); }
    ~LogTo() { ::dup2(before_.get(), STDERR_FILENO); }
    LogTo(const LogTo&) = delete;
    LogTo& operator=(const LogTo&) = delete;

private:
    base::UniqueFd before_;
};

struct Count {
    std::size_t lines = 0, left_out = 0;
};

// Of lines that end so; and what others say was left out.
Count count(std::istream&& log, const std::string& end) {
    Count counted;
    for (std::string line; std::getline(log, line);) {
        if (line.ends_with(end)) ++counted.lines;
        const auto words = line.find(" lines of this level were left out");
        if (words == std::string::npos) continue;
        const auto begin = line.rfind(' ', words - 1) + 1;
        std::size_t number = 0;
        std::from_chars(line.data() + begin, line.data() + words, number);
        counted.left_out += number;
    }
    return counted;
}

} // namespace

TEST_CASE("a storm of lines is bounded, with a count, and drowns no other level") {
    const test::Folder folder;
    const auto path = folder.path / "log";
    const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
    const LogTo file(fd.get());
    std::size_t written = 0;
    for (; written < 20'000; ++written)
        base::log::warning("the storm");
    CHECK(count(std::ifstream(path), "the storm").lines < written / 2);
    base::log::error("what matters");
    CHECK(count(std::ifstream(path), "what matters").lines == 1);
    // One that is let through again says how many were not: together they are all.
    CHECK(test::eventually([&] {
        base::log::warning("the storm");
        ++written;
        const auto counted = count(std::ifstream(path), "the storm");
        return counted.left_out > 0 && counted.lines + counted.left_out == written;
    }));
}

TEST_CASE("a log that nobody reads holds nobody up, and says later how many lines it lacks") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const base::UniqueFd reading(ends[0]), writing(ends[1]);
    const LogTo pipe(writing.get());
    constexpr std::size_t written = 1'000; // more than a pipe holds
    const std::string text(200, 'x');
    for (std::size_t n = 0; n < written; ++n)
        base::log::info("{}", text);

    ::fcntl(reading.get(), F_SETFL, O_NONBLOCK);
    std::string log;
    const auto read_on = [&] {
        std::array<char, 4096> some{};
        for (ssize_t n; (n = ::read(reading.get(), some.data(), some.size())) > 0;)
            log.append(some.data(), static_cast<std::size_t>(n));
    };
    read_on();
    base::log::info("{}", text);
    read_on();
    const auto counted = count(std::istringstream(log), " " + text);
    CHECK(counted.left_out > 0);
    CHECK(counted.lines + counted.left_out == written + 1);
    CHECK(log.ends_with(text + "\n"));
}
