#include "base/log.hpp"

#include "base/unique_fd.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <charconv>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

// What is written to the log while this lives goes to a file.
class LogFile {
public:
    LogFile() : before_(::dup(STDERR_FILENO)) {
        const base::UniqueFd fd(::open(path().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
        ::dup2(fd.get(), STDERR_FILENO);
    }
    ~LogFile() { ::dup2(before_.get(), STDERR_FILENO); }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    struct Count {
        std::size_t lines = 0, left_out = 0;
    };
    // Of lines with `word`; and what others say was left out.
    Count count(const std::string& word) const {
        Count counted;
        std::ifstream file(path());
        for (std::string line; std::getline(file, line);) {
            if (line.find(word) != std::string::npos) ++counted.lines;
            const auto end = line.find(" lines of this level were left out");
            if (end == std::string::npos) continue;
            const auto begin = line.rfind(' ', end - 1) + 1;
            std::size_t number = 0;
            std::from_chars(line.data() + begin, line.data() + end, number);
            counted.left_out += number;
        }
        return counted;
    }

private:
    std::filesystem::path path() const { return folder_.path / "log"; }
    test::Folder folder_;
    base::UniqueFd before_;
};

} // namespace

TEST_CASE("a storm of lines is bounded, with a count, and drowns no other level") {
    const LogFile file;
    std::size_t written = 0;
    for (; written < 20'000; ++written)
        base::log::warning("the storm");
    CHECK(file.count("the storm").lines < written / 2);
    base::log::error("what matters");
    CHECK(file.count("what matters").lines == 1);
    // One that is let through again says how many were not: together they are all.
    CHECK(test::eventually([&] {
        base::log::warning("the storm");
        ++written;
        const auto counted = file.count("the storm");
        return counted.left_out > 0 && counted.lines + counted.left_out == written;
    }));
}
