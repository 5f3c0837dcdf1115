#include "sched/lsf/fairshare.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>

namespace sched::lsf {
namespace {

using Path = std::vector<std::string>;

constexpr std::string_view default_account = "default", other_accounts = "others", everybody = "all";
// LSF shows three digits: 0.000 only means less than this.
constexpr double least_priority = 0.0005;
constexpr auto none = std::numeric_limits<std::size_t>::max();

// Larger priority first, then the child whose first gang is earlier.
using Key = std::tuple<double, std::size_t, std::size_t>;

struct Node {
    std::map<std::string, std::size_t, std::less<>> children;
    std::set<Key> turns;           // the children with waiting gangs
    std::deque<std::size_t> gangs; // of an account without children
    std::size_t first = none;      // the first waiting gang here or below
    std::size_t parent = none;
    double shares = 1, priority = 0, load = 0, read = 0;
    std::optional<std::uint64_t> started;
    std::uint64_t holds = 0; // slots of the gangs that were started

    Key key(std::size_t self) const { return {-priority, first, self}; }
};

class Tree {
public:
    explicit Tree(const Shares& shares) : shares_(shares), nodes_(1) {
        for (const auto& account : shares.accounts)
            if (!account.path.empty()) set(node(account.path), account);
        for (const auto& account : shares.accounts)
            if (!account.path.empty()) learn(account);
    }

    // The account charged for the user's jobs.
    std::size_t account_of(const std::string& user) {
        const auto [at, fresh] = charged_.try_emplace(user, none);
        if (fresh) at->second = find_account(user);
        return at->second;
    }

    void add(const ShareGang& gang, std::size_t index) {
        const auto at = account_of(gang.user);
        if (gang.started)
            nodes_[at].holds += gang.slots;
        else
            nodes_[at].gangs.push_back(index);
    }

    // Charges slots that the reading did not count.
    void charge_new() {
        for (std::size_t at = 0; at < nodes_.size(); ++at)
            if (const auto& one = nodes_[at]; one.started && one.holds > *one.started)
                charge(at, one.holds - *one.started);
    }

    std::vector<ShareTurn> turns(const std::vector<ShareGang>& gangs) {
        enter(0);
        std::vector<ShareTurn> order;
        while (!nodes_[0].turns.empty()) {
            std::size_t at = 0;
            while (!nodes_[at].turns.empty()) {
                const auto next = std::get<2>(*nodes_[at].turns.begin());
                nodes_[at].turns.erase(nodes_[at].turns.begin());
                at = next;
            }
            const auto gang = nodes_[at].gangs.front();
            nodes_[at].gangs.pop_front();
            order.push_back({gang, nodes_[at].read});
            charge(at, gangs[gang].slots);
            for (auto up = at; up != 0; up = nodes_[up].parent) {
                find_first(nodes_[up]);
                if (nodes_[up].first != none) nodes_[nodes_[up].parent].turns.insert(nodes_[up].key(up));
            }
        }
        return order;
    }

private:
    std::size_t node(const Path& path) {
        std::size_t at = 0;
        for (const auto& name : path) {
            const auto found = nodes_[at].children.find(name);
            if (found != nodes_[at].children.end()) {
                at = found->second;
                continue;
            }
            const auto child = nodes_.size();
            nodes_[at].children.emplace(name, child);
            auto& fresh = nodes_.emplace_back();
            fresh.parent = at;
            fresh.load = shares_.per_slot;
            fresh.read = fresh.priority = fresh.load > 0 ? fresh.shares / fresh.load : 0;
            fresh.started = 0;
            at = child;
        }
        return at;
    }

    void set(std::size_t at, const ShareAccount& account) {
        auto& one = nodes_[at];
        one.shares = account.shares;
        one.read = account.priority;
        one.priority = account.shares > 0 ? std::max(account.priority, least_priority) : account.priority;
        one.load = account.shares / std::max(account.priority, least_priority);
        one.started = account.started;
    }

    // Registers the account for users of its name, in its group, or without an account.
    void learn(const ShareAccount& account) {
        const auto& name = account.path.back();
        const auto at = node(account.path);
        if (!nodes_[at].children.empty()) return;
        by_name_[name].push_back(account.path);
    }

    bool belongs(const std::string& user, const std::string& group) const {
        const auto found = shares_.groups.find(group);
        return found != shares_.groups.end() &&
               (found->second.contains(user) || found->second.contains(everybody));
    }

    // Whether the first is charged rather than the second: the first difference from the top decides.
    bool before(const Path& a, const Path& b) {
        for (std::size_t depth = 1; depth <= std::min(a.size(), b.size()); ++depth) {
            const auto first = nodes_[node({a.begin(), a.begin() + static_cast<std::ptrdiff_t>(depth)})].read;
            const auto second =
                nodes_[node({b.begin(), b.begin() + static_cast<std::ptrdiff_t>(depth)})].read;
            if (first != second) return first > second;
        }
        return false;
    }

    std::size_t best(const std::vector<Path>& paths) {
        return node(*std::min_element(paths.begin(), paths.end(),
                                      [&](const Path& a, const Path& b) { return before(a, b); }));
    }

    std::size_t find_account(const std::string& user) {
        const auto own = by_name_.find(user);
        if (own != by_name_.end()) return best(own->second);
        std::vector<Path> paths;
        for (const auto& [group, users] : shares_.groups)
            if (const auto found = by_name_.find(group); found != by_name_.end() && belongs(user, group))
                paths.insert(paths.end(), found->second.begin(), found->second.end());
        if (!paths.empty()) return best(paths);
        for (const auto name : {default_account, other_accounts})
            if (const auto found = by_name_.find(name); found != by_name_.end())
                for (const auto& path : found->second)
                    if (path.size() == 1 || belongs(user, path[path.size() - 2])) paths.push_back(path);
        if (paths.empty()) return node({user});
        auto path = *std::min_element(paths.begin(), paths.end(),
                                      [&](const Path& a, const Path& b) { return before(a, b); });
        const auto shared = node(path);
        if (path.back() == other_accounts) return shared;
        path.back() = user;
        const auto at = node(path);
        const auto& like = nodes_[shared];
        set(at, {path, like.shares, like.priority, like.started});
        return at;
    }

    void charge(std::size_t at, std::uint64_t slots) {
        for (; at != 0; at = nodes_[at].parent) {
            auto& one = nodes_[at];
            if (one.shares <= 0) continue; // it is last, whatever it holds
            one.load += static_cast<double>(slots) * shares_.per_slot;
            if (one.load > 0) one.priority = one.shares / one.load;
        }
    }

    void find_first(Node& one) const {
        one.first = one.gangs.empty() ? none : one.gangs.front();
        for (const auto& turn : one.turns)
            one.first = std::min(one.first, std::get<1>(turn));
    }

    // Recursive, as deep as the tree.
    void enter(std::size_t at) {
        for (const auto& [name, child] : nodes_[at].children) {
            enter(child);
            if (nodes_[child].first != none) nodes_[at].turns.insert(nodes_[child].key(child));
        }
        find_first(nodes_[at]);
    }

    const Shares& shares_;
    std::vector<Node> nodes_; // [0]: the queue
    std::map<std::string, std::vector<Path>, std::less<>> by_name_;
    std::map<std::string, std::size_t> charged_;
};

} // namespace

std::vector<ShareTurn> fair_order(const Shares& shares, const std::vector<ShareGang>& gangs) {
    Tree tree(shares);
    for (std::size_t i = 0; i < gangs.size(); ++i)
        tree.add(gangs[i], i);
    tree.charge_new();
    return tree.turns(gangs);
}

} // namespace sched::lsf
