#include "check/cuda_gemm.hpp"

#include "base/fnv.hpp"
#include "check/cuda_blas.hpp"
#include "check/cuda_check.hpp"
#include "check/cuda_kernel_abi.h"
#include "restart/wire/check_word.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace check {
namespace {

using namespace std::chrono_literals;

struct GemmPlan {
    int most;       // rows, columns and depth
    double seconds; // of each precision, without the first product
    int products;   // at most
    int repeats;    // of each precision's product of random numbers
};
GemmPlan gemm_plan(int level) {
    if (level == 1) return {4096, 0.05, 4, 2};
    if (level == 2) return {8192, 3, 2000, 20};
    return {16384, 30, 100'000, 100};
}

// A number format: how A, B and C are stored.
struct Form {
    Precision precision;
    RailyardNumber in, out;
    std::size_t in_bytes, out_bytes;
};
constexpr std::array<Form, 5> forms{{
    {Precision::fp64, railyard_f64, railyard_f64, 8, 8},
    {Precision::fp32, railyard_f32, railyard_f32, 4, 4},
    {Precision::tf32, railyard_f32, railyard_f32, 4, 4},
    {Precision::bf16, railyard_bf16, railyard_f32, 2, 4},
    {Precision::fp8, railyard_e4m3, railyard_f32, 1, 4},
}};

// The findings of the kernel railyard_product.
struct GemmErrors {
    unsigned long long wrong = 0, first = std::numeric_limits<unsigned long long>::max(), sum = 0;
};

class Trial {
public:
    Trial(const CudaWork& work, const GemmPlan& plan, CudaBlas* blas)
        : work_(work), gpu_(work.gpu), plan_(plan), blas_(blas) {
        // Three matrices of the widest numbers take at most a quarter of the free memory.
        size_ = 128;
        const int most = blas == nullptr ? std::min(plan.most, 4096) : plan.most; // our own kernels are slow
        const auto room = gpu_.free_bytes() / 4;
        for (int size = most; size > 128; size /= 2)
            if (static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * 24 <= room) {
                size_ = size;
                break;
            }
        const auto elements = static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
        a_ = gpu_.allocate(8 * elements);
        b_ = gpu_.allocate(8 * elements);
        c_ = gpu_.allocate(8 * elements);
        found_ = gpu_.allocate(sizeof(GemmErrors));
    }
    bool has_memory() const { return a_ && b_ && c_ && found_; }

    void run(const Form& form) {
        const auto name = fmt::format("gemm.{}", to_string(form.precision));
        work_.sink.begin(work_.device.part, name);
        fill(form);
        // The first product loads its kernel, and is checked.
        gpu_.zero(c_.at(), form.out_bytes * elements());
        if (!multiply(form)) return; // neither the GPU nor the library supports such a product
        GemmErrors all = look(form);
        double seconds = 0, best = 0;
        int products = 1;
        while (!gpu_.failed() && seconds < plan_.seconds && products < plan_.products) {
            // Several in a row, so that start-up time does not count; every tenth is checked.
            const int row = products == 1 ? 1 : std::min(10, plan_.products - products);
            const auto took = gpu_.seconds([&] {
                for (int i = 0; i < row; ++i)
                    multiply(form);
            });
            if (took <= 0) break;
            best = best == 0 ? took / row : std::min(best, took / row);
            seconds += took;
            products += row;
            const auto found = look(form);
            all.wrong += found.wrong;
            all.first = std::min(all.first, found.first);
            sums_.insert(found.sum);
        }
        if (gpu_.failed()) return;
        sums_.insert(all.sum);
        tell(name, all, best, products);
        sums_.clear();
    }

    // Runs last. Small whole numbers leave most of a multiplier unused. For numbers with all of their bits,
    // nothing is known beforehand except that each product of them has the same bits, here and on every GPU
    // of this model with this release of cuBLAS (as 3,329 products on two H100 had).
    void run_random() {
        work_.sink.begin(work_.device.part, restart::product_bits);
        size_ = std::max(128, size_ / 2); // an eighth of the work, still enough for every multiprocessor
        base::Fnv1a digest;
        int products = 0, others = 0;
        for (const auto& form : forms) {
            fill_random(form);
            std::optional<unsigned long long> first;
            for (int i = 0; i < plan_.repeats && !gpu_.failed(); ++i) {
                gpu_.zero(c_.at(), form.out_bytes * elements());
                if (!multiply(form)) break;
                const auto sum = sum_of(form);
                if (first && sum != *first) ++others;
                if (!first) first = sum;
                ++products;
            }
            digest.add(fmt::format("{:x} ", first.value_or(0)));
        }
        if (gpu_.failed()) return;
        if (others != 0)
            return work_.said(
                restart::product_bits, Verdict::bad,
                fmt::format("{} of {} products have other bits than the first of the same matrices", others,
                            products));
        auto says = fmt::format("{:016x}: {} x {}, cuBLAS {}, {}", digest.value(), size_, size_,
                                blas_->version(), work_.device.name);
        work_.sink.fact(restart::product_bits, fmt::format("{} {:016x}", size_, digest.value()));
        work_.said(restart::product_bits, Verdict::sound, std::move(says));
    }

private:
    unsigned long long edge() const { return static_cast<unsigned long long>(size_); }
    std::size_t elements() const { return static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_); }

    void fill(const Form& form) {
        const auto number = static_cast<unsigned>(form.in);
        const auto a =
            static_cast<unsigned>(form.precision == Precision::fp8 ? railyard_a_transposed : railyard_a);
        gpu_.launch("railyard_matrix", a_.at(), edge(), edge(), number, a, seed);
        gpu_.launch("railyard_matrix", b_.at(), edge(), edge(), number, static_cast<unsigned>(railyard_b),
                    seed);
        gpu_.zero(found_.at(), sizeof(GemmErrors));
        gpu_.launch("railyard_depth", edge(), number, seed, found_.at());
        depth_ = gpu_.read<long long>(found_.at());
    }

    void fill_random(const Form& form) {
        const auto number = static_cast<unsigned>(form.in);
        const auto count = static_cast<unsigned long long>(elements());
        gpu_.launch("railyard_random", a_.at(), count, number, seed);
        gpu_.launch("railyard_random", b_.at(), count, number, seed + 1);
    }

    unsigned long long sum_of(const Form& form) {
        const auto words = static_cast<unsigned long long>(form.out_bytes * elements() / 4);
        gpu_.zero(found_.at(), sizeof(GemmErrors));
        gpu_.launch("railyard_sum", c_.at(), words, found_.at());
        return gpu_.read<unsigned long long>(found_.at());
    }

    bool multiply(const Form& form) {
        if (blas_ != nullptr)
            return blas_->multiply(form.precision, c_.at(), a_.at(), b_.at(), size_, size_, size_);
        if (form.precision != Precision::fp64 && form.precision != Precision::fp32) return false;
        gpu_.launch(form.precision == Precision::fp64 ? "railyard_gemm_f64" : "railyard_gemm_f32", c_.at(),
                    a_.at(), b_.at(), edge(), edge(), edge());
        return true;
    }

    GemmErrors look(const Form& form) {
        const GemmErrors none;
        gpu_.to_device(found_.at(), &none, sizeof none);
        gpu_.launch("railyard_product", c_.at(), edge(), edge(), static_cast<unsigned>(form.out), seed,
                    depth_, found_.at());
        return gpu_.read<GemmErrors>(found_.at());
    }

    void tell(const std::string& name, const GemmErrors& all, double best, int products) const {
        work_.sink.fact(name, fmt::format("{} {:016x}", size_, fmt::join(sums_, ",")));
        const auto what = fmt::format("{} products of {} x {} x {}", products, size_, size_, size_);
        if (all.wrong != 0) {
            return work_.said(name, Verdict::bad,
                              fmt::format("{} elements are wrong in {}; the first: row {}, column {}",
                                          all.wrong, what, all.first % edge(), all.first / edge()));
        }
        const auto operations = 2.0 * static_cast<double>(elements()) * size_;
        // Our own product checks results; its speed says nothing about the GPU.
        if (blas_ == nullptr || best <= 0)
            return work_.said(
                name, Verdict::sound,
                fmt::format("{}, all right{}", what, blas_ == nullptr ? ", by kernels of railcheck" : ""));
        work_.measured(name, operations / best / 1e12, "TFLOP/s", fmt::format("{}, all right", what));
    }

    static constexpr unsigned long long seed = 20;
    const CudaWork& work_;
    CudaGpu& gpu_;
    GemmPlan plan_;
    CudaBlas* blas_;
    int size_ = 0;
    long long depth_ = 0;
    CudaGpu::Memory a_, b_, c_, found_;
    std::set<unsigned long long> sums_; // of products; more than one is corruption
};

void multiply(const CudaWork& work, const GemmPlan& plan) {
    work.sink.begin(work.device.part, "gemm.start");
    const auto blas = CudaBlas::open(work.request.libraries, work.gpu);
    if (work.gpu.failed()) return;
    work.sink.fact("blas", blas ? "" : blas.error().text);
    Trial trial(work, plan, blas ? blas->get() : nullptr);
    if (work.gpu.failed()) return;
    if (!trial.has_memory())
        return work.said("gemm.start", Verdict::not_run, "too little of the GPU's memory is free");
    for (const auto& form : forms)
        if (!work.gpu.failed()) trial.run(form);
    if (blas && !work.gpu.failed()) trial.run_random(); // the bits of our own kernels depend on the compiler
}

// Silent corruption: the same product must have the same bits on all GPUs of one model; each reports its size
// and its checksums. The bits that more than half of the GPUs have are right; without a majority the faulty
// GPU is unknown.
void compare_gpus(CudaRun& run, const std::string& name) {
    struct Alike {
        std::size_t gpus = 0;
        std::map<std::string, std::vector<std::size_t>> by_sums;
    };
    std::map<std::string, Alike> by_product; // by model and size
    for (std::size_t i = 0; i < run.devices.size(); ++i)
        if (const auto told = run.facts[i].find(name); told != run.facts[i].end()) {
            const auto blank = told->second.find(' ');
            auto& alike = by_product[run.devices[i].name + ' ' + told->second.substr(0, blank)];
            ++alike.gpus;
            alike.by_sums[told->second.substr(blank + 1)].push_back(i);
        }
    for (const auto& [product, alike] : by_product) {
        if (alike.by_sums.size() < 2) continue;
        const auto most =
            std::max_element(alike.by_sums.begin(), alike.by_sums.end(),
                             [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
        const bool known = 2 * most->second.size() > alike.gpus;
        for (const auto& [sums, devices] : alike.by_sums)
            for (const auto i : devices) {
                if (known && sums == most->first) continue;
                for (auto& one : run.results) {
                    if (one.test != name || one.part.pci != run.devices[i].part.pci ||
                        one.verdict == Verdict::bad)
                        continue;
                    one.verdict = known ? Verdict::bad : Verdict::warning;
                    one.says =
                        known ? fmt::format("its products have other bits than those of {} GPUs beside it",
                                            most->second.size())
                              : "the GPUs of this host have products of different bits";
                }
            }
    }
}

} // namespace

std::vector<Result> Gemm::run(const Request& request) {
    const auto plan = gemm_plan(request.level);
    // cuBLAS takes seconds to load hundreds of megabytes.
    const base::Duration deadline = request.level == 1 ? 40s : request.level == 2 ? 90s : 400s;
    auto run =
        run_on_each("gemm", request, deadline, true, [&](const CudaWork& work) { multiply(work, plan); });
    for (const auto& form : forms)
        compare_gpus(run, fmt::format("gemm.{}", to_string(form.precision)));
    compare_gpus(run, std::string(restart::product_bits));
    for (const auto& facts : run.facts)
        if (const auto why = facts.find("blas"); why != facts.end() && !why->second.empty()) {
            Result missing{.check = "gemm",
                           .test = "gemm.cublas",
                           .part = {.name = "gpus"},
                           .verdict = Verdict::not_run};
            missing.says = fmt::format("no cuBLAS, so no speed, and no TF32, BF16 and FP8: {}", why->second);
            run.results.push_back(std::move(missing));
            break;
        }
    return std::move(run.results);
}

} // namespace check
