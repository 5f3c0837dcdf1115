// Looks at other hosts when restartd asks for it: whether anything answers at an address. In threads of its
// own, a few at once, so that a look that takes long, or a name that is not found, delays no report.
//
// A question is answered in each report until restartd asks no more: a report or a reply may be lost.
#pragma once

#include "restart/watch/background.hpp"
#include "restart/wire/report.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace restart {

// For any thread.
class PeerLooker {
public:
    static constexpr std::size_t most_at_once = 4;
    // For a connection, and again for the answer: a first packet that is lost is sent once more in it.
    static constexpr base::Duration patience{1'200};

    using Look = std::function<base::Knocked(const LookRequest&)>;

    // `news` is called by a thread of its own each time something was seen; `look` by several at once.
    explicit PeerLooker(std::function<void()> news, Look look = by_knocking);

    // What restartd asks for now, all of it: what it no longer asks for is forgotten.
    void wanted(const std::vector<LookRequest>& looks);

    // What was seen of that.
    std::vector<Sight> sights() const;

private:
    static base::Knocked by_knocking(const LookRequest& look);
    struct Work;
    std::shared_ptr<Work> work_;
    std::vector<std::unique_ptr<Background>> threads_; // none once all is looked at
};

} // namespace restart
