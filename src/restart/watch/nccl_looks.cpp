#include "restart/watch/nccl_looks.hpp"

#include "base/clock.hpp"
#include "probe/tcp_listener.hpp"

#include <optional>

namespace restart {
namespace {

struct Looker {
    std::shared_ptr<JobBook> book;
    NcclSettings settings;
    std::optional<std::uint32_t> spoke_for; // of whom something stands in the book
    std::optional<probe::RasStatus> before;

    void forget() {
        if (spoke_for) book->put_nccl(*spoke_for, std::nullopt);
        spoke_for.reset();
        before.reset();
    }

    void look() {
        // Most hosts have no job that speaks most of the time: they are not even asked who listens.
        const auto uid = book->has_clients() ? probe::tcp_listener(settings.port) : std::nullopt;
        if (uid != spoke_for) forget();
        if (!uid || !book->has_user(*uid)) return forget();
        const auto answer = probe::ask_ras(settings.patience, settings.port);
        // Another user's process may have taken the port in between.
        if (probe::tcp_listener(settings.port) != uid) return forget();
        auto status = answer ? probe::read_ras(*answer) : base::Expected<probe::RasStatus>(answer.error());
        if (!status) return forget(); // of a silent RAS nothing is known, of the job either
        const auto now = base::now().time_since_epoch().count();
        book->put_nccl(*uid, NcclWord{static_cast<std::uint64_t>(now < 0 ? 0 : now),
                                      probe::ras_troubles(*status, before ? &*before : nullptr,
                                                          most_nccl_troubles, longest_nccl_trouble)});
        spoke_for = uid;
        before = *std::move(status);
    }
};

} // namespace

NcclLooks::NcclLooks(std::shared_ptr<JobBook> book, NcclSettings settings)
    : thread_([looker = Looker{std::move(book), std::move(settings), {}, {}}](std::stop_token stop) mutable {
          do {
              looker.look();
          } while (pause(stop, looker.settings.every));
      }) {}

} // namespace restart
