#include "check/check_trials.hpp"

#include "base/file.hpp"
#include "check/apart.hpp"
#include "check/disk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

namespace check {
namespace {

using namespace std::chrono_literals;

// A fault of GPU 1 of two, set by a line of a double's state file, and the results that must be bad; none of
// them is bad without the fault.
struct GpuFault {
    std::string_view check, fault, line, test;
    bool of_nvml = false;
};
constexpr GpuFault gpu_faults[] = {
    {"gpu", "row remapping has failed", "1.remap_failed=1", "gpu.remap_failed", true},
    {"gpu", "NVML never answers", "1.hang_ms=60000", "gpu.state", true},
    {"hbm", "memory is slow", "1.hbm=2000", "hbm.read"},
    {"hbm", "a bit of a pattern is another", "1.flip_fill=1", "hbm.pattern"},
    {"hbm", "a kernel never ends", "1.hang_launch=1", "hbm.write"},
    {"hbm", "an uncorrectable ECC error", "1.fail_launch=214", "hbm.start"},
    {"hbm", "it is too hot", "1.reasons=0x40", "gpu.throttle.hw_thermal_slowdown", true},
    {"gemm", "a bit of a product is another", "1.flip_product=1", "gemm.bf16"},
    {"gemm", "a bit of each other product is another, of numbers with all of their bits", "1.flip_wide=2",
     "gemm.bits"},
    {"gemm", "products are slow", "1.tflops_bf16=300", "gemm.bf16"},
    {"pcie", "the link has half its lanes", "1.pcie=27", "pcie.h2d"},
    {"pcie", "a bit of what is sent is another", "1.flip_copy=1", "pcie.data"},
    {"nvlink", "a link is slow", "1.link=150", "nvlink.pair"},
};

bool has_bad(const std::vector<Result>& results, std::string_view test) {
    return std::any_of(results.begin(), results.end(),
                       [&](const Result& one) { return one.test == test && one.verdict == Verdict::bad; });
}

class GpuTrial {
public:
    GpuTrial(const std::filesystem::path& folder, const std::vector<std::string>& libraries,
             const std::string& nvml)
        : folder_(folder) {
        request_.libraries = libraries;
        request_.nvml = nvml;
        request_.sysfs = "/sys";
        request_.deadline = 5s;
        ::setenv("RAIL_CUDA_STATE", (folder / "cuda").c_str(), 1);
        ::setenv("RAIL_NVML_STATE", (folder / "nvml").c_str(), 1);
        ::unsetenv("CUDA_VISIBLE_DEVICES");
    }

    base::Expected<std::vector<Result>> run(std::string_view check, std::string_view cuda,
                                            std::string_view nvml) {
        const std::string two = "count=2\n";
        if (auto done = base::write_file(folder_ / "cuda", two + std::string(cuda) + "\n"); !done)
            return done.error();
        if (auto done = base::write_file(folder_ / "nvml", two + std::string(nvml) + "\n"); !done)
            return done.error();
        for (const auto& row : checks())
            if (row.name == check) return row.make()->run(request_);
        return base::Error{base::Code::internal, fmt::format("{}: is no check", check)};
    }

    std::string trouble_of(const GpuFault& fault) {
        const auto sound = run(fault.check, "", "");
        if (!sound) return sound.error().text;
        if (exit_status(*sound) != base::exit_done)
            return fmt::format("a sound GPU is not: {}", print(*sound));
        request_.deadline = fault.line.find("hang") != std::string_view::npos ? 2s : 5s;
        const auto found = run(fault.check, fault.of_nvml ? "" : fault.line, fault.of_nvml ? fault.line : "");
        request_.deadline = 5s;
        if (!found) return found.error().text;
        return has_bad(*found, fault.test) ? "" : fmt::format("{} is not bad: {}", fault.test, print(*found));
    }

private:
    std::filesystem::path folder_;
    Request request_;
};

// A file in memory whose clock advances by a simulated cost.
class MadeFile : public BlockFile {
public:
    enum class Fault { none, corrupt, slow, error, hang };
    explicit MadeFile(Fault fault) : fault_(fault) {}
    double now() const { return now_; }

