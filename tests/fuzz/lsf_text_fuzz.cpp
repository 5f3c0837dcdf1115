// What LSF's commands may answer, and what users of LSF may have put into it: read or refused. Each share of
// a queue that is read gives every gang one turn; fields of a list that are read are read again from their
// text.
#include "restart/rm/lsf_shares.hpp"
#include "restart/rm/lsf_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

void hold(bool it_does) {
    if (!it_does) std::abort();
}

const base::Time now(base::Duration(1'790'000'000'000));

void hold_turns(const sched::lsf::Shares& shares) {
    constexpr std::size_t most = 64; // accounts that have gangs
    std::vector<sched::lsf::ShareGang> gangs{{"nobody of these", 8}};
    for (const auto& account : shares.accounts) {
        hold(!account.path.empty() && account.shares >= 0 && account.priority >= 0);
        if (gangs.size() > most) continue;
        gangs.push_back({account.path.back(), 8, account.started == 3U});
        gangs.push_back({account.path.front(), 1});
    }
    std::vector<bool> seen(gangs.size());
    std::size_t waiting = 0;
    for (const auto& gang : gangs)
        waiting += gang.started ? 0 : 1;
    const auto turns = sched::lsf::fair_order(shares, gangs);
    hold(turns.size() == waiting);
    for (const auto& turn : turns) {
        hold(turn.gang < gangs.size() && !seen[turn.gang] && !gangs[turn.gang].started);
        seen[turn.gang] = true;
    }
}

std::string text_of(const restart::LsfJobRow& row) {
    auto text = std::to_string(row.id.number()) + '^' + std::to_string(row.id.index()) + '^' + row.state +
                '^' + row.user + '^' + row.queue + '^';
    if (row.hosts.names.empty()) return text + '-';
    // All slots but one a host with the first.
    auto first = row.hosts.slots - static_cast<std::uint32_t>(row.hosts.names.size()) + 1;
    for (const auto& name : row.hosts.names) {
        if (first == 0) first = 1;
        text += std::to_string(first) + '*' + name + ':';
        first = 1;
    }
    text.pop_back();
    return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto rows = restart::read_job_rows(text))
        for (const auto& row : *rows)
            hold(row.id.number() != 0);
    if (const auto rows = restart::read_job_fields(text))
        for (const auto& row : *rows) {
            const auto again = restart::read_job_fields(text_of(row));
            hold(again && again->size() == 1 && again->front().id == row.id &&
                 again->front().state == row.state && again->front().user == row.user &&
                 again->front().queue == row.queue && again->front().hosts.names == row.hosts.names);
        }
    for (const auto& [id, details] : restart::read_job_details(text, now))
        hold(id.number() != 0 && details.id == id && details.least > 0 && details.least <= details.most &&
             (!details.run_limit || details.run_limit->count() >= 0));
    (void)restart::read_host_rows(text);
    (void)restart::read_host_notes(text);
    (void)restart::read_queue_priorities(text);
    (void)restart::has_job_fields(text);
    auto shares = restart::read_shares(text);
    const auto groups = restart::read_user_groups(text);
    for (auto& [queue, of_queue] : shares) {
        hold_turns(of_queue);
        of_queue.groups = groups;
        hold_turns(of_queue);
    }
    return 0;
}
