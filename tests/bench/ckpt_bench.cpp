// What publishing a checkpoint costs beside writing the same bytes: checksums, fsync of files and
// directories, manifest and rename. Ratios within one run mean something on any disk; seconds only on this
// one.
#include "base/cli.hpp"
#include "base/unique_fd.hpp"
#include "restart/ckpt/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Shape {
    std::size_t files, mib;
};

// Writes the files of one checkpoint; `flush`: and waits for the disk.
base::Expected<void> write_files(const fs::path& directory, const Shape& shape, const std::string& block,
                                 bool flush) {
    for (std::size_t i = 0; i < shape.files; ++i) {
        const auto path = directory / fmt::format("rank-{}.bin", i);
        const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!fd) return base::system_error(path.string(), errno);
        for (std::size_t mib = 0; mib < shape.mib; ++mib)
            if (::write(fd.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size()))
                return base::system_error(path.string(), errno);
        if (flush && ::fsync(fd.get()) != 0) return base::system_error(path.string(), errno);
    }
    return {};
}

// Seconds for the plain files, and for a checkpoint of the same files from begin to the end of commit.
base::Expected<void> measure(const fs::path& dir, const Shape& shape, int rounds) {
    const std::string block(std::size_t{1} << 20, 'x');
    restart::ckpt::Options options;
    options.dir = dir.string();
    auto session = restart::ckpt::Session::open(options);
    if (!session) return std::move(session).error();
    std::vector<double> plain, whole, commit;
    for (int round = 0; round < rounds; ++round) {
        const auto beside = dir / "plain";
        fs::create_directory(beside);
        auto start = Clock::now();
        if (auto done = write_files(beside, shape, block, true); !done) return done;
        plain.push_back(since(start));
        fs::remove_all(beside);

        start = Clock::now();
        const auto stage = session->begin(static_cast<std::uint64_t>(round));
        if (!stage) return stage.error();
        if (auto done = write_files(*stage, shape, block, false); !done) return done;
        const auto written = Clock::now();
        if (auto done = session->commit(); !done) return std::move(done).error();
        commit.push_back(since(written));
        whole.push_back(since(start));
    }
    const auto mib = static_cast<double>(shape.files * shape.mib);
    fmt::print("{:>3} files of {:>3} MiB: write+fsync {:>8.2f} ms  checkpoint {:>8.2f} ms ({:>6.0f} MiB/s)  "
               "of it commit {:>8.2f} ms  "
               "checkpoint / write+fsync {:.2f}\n",
               shape.files, shape.mib, median(plain) * 1e3, median(whole) * 1e3, mib / median(whole),
               median(commit) * 1e3, median(whole) / median(plain));
    return {};
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("ckpt_bench", "Measures what publishing a checkpoint costs beside writing its bytes.",
                  "railckpt(1)");
    std::string parent = fs::temp_directory_path().string();
    int rounds = 7;
    cli->add_option("--dir", parent, "Directory to measure in")->capture_default_str();
    cli->add_option("--rounds", rounds, "Rounds; medians are printed")
        ->range(1, 1000)
        ->capture_default_str();
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    std::string dir = parent + "/ckpt-bench-XXXXXX";
    if (::mkdtemp(dir.data()) == nullptr) return cli.fail(base::system_error(dir, errno));
    for (const Shape shape : {Shape{1, 0}, Shape{1, 64}, Shape{8, 8}, Shape{64, 1}}) {
        if (auto done = measure(fs::path(dir), shape, rounds); !done) {
            status = cli.fail(done.error());
            break;
        }
        for (const auto& entry : fs::directory_iterator(dir))
            fs::remove_all(entry.path());
    }
    fs::remove_all(dir);
    return base::finish_output(cli, status);
}
