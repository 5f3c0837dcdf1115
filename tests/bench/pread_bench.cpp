// The bound of what an agent can cost: a loop that reads the files named on its standard input once a second,
// with descriptors that it keeps open, and makes a number of each. Its argument is how many seconds; it
// prints the milliseconds of CPU a sweep.
#include "probe/kernel_file.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

double cpu_ms() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

} // namespace

int main(int argc, char** argv) {
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 0;
    std::vector<base::UniqueFd> files;
    for (std::string path; std::getline(std::cin, path);)
        if (auto fd = probe::open_file(path)) files.push_back(std::move(fd));
    if (seconds <= 0 || files.empty()) {
        fmt::print(stderr, "usage: pread_bench SECONDS < PATHS\n");
        return 2;
    }
    std::uint64_t sum = 0;
    const auto began = cpu_ms();
    for (int i = 0; i < seconds; ++i) {
        for (const auto& file : files) {
            std::array<char, 128> text{};
            if (::pread(file.get(), text.data(), text.size() - 1, 0) > 0)
                sum += std::strtoull(text.data(), nullptr, 10);
        }
        ::sleep(1);
    }
    fmt::print("{} {:.3f} {}\n", files.size(), (cpu_ms() - began) / seconds, sum);
    return 0;
}
