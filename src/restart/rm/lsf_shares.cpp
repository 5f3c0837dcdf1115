#include "restart/rm/lsf_shares.hpp"

#include "base/split.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace restart {
namespace {

constexpr std::string_view section = "SHARE_INFO_FOR:", queue_label = "QUEUE: ", name_column = "USER/GROUP",
                           factor_label = "RUN_JOB_FACTOR";

std::vector<std::string_view> columns_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (auto word = base::next_word(line); !word.empty(); word = base::next_word(line))
        words.push_back(word);
    return words;
}

// Neither negative nor not a number; LSF writes nothing else.
std::optional<double> share_of(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e15) return {};
    return value;
}

// "gang/physics/" split into its parts.
std::vector<std::string> parts_of(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const auto end = path.find('/');
        if (end != 0) parts.emplace_back(path.substr(0, end));
        path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
    }
    return parts;
}

// The columns of a table by its header.
class Columns {
public:
    explicit Columns(const std::vector<std::string_view>& head) : head_(head) {}

    std::optional<double> number_of(const std::vector<std::string_view>& row, std::string_view name) const {
        const auto at = std::find(head_.begin(), head_.end(), name);
        const auto index = static_cast<std::size_t>(at - head_.begin());
        if (at == head_.end() || index >= row.size()) return {};
        return share_of(row[index]);
    }

private:
    std::vector<std::string_view> head_;
};

class SharesReader {
public:
    void line(std::string_view line) {
        const auto words = columns_of(line);
        if (line.starts_with(queue_label)) {
            queue_ = words.size() > 1 ? std::string(words[1]) : std::string();
            columns_.reset();
            path_.clear();
        } else if (line.starts_with(section)) {
            path_ = parts_of(words.size() > 1 ? words[1] : std::string_view());
            columns_.reset();
        } else if (!words.empty() && words.front() == name_column && !path_.empty()) {
            columns_.emplace(words);
        } else if (words.empty()) {
            columns_.reset();
        } else if (columns_) {
            row(words);
        } else if (words.front().starts_with(factor_label)) {
            if (const auto factor = share_of(words.back())) factors_[queue_] = *factor;
        }
    }

    LsfShares take() {
        for (auto& [queue, shares] : shares_)
            if (const auto factor = factors_.find(queue); factor != factors_.end())
                shares.per_slot = factor->second;
        return std::move(shares_);
    }

private:
    void row(const std::vector<std::string_view>& words) {
        auto name = words.front();
        if (name.ends_with('/')) name.remove_suffix(1);
        const auto shares = columns_->number_of(words, "SHARES");
        const auto priority = columns_->number_of(words, "PRIORITY");
        if (name.empty() || !shares || !priority) return;
        sched::lsf::ShareAccount account;
        account.path.assign(path_.begin() + 1, path_.end());
        account.path.emplace_back(name);
        account.shares = *shares;
        account.priority = *priority;
        if (const auto started = columns_->number_of(words, "STARTED"))
            account.started = static_cast<std::uint64_t>(*started);
        shares_[path_.front()].accounts.push_back(std::move(account));
    }

    LsfShares shares_;
    std::map<std::string, double> factors_; // by queue
    std::string queue_;
    std::vector<std::string> path_; // of the table: the queue, and groups from the top
    std::optional<Columns> columns_;
};

} // namespace

LsfShares read_shares(std::string_view text) {
    SharesReader reader;
    while (!text.empty())
        reader.line(base::next_line(text));
    return reader.take();
}

LsfGroups read_user_groups(std::string_view text) {
    LsfGroups groups;
    while (!text.empty()) {
        const auto words = columns_of(base::next_line(text));
        if (words.size() < 2 || words.front() == "GROUP_NAME") continue;
        auto& users = groups[std::string(words.front())];
        for (auto word = words.begin() + 1; word != words.end(); ++word)
            if (!word->ends_with('/')) users.emplace(*word);
    }
    return groups;
}

bool may_have_groups(const LsfShares& shares, const std::set<std::string>& users) {
    for (const auto& [queue, tree] : shares)
        for (const auto& account : tree.accounts)
            if (account.path.back() != "default" && account.path.back() != "others" &&
                !users.contains(account.path.back()))
                return true;
    return false;
}

} // namespace restart