    int write(std::span<const std::byte> block, std::uint64_t at) override {
        now_ += static_cast<double>(block.size()) / (fault_ == Fault::slow ? 1e7 : 2e9);
        if (bytes_.size() < at + block.size()) bytes_.resize(at + block.size());
        std::memcpy(bytes_.data() + at, block.data(), block.size());
        return 0;
    }
    int read(std::span<std::byte> block, std::uint64_t at) override {
        now_ += static_cast<double>(block.size()) / 2e9;
        while (fault_ == Fault::hang)
            ::pause();
        if (fault_ == Fault::error) return EIO;
        std::memcpy(block.data(), bytes_.data() + at, block.size());
        if (fault_ == Fault::corrupt) block[block.size() / 2] ^= std::byte{0x10};
        return 0;
    }
    int sync() override { return 0; }
    void forget_cache() override {}
    bool past_cache() const override { return true; }

private:
    Fault fault_;
    double now_ = 0;
    std::vector<std::byte> bytes_;
};

std::vector<Result> try_disk(MadeFile::Fault fault, const Request& request) {
    const Part part{.name = "made up"};
    Task task{.work = {}, .deadline = 1s, .part = part, .test = "disk.open"};
    task.work = [&](Sink& sink) {
        MadeFile file(fault);
        const DiskPlan plan{.most_bytes = 16U << 20, .most_time = 10s, .syncs = 3, .block = 1U << 20};
        for (auto& one : measure_disk(
                 file, plan, part, [&] { return file.now(); },
                 [&](std::string_view test) { sink.begin(part, test); })) {
            if (one.verdict == Verdict::measured)
                judge(one, request.expected, std::vector<std::string>{part.name});
            sink.add(one);
        }
    };
    return std::move(run_apart("disk", {std::move(task)}, request).front().results);
}

std::string disk_trouble(MadeFile::Fault fault, std::string_view test) {
    Request request;
    auto expected = restart::Expectations::from_text(
        "[[expected]]\ntest = \"disk.write\"\nof = \"made up\"\nvalue = 1\n", "made up");
    if (!expected) return expected.error().text;
    request.expected = *std::move(expected);
    if (exit_status(try_disk(MadeFile::Fault::none, request)) != base::exit_done)
        return "a sound disk is not";
    const auto found = try_disk(fault, request);
    return has_bad(found, test) ? "" : fmt::format("{} is not bad: {}", test, print(found));
}

} // namespace

std::vector<TrialOutcome> try_checks(std::string_view only, const std::filesystem::path& folder,
                                     const std::vector<std::string>& libraries, const std::string& nvml,
                                     const std::function<bool(const TrialOutcome&)>& told) {
    std::vector<TrialOutcome> outcomes;
    const auto tell = [&](TrialOutcome outcome) {
        outcomes.push_back(std::move(outcome));
        return told(outcomes.back());
    };
    static constexpr struct {
        std::string_view fault;
        MadeFile::Fault kind;
        std::string_view test;
    } disk_faults[] = {{"a bit comes back as another", MadeFile::Fault::corrupt, "disk.read"},
                       {"writing is slow", MadeFile::Fault::slow, "disk.write"},
                       {"an error at reading", MadeFile::Fault::error, "disk.read"},
                       {"reading never ends", MadeFile::Fault::hang, "disk.read"}};
    if (std::string_view("disk").starts_with(only))
        for (const auto& one : disk_faults)
            if (!tell({"disk", std::string(one.fault), "a file in memory", true,
                       disk_trouble(one.kind, one.test)}))
                return outcomes;
    std::optional<GpuTrial> gpus;
    if (!nvml.empty()) gpus.emplace(folder, libraries, nvml);
    for (const auto& one : gpu_faults) {
        if (!one.check.starts_with(only)) continue;
        const bool of_nvml = one.check == "gpu";
        TrialOutcome outcome{std::string(one.check),
                             std::string(one.fault),
                             of_nvml ? "a double of NVML" : "doubles of CUDA",
                             false,
                             {}};
        if (!gpus || (!of_nvml && libraries.empty())) {
            outcome.trouble =
                of_nvml ? "needs --nvml: a double of NVML" : "needs --nvml and --library: doubles of CUDA";
        } else {
            outcome.tried = true;
            outcome.trouble = gpus->trouble_of(one);
        }
        if (!tell(std::move(outcome))) return outcomes;
    }
    return outcomes;
}

} // namespace check
