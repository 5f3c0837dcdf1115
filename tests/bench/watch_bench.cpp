// What watching other programs' checkpoints costs a host (railckpt watch): processor time a second, and
// questions to the file system, of 512 jobs of 1,000 shards each. The file system is slow: each question
// takes 5 ms, in which nothing is computed; time is made up, the questions are real ones. Target: 1 ms a
// second.
#include "base/cli.hpp"
#include "restart/ckpt/kinds/follow.hpp"
#include "unit/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace restart::ckpt::kinds;
using namespace std::chrono_literals;

constexpr unsigned jobs = 512, shards = 1000;
constexpr base::Duration slow{5}; // each question
constexpr double target_ms = 1;

double cpu_s() {
    timespec spent{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
}

// All jobs look at one directory, as what a look costs is the same; that all have a new checkpoint at one
// moment is more than happens.
struct Directory {
    test::Folder folder;

    void put(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((folder.path / name).parent_path());
        std::ofstream(folder.path / name) << text;
    }
    void save(unsigned step) const {
        const auto at = fmt::format("iter_{:07}/", step);
        for (unsigned rank = 0; rank < shards; ++rank)
            put(fmt::format("{}__{}_0.distcp", at, rank), "tensors");
        put(at + ".metadata", "pickle");
        put(at + "metadata.json", "{}");
        put("latest_checkpointed_iteration.txt", std::to_string(step));
    }
};

struct Job {
    Follower follower;
    base::Duration due{}; // its next look, from the beginning
};

struct Spent {
    double cpu_s = 0;
    std::uint64_t questions = 0;
    unsigned most = 0;     // in a second, of one job
    unsigned most_all = 0; // in a second, of all
    unsigned news = 0;
};

// Looks of all jobs for so long, with what they would wait between them.
Spent run(std::vector<Job>& all, base::Time start, base::Duration from, base::Duration length,
          double interval_s) {
    Spent spent;
    std::map<std::int64_t, unsigned> by_second;
    const auto begun = cpu_s();
    for (;;) {
        auto next = std::min_element(all.begin(), all.end(),
                                     [](const Job& a, const Job& b) { return a.due < b.due; });
        if (next->due >= from + length) break;
        const auto found = next->follower.look(start + next->due);
        const auto looked = next->follower.looked();
        spent.questions += looked;
        spent.news += found && *found ? 1 : 0;
        // It is asked for one after the other, and waits as railckpt watch does.
        const auto took = looked * slow;
        const auto seconds = std::max<std::int64_t>(1, took / 1000ms);
        for (std::int64_t i = 0; i < seconds; ++i)
            by_second[next->due / 1000ms + i] += looked / static_cast<unsigned>(seconds);
        const auto pause = std::max(next->follower.least_wait(), Follower::period(interval_s));
        spent.most =
            std::max(spent.most, static_cast<unsigned>(looked * 1000ULL /
                                                       static_cast<std::uint64_t>((took + pause).count())));
        next->due += took + pause;
    }
    spent.cpu_s = cpu_s() - begun;
    for (const auto& [second, questions] : by_second)
        spent.most_all = std::max(spent.most_all, questions);
    return spent;
}

void print(std::string_view what, const Spent& spent, base::Duration length) {
    const auto seconds = base::to_seconds(length);
    const auto ms = spent.cpu_s * 1000 / seconds;
    fmt::print("{:<34} {:6.3f} ms of processor a second ({:4.0f} % of {:.0f} ms)  {:6.0f} questions a "
               "second, {:>6} at most, "
               "{:>3} of one job  {} news\n",
               what, ms, ms / target_ms * 100, target_ms, static_cast<double>(spent.questions) / seconds,
               spent.most_all, spent.most, spent.news);
}

int measure(double interval_s) {
    const Directory directory;
    directory.save(100);
    const auto start = base::now() + 10s; // what is there is old
    std::mt19937 numbers(31);
    std::vector<Job> all;
    for (unsigned i = 0; i < jobs; ++i)
        all.push_back({Follower({base::CkptLayout::megatron}, base::now() - 1h,
                                [&]() -> base::Expected<std::unique_ptr<Files>> {
                                    auto files = FilesOnDisk::open(directory.folder.path.string());
                                    if (!files) return std::move(files).error();
                                    return std::unique_ptr<Files>(*std::move(files));
                                }),
                       base::Duration(numbers() % Follower::period(interval_s).count())});
    const auto name = fmt::format("interval {:>2.0f} min, ", interval_s / 60);
    print(name + "first looks", run(all, start, 0s, 60s, interval_s), 60s);
    print(name + "at rest", run(all, start, 60s, 540s, interval_s), 540s);
    directory.save(200);
    const auto length = base::duration_from_seconds(interval_s);
    const auto after = run(all, start, 600s, length, interval_s);
    print(name + "one checkpoint each", after, length);
    return after.news == jobs ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("watch_bench", "What watching 512 jobs of 1,000 shards costs a host.", "");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    int failed = 0;
    for (const double minutes : {10.0, 30.0})
        failed |= measure(minutes * 60);
    return failed;
}
