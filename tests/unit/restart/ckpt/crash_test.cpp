// A commit is killed at each of its system calls that change anything, as by a power cut; and locks that a
// file system does not have.
#include "base/file.hpp"
#include "folder.hpp"
#include "restart/ckpt/lock.hpp"
#include "restart/ckpt/session.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace restart::ckpt;
using namespace ckpt_test;
namespace fs = std::filesystem;

namespace {

Options options(const fs::path& dir, std::uint32_t restart) {
    Options some;
    some.dir = dir.string();
    some.job = 12;
    some.restart = restart;
    return some;
}

// No assertions: runs in children, too.
bool put(Session& session, std::uint64_t step) {
    const auto stage = session.begin(step);
    return stage && fs::create_directory(*stage / "sub") &&
           base::write_file(*stage / "sub" / "a", "some state") &&
           base::write_file(*stage / "b", "more state") && session.commit();
}

bool put_all(const fs::path& dir, std::uint32_t restart, const std::vector<std::uint64_t>& steps) {
    auto session = Session::open(options(dir, restart));
    if (!session) return false;
    for (const auto step : steps)
        if (!put(*session, step)) return false;
    return true;
}

std::string text_at(pid_t child, std::uint64_t address) {
    char text[512]{};
    iovec local{text, sizeof text - 1}, remote{reinterpret_cast<void*>(address), sizeof text - 1};
    for (; remote.iov_len > 0; --remote.iov_len) // up to the end of the page
        if (::process_vm_readv(child, &local, 1, &remote, 1, 0) > 0) break;
    return text;
}

std::string file_of(pid_t child, std::uint64_t fd) {
    std::error_code ignored;
    return fs::read_symlink("/proc/" + std::to_string(child) + "/fd/" + std::to_string(fd), ignored).string();
}

// The call as "rename FROM TO", "" for one that changes nothing.
std::string describe(pid_t child, const __ptrace_syscall_info& info) {
    const auto* args = info.entry.args;
    switch (info.entry.nr) {
#ifdef SYS_rename
    case SYS_rename: return "rename " + text_at(child, args[0]) + " " + text_at(child, args[1]);
    case SYS_mkdir: return "mkdir " + text_at(child, args[0]);
    case SYS_unlink: return "unlink " + text_at(child, args[0]);
    case SYS_rmdir: return "unlink " + text_at(child, args[0]);
    case SYS_link: return "link " + text_at(child, args[0]);
    case SYS_open: return (args[1] & O_CREAT) != 0 ? "create " + text_at(child, args[0]) : "";
#endif
    case SYS_renameat: return "rename " + text_at(child, args[1]) + " " + text_at(child, args[3]);
    case SYS_renameat2: return "rename " + text_at(child, args[1]) + " " + text_at(child, args[3]);
    case SYS_mkdirat: return "mkdir " + text_at(child, args[1]);
    case SYS_unlinkat: return "unlink " + text_at(child, args[1]);
    case SYS_openat: return (args[2] & O_CREAT) != 0 ? "create " + text_at(child, args[1]) : "";
    case SYS_write: return "write " + file_of(child, args[0]);
    case SYS_fsync: return "fsync " + file_of(child, args[0]);
    case SYS_fchmod: return "fchmod " + file_of(child, args[0]);
    case SYS_flock: return "flock " + file_of(child, args[0]);
    default: return {};
    }
}

struct Trace {
    bool able = true;               // may this process be traced at all?
    bool killed = false;            // else `work` ended by itself
    int status = 0;                 // then
    std::vector<std::string> calls; // entered and done, before the one it was killed at
};

// Runs `work` in a child that is killed before its `nth` call that changes something.
Trace run_until(std::size_t nth, const std::function<bool()>& work) {
    Trace trace;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
        ::raise(SIGSTOP);
        ::_exit(work() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return {false, false, WEXITSTATUS(status), {}};
    const auto wanted = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, reinterpret_cast<void*>(wanted)) != 0) trace.able = false;
    for (long signal = 0; trace.able;) {
        ::ptrace(PTRACE_SYSCALL, child, nullptr, reinterpret_cast<void*>(signal));
        ::waitpid(child, &status, 0);
        if (!WIFSTOPPED(status)) {
            trace.status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
            return trace;
        }
        signal = WSTOPSIG(status);
        if (signal != (SIGTRAP | 0x80)) continue;
        signal = 0;
        __ptrace_syscall_info info{};
        if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, reinterpret_cast<void*>(sizeof info), &info) <= 0)
            trace.able = false;
        if (info.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
        auto call = describe(child, info);
        if (call.empty()) continue;
        if (trace.calls.size() == nth) {
            trace.killed = true;
            break;
        }
        trace.calls.push_back(std::move(call));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return trace;
}

std::vector<Id> whole(const fs::path& dir) {
    std::vector<Id> ids;
    const auto listed = list_published(dir);
    REQUIRE(listed);
    for (const Id& id : *listed)
        if (load_published(dir, id, Depth::checksums)) ids.push_back(id);
    return ids;
}

