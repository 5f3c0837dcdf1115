#include "restart/run/warm.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace restart::run {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

bool is_file(const fs::path& path) {
    std::error_code failed;
    return fs::is_regular_file(path, failed) && !failed;
}

// In bytes; nothing if /proc does not contain it.
std::optional<std::uint64_t> available_memory() {
    const auto text = base::read_file("/proc/meminfo", 65536);
    if (!text) return {};
    constexpr std::string_view key = "MemAvailable:";
    const auto at = text->find(key);
    if (at == std::string::npos) return {};
    return std::strtoull(text->c_str() + at + key.size(), nullptr, 10) * 1024;
}

void step_back() {
    static_cast<void>(::setpriority(PRIO_PROCESS, 0, 19));
    constexpr long who_process = 1, idle_class = 3L << 13; // linux/ioprio.h, which is missing on some systems
    static_cast<void>(::syscall(SYS_ioprio_set, who_process, 0, idle_class));
}

// The files below a path, in the order of names.
std::vector<fs::path> files_below(const fs::path& path) {
    if (is_file(path)) return {path};
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::recursive_directory_iterator entry(path, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (is_file(entry->path())) files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    return files;
}

// False: the limit is reached.
bool read_through(const fs::path& path, std::uint64_t most, ReadAhead& done, std::vector<char>& block) {
    const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return true;
    ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    for (;;) {
        const auto left = most - done.bytes;
        if (left == 0) return false;
        const auto n = ::read(fd.get(), block.data(), std::min<std::uint64_t>(left, block.size()));
        if (n <= 0) break;
        done.bytes += static_cast<std::uint64_t>(n);
    }
    ++done.files;
    return true;
}

} // namespace

std::vector<std::string> files_named(const std::vector<std::string>& words, const std::string& path) {
    std::vector<std::string> files;
    std::set<std::string> known;
    const auto keep = [&](const fs::path& file) {
        if (!is_file(file)) return false;
        std::error_code failed;
        const auto whole = fs::absolute(file, failed).string();
        if (!failed && known.insert(whole).second) files.push_back(whole);
        return true;
    };
    for (const auto& word : words) {
        if (word.empty() || word.front() == '-' || keep(word) || word.find('/') != std::string::npos)
            continue;
        for (std::string_view rest = path; !rest.empty();) {
            const auto folder = rest.substr(0, rest.find(':'));
            rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
            if (!folder.empty() && keep(fs::path(folder) / word)) break;
        }
    }
    return files;
}

ReadAhead read_ahead(const std::vector<std::string>& paths, std::uint64_t most) {
    step_back();
    if (const auto memory = available_memory()) most = std::min(most, *memory / 4);
    ReadAhead done;
    std::vector<char> block(std::size_t{1} << 20);
    for (const auto& path : paths)
        for (const auto& file : files_below(path))
            if (!read_through(file, most, done, block)) {
                done.whole = false;
                return done;
            }
    return done;
}

Warmer::Warmer(std::vector<std::string> files, std::string self, std::uint64_t most)
    : files_(std::move(files)), self_(std::move(self)), most_(most) {}

void Warmer::look(const Hosts& spares, const std::optional<fs::path>& newest) {
    static_cast<void>(step_.reap());
    auto wanted = std::pair(spares, newest);
    if (step_.runs() || spares.empty() || done_ == wanted) return;
    const auto count = fmt::format("{}", spares.size());
    auto hosts = spares;
    std::sort(hosts.begin(), hosts.end(), base::natural_less);
    // --overlap: it takes no resources that a launch could wait for.
    Started step;
    step.words = {"srun",
                  "--quiet",
                  "--overlap",
                  "--nodes=" + count,
                  "--ntasks=" + count,
                  "--nodelist=" + base::fold_hostlist(hosts),
                  "--mpi=none",
                  "--gres=none",
                  "--cpu-bind=none",
                  "--input=none",
                  "--output=/dev/null",
                  "--job-name=railrun-warm",
                  self_,
                  "--read-ahead",
                  fmt::format("{}", most_)};
    step.words.insert(step.words.end(), files_.begin(), files_.end());
    if (newest) step.words.push_back(newest->string());
    for (const char* name :
         {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_NTASKS_PER_NODE", "SLURM_CPU_BIND",
          "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_EXCLUSIVE",
          "SLURM_EXACT", "SLURM_GPUS", "SLURM_GPUS_PER_TASK", "SLURM_GPUS_PER_NODE"})
        step.environment[name] = std::nullopt;
    if (step_.start(step)) done_ = std::move(wanted);
}

void Warmer::stop() {
    done_.reset();
    if (!step_.runs()) return;
    step_.send(SIGTERM);
    for (const auto end = std::chrono::steady_clock::now() + 1s;
         !step_.reap() && std::chrono::steady_clock::now() < end;)
        std::this_thread::sleep_for(5ms);
    if (step_.runs()) step_.send(SIGKILL);
}

} // namespace restart::run
