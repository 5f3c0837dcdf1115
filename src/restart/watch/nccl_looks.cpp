#include "restart/watch/nccl_looks.hpp"

#include "base/clock.hpp"
#include "probe/own_addresses.hpp"
#include "probe/tcp_listener.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace restart {
namespace {

// NVML's index in "6" or "6 (NVML 3)", the CUDA device and its NVML number if they differ. -1: several GPUs
// ("0-3"), or an unknown one.
std::int32_t gpu_of(std::string_view text) {
    constexpr std::string_view by_nvml = " (NVML ";
    if (const auto at = text.find(by_nvml); at != std::string_view::npos && text.ends_with(')')) {
        text.remove_suffix(1);
        text.remove_prefix(at + by_nvml.size());
    }
    std::int32_t gpu = -1;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), gpu);
    return failed == std::errc{} && end == text.data() + text.size() && gpu >= 0 && gpu < 1'024 ? gpu : -1;
}

struct Looker {
    std::shared_ptr<JobBook> book;
    NcclSettings settings;
    std::optional<std::uint32_t> spoke_for; // the user with an entry in the book
    std::optional<probe::RasStatus> before;

    void forget() {
        if (spoke_for) book->put_nccl(*spoke_for, std::nullopt);
        spoke_for.reset();
        before.reset();
    }

    void look() {
        // Most hosts have no connected job most of the time: then the listener is not even looked up.
        const auto uid = book->has_clients() ? probe::tcp_listener(settings.port) : std::nullopt;
        if (uid != spoke_for) forget();
        if (!uid || !book->has_user(*uid)) return forget();
        const auto answer = probe::ask_ras(settings.patience, settings.port);
        // Another user's process may have taken the port in the meantime.
        if (probe::tcp_listener(settings.port) != uid) return forget();
        auto status = answer ? probe::read_ras(*answer) : base::Expected<probe::RasStatus>(answer.error());
        if (!status) return forget(); // without an answer nothing is known, about the job either
        const auto now = base::now().time_since_epoch().count();
        book->put_nccl(*uid, NcclWord{static_cast<std::uint64_t>(now < 0 ? 0 : now),
                                      probe::ras_troubles(*status, before ? &*before : nullptr,
                                                          most_nccl_troubles, longest_nccl_trouble),
                                      ras_signs(*status, probe::own_addresses())});
        spoke_for = uid;
        before = *std::move(status);
    }
};

} // namespace

std::vector<RasSign> ras_signs(const probe::RasStatus& status,
                               const std::set<std::string, std::less<>>& own) {
    std::map<std::int32_t, RasSign> by_gpu;
    const auto add = [&](const probe::RasProcess& process, std::uint64_t behind) {
        if (!own.contains(process.node)) return;
        const auto gpu = gpu_of(process.gpu);
        auto& sign = by_gpu[gpu];
        sign.gpu = gpu;
        sign.silent = sign.silent || behind == 0;
        sign.behind = std::max(sign.behind, behind);
    };
    for (const auto& process : status.lost)
        add(process, 0);
    for (const auto& one : status.communicators) {
        for (const auto& process : one.missing_ranks)
            add(process, 0);
        for (const auto& lag : one.lags)
            for (const auto& process : lag.behind)
                add(process, std::max<std::uint64_t>(1, lag.most - lag.least));
    }
    std::vector<RasSign> signs;
    for (const auto& [gpu, sign] : by_gpu)
        signs.push_back(sign);
    std::stable_sort(signs.begin(), signs.end(),
                     [](const RasSign& a, const RasSign& b) { return a.silent && !b.silent; });
    if (signs.size() > most_ras_signs) signs.resize(most_ras_signs);
    return signs;
}

NcclLooks::NcclLooks(TaskLoop& loop, std::shared_ptr<JobBook> book, NcclSettings settings)
    : task_(
          loop.add([looker = std::make_shared<Looker>(Looker{std::move(book), std::move(settings), {}, {}})] {
              looker->look();
              return next_beat(looker->settings.every);
          })) {}

} // namespace restart
