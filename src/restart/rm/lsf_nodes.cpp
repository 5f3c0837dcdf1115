#include "restart/rm/lsf_nodes.hpp"

#include <algorithm>

namespace restart {
namespace {

// LSF's default LSB_SBD_PORT. Any other answer of a host's kernel says as much.
constexpr std::uint16_t sbatchd_port = 6882;

bool closed_by_hand(const LsfHostRow& row) {
    return row.status == "closed_Adm";
}
bool unreached(const LsfHostRow& row) {
    return row.status == "unreach" || row.status == "unavail";
}
bool is_open(const LsfHostRow& row) {
    return !closed_by_hand(row) && !unreached(row);
}

// The notes of at most this many open hosts are read with one list.
constexpr std::size_t most_opened = 256;

} // namespace

void LsfNodes::take(std::vector<LsfHostRow> rows) {
    rows_ = std::move(rows);
    asked_open_.clear();
    for (const auto& row : rows_) {
        if (!is_open(row)) outdated_.insert(row.name);
        const auto note = notes_.find(row.name);
        if (note == notes_.end()) continue;
        if (is_open(row))
            notes_.erase(note);
        else
            note->second.status = row.status;
    }
}

std::vector<std::string> LsfNodes::unread(const std::vector<LsfHostRow>& rows, base::Time now,
                                          base::Duration age) {
    std::vector<std::string> hosts;
    for (const auto& row : rows) {
        if (is_open(row)) {
            const bool known = opened_.contains(row.name) && !outdated_.contains(row.name);
            if (known || asked_open_.size() >= most_opened) continue;
            asked_open_.insert(row.name);
            hosts.push_back(row.name);
            continue;
        }
        const auto note = notes_.find(row.name);
        if (note == notes_.end() || note->second.status != row.status || now - note->second.read > age)
            hosts.push_back(row.name);
    }
    return hosts;
}

void LsfNodes::take_notes(const std::map<std::string, std::string>& notes, base::Time now) {
    for (const auto& [host, text] : notes) {
        auto& kept = notes_[host];
        kept.text = text;
        kept.read = now;
        if (!asked_open_.contains(host)) continue;
        opened_[host] = text;
        outdated_.erase(host);
    }
}

void LsfNodes::clock_set(base::Duration by) {
    for (auto& [host, note] : notes_)
        note.read += by;
}

void LsfNodes::set_up(const std::string& host) {
    downed_.erase(host);
    notes_.erase(host);
}

bool LsfNodes::is_lost(const std::string& host) const {
    const auto row =
        std::find_if(rows_.begin(), rows_.end(), [&](const LsfHostRow& one) { return one.name == host; });
    return downed_.contains(host) || (row != rows_.end() && unreached(*row));
}

bool LsfNodes::in_use(std::string_view host) const {
    const auto row =
        std::find_if(rows_.begin(), rows_.end(), [&](const LsfHostRow& one) { return one.name == host; });
    return row == rows_.end() || row->used > 0;
}

RmNode LsfNodes::node_of(const LsfHostRow& row) const {
    const auto note = notes_.find(row.name);
    const auto opened = opened_.find(row.name);
    const bool noted =
        note != notes_.end() && !note->second.text.empty() &&
        !(unreached(row) &&
          (note->second.text == resumed || (opened != opened_.end() && opened->second == note->second.text)));
    const bool downed = downed_.contains(row.name);
    RmNode node;
    node.name = row.name;
    node.address = row.name;
    node.port = sbatchd_port;
    node.state = row.status;
    node.drain = closed_by_hand(row) || (unreached(row) && noted);
    node.not_responding = unreached(row);
    node.down = row.status == "unavail" || downed;
    node.automatic = node.down && !downed;
    node.occupied = row.used > 0;
    if (noted) node.reason = note->second.text;
    if (node.drain && node.reason.empty()) node.reason = "closed without a note";
    const bool full = row.slots != 0 && row.used >= row.slots;
    node.use = node.down || node.not_responding ? base::HostState::down
               : node.drain                     ? base::HostState::drained
               : full                           ? base::HostState::busy
               : row.used > 0                   ? base::HostState::mixed
               : row.status == "ok"             ? base::HostState::free
                                                : base::HostState::drained;
    return node;
}

} // namespace restart
