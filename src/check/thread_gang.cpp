#include "check/thread_gang.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace check {
namespace {

struct Piece {
    double sum, when;
};

class Inbox {
public:
    void put(Piece piece) {
        {
            const std::lock_guard hold(lock_);
            pieces_.push_back(piece);
        }
        filled_.notify_one();
    }
    Piece take() {
        std::unique_lock hold(lock_);
        filled_.wait(hold, [this] { return !pieces_.empty(); });
        const auto piece = pieces_.front();
        pieces_.pop_front();
        return piece;
    }

private:
    std::mutex lock_;
    std::condition_variable filled_;
    std::deque<Piece> pieces_;
};

bool has(const std::vector<std::size_t>& members, std::optional<std::size_t> one) {
    return one && std::find(members.begin(), members.end(), *one) != members.end();
}

} // namespace

ThreadGang::ThreadGang(std::size_t members) : rates_(members) {
    for (auto& one : rates_)
        one.fill(gbps);
}

void ThreadGang::slow(std::size_t member, int rail, double rate) {
    rates_[member][static_cast<std::size_t>(rail)] = rate;
}

base::Expected<double> ThreadGang::run(const GangRun& asked) {
    ++runs;
    const auto& members = asked.members;
    const auto n = members.size();
    if (has(members, dead)) return base::Error{base::Code::unavailable, "no answer"};
    std::vector<Inbox> inboxes(n);
    std::vector<double> clocks(n), sums(n);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < n; ++i)
        threads.emplace_back([&, i] {
            double clock = 0, sum = static_cast<double>(members[i]), passing = sum;
            for (std::size_t step = 1; step < n; ++step) {
                const auto next = (i + 1) % n;
                clock += cost(members[i], members[next], asked.rail);
                inboxes[next].put({spoils == members[i] ? passing + 1 : passing, clock});
                const auto piece = inboxes[i].take();
                passing = piece.sum;
                sum += passing;
                clock = std::max(clock, piece.when);
            }
            clocks[i] = clock;
            sums[i] = sum;
        });
    for (auto& one : threads)
        one.join();
    double right = 0;
    for (const auto member : members)
        right += static_cast<double>(member);
    for (const auto sum : sums)
        if (sum != right) return base::Error{base::Code::input, "a sum is wrong"};
    return static_cast<double>(n - 1) / *std::max_element(clocks.begin(), clocks.end());
}

// Of one unit of data: over one rail, or shared by all, where the slowest delays the rest.
double ThreadGang::cost(std::size_t from, std::size_t to, std::optional<int> rail) const {
    double slowest = 0;
    for (int r = 0; r < rails; ++r) {
        if (rail && r != *rail) continue;
        const auto at = static_cast<std::size_t>(r);
        slowest = std::max(slowest, 1 / std::min(rates_[from][at], rates_[to][at]));
    }
    return rail ? slowest : slowest / rails;
}

GangVerdict ThreadGang::search() {
    const GangPlan plan{rates_.size(), rails, 0.9 * gbps * rails, 0.9 * gbps};
    return find_slow(plan, [this](const GangRun& asked) { return run(asked); });
}

} // namespace check