// Runs `body` in a child for which flock(2) fails with `error`; its exit status.
int without_locks(int error, const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        const auto refuse = SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA);
        sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, refuse),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        const sock_fprog program{4, rules};
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            ::_exit(77);
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

} // namespace

TEST_CASE("killed at any change it makes, a commit leaves whole checkpoints and no less progress") {
    // Steps that pass what is there; that begin again below it; a damaged one of the same step in the way.
    const auto steps = GENERATE(std::vector<std::uint64_t>{300, 310}, std::vector<std::uint64_t>{50},
                                std::vector<std::uint64_t>{77});
    std::size_t changes = 0;
    for (bool killed = true; killed; ++changes) {
        const Folder folder;
        REQUIRE(put_all(folder.path, 0, {100, 200}));
        if (steps[0] == 77) write(folder.path / "ckpt-E0001-S000000000077" / "MANIFEST.json", "torn");
        const auto trace = run_until(changes, [&] { return put_all(folder.path, 1, steps); });
        if (!trace.able) {
            WARN("SKIP: processes may not be traced here");
            return;
        }
        killed = trace.killed;
        INFO("step " << steps[0] << ", killed before change " << changes << ", after "
                     << (trace.calls.empty() ? "none" : trace.calls.back()));
        if (!killed) REQUIRE(trace.status == 0);
        const auto left = whole(folder.path);
        CHECK(left.size() >= 2);
        std::uint64_t furthest = 0;
        for (const Id& id : left)
            furthest = std::max(furthest, id.step);
        CHECK(furthest >= 200);
        const auto latest = find_latest(folder.path, Depth::checksums);
        REQUIRE(latest);
        REQUIRE(latest->newest);
        if (steps[0] != 77) CHECK(latest->skipped.empty());
        if (steps[0] < 200) CHECK(std::count(left.begin(), left.end(), Id{0, 100}) == 1); // both of before
        // The next incarnation goes on and clears away what was left.
        REQUIRE(put_all(folder.path, 2, {400}));
        CHECK(names(folder.path, ".stage-").empty());
        CHECK(names(folder.path, ".trash-").empty());
        CHECK(find_latest(folder.path, Depth::checksums)->newest->manifest.id == Id{2, 400});
    }
    CHECK(changes > 20);
}

TEST_CASE("nothing is removed before its successor is on the disk") {
    const Folder folder;
    REQUIRE(put_all(folder.path, 0, {100, 200}));
    const auto trace = run_until(100'000, [&] { return put_all(folder.path, 1, {300}); });
    if (!trace.able) {
        WARN("SKIP: processes may not be traced here");
        return;
    }
    const auto at = [&](const std::string& call) {
        const auto found = std::find(trace.calls.begin(), trace.calls.end(), call);
        INFO(call);
        REQUIRE(found != trace.calls.end());
        return found;
    };
    const auto dir = folder.path.string() + "/", name = std::string("-E0001-S000000000300"),
               stage = dir + ".stage" + name;
    const auto published = at("rename " + stage + " " + dir + "ckpt" + name);
    const auto sealed = at("write " + stage + "/MANIFEST.json");
    CHECK(sealed < published);
    for (const char* file : {"/b", "/sub/a", "/sub"})
        CHECK(std::count(trace.calls.begin(), sealed, "fsync " + stage + file) >= 1);
    for (const char* file : {"/MANIFEST.json", ""})
        CHECK(std::count(sealed, published, "fsync " + stage + file) == 1);
    const auto durable = std::find(published, trace.calls.end(), "fsync " + folder.path.string());
    REQUIRE(durable != trace.calls.end());
    CHECK(durable < at("rename " + dir + "ckpt-E0000-S000000000100 " + dir + ".trash-E0000-S000000000100"));
}

TEST_CASE("a lock that the file system does not have is not taken for one that is held") {
    const int error = GENERATE(ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL);
    const Folder folder;
    const auto status = without_locks(error, [&] {
        const auto lock = FileLock::acquire(folder.path / ".lock", base::Duration(0));
        if (!lock || lock->held() || lock->missing().find("has no locks") == std::string::npos) return 1;
        auto one = Session::open(options(folder.path, 0)), two = Session::open(options(folder.path, 0));
        if (!one || !two || one->notice().find("has no locks") == std::string::npos) return 2;
        // Two writers of one incarnation: neither removes what the other writes.
        const auto first = one->begin(1);
        if (!first || !base::write_file(*first / "a", "x")) return 3;
        if (const auto same = two->begin(1); same || same.error().code != base::Code::unavailable) return 4;
        if (!put(*two, 2) || !fs::exists(*first / "a") || !one->commit()) return 5;
        // A later incarnation fences off, removes what the older one staged, and finds both.
        if (!one->begin(3)) return 6;
        auto later = Session::open(options(folder.path, 1));
        if (!later || !later->latest(Depth::checksums)->newest) return 7;
        if (const auto late = one->commit(); late || late.error().code != base::Code::denied) return 8;
        return put(*later, 3) ? 0 : 9;
    });
    if (status == 77) {
        WARN("SKIP: system calls cannot be filtered here");
        return;
    }
    CHECK(status == 0);
    CHECK(names(folder.path, "ckpt-").size() >= 2);
}
