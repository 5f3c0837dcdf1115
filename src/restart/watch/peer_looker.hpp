// Checks other hosts when restartd requests it: whether anything answers at an address. In separate threads,
// a few at once, so that a slow check, or a name that cannot be resolved, delays no report.
//
// A request is answered in each report until restartd withdraws it: a report or a reply may be lost.
#pragma once

#include "restart/watch/background.hpp"
#include "restart/wire/report.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace restart {

// Thread-safe.
class PeerLooker {
public:
    static constexpr std::size_t most_at_once = 4;
    // For a connection, and again for the answer: leaves time to retransmit a lost first packet.
    static constexpr base::Duration patience{1'200};

    using Look = std::function<base::Knocked(const LookRequest&)>;

    // `news` is called by a separate thread each time there is a result; `look` by several at once.
    explicit PeerLooker(std::function<void()> news, Look look = by_knocking);

    // All that restartd requests now; other requests are forgotten.
    void wanted(const std::vector<LookRequest>& looks);

    // The results for these.
    std::vector<Sight> sights() const;

private:
    static base::Knocked by_knocking(const LookRequest& look);
    struct Work;
    std::shared_ptr<Work> work_;
    std::vector<std::unique_ptr<Background>> threads_; // none once all checks are done
};

} // namespace restart
