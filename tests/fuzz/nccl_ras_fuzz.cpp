// What anybody may answer at the port of NCCL's RAS: read or refused, within its bounds, and told in words
// that a log and a terminal can show. A byte 0 parts two answers, of which the second came later.
#include "base/utf8.hpp"
#include "probe/nccl_ras.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void hold(bool it_does) {
    if (!it_does) std::abort();
}

void hold(const std::string& text, std::size_t longest) {
    hold(text.size() <= longest && base::printable(text, longest) == text);
}

void hold(const std::vector<probe::RasProcess>& processes) {
    hold(processes.size() <= probe::most_ras_items);
    for (const auto& one : processes) {
        hold(one.rank >= -1 && one.rank <= 1'000'000'000);
        hold(one.gpu, 64);
        hold(one.node, 64);
    }
}

void hold(const probe::RasStatus& status) {
    hold(status.version, 64);
    hold(status.lost);
    hold(status.communicators.size() <= probe::most_ras_items);
    for (const auto& one : status.communicators) {
        hold(one.id, 32);
        hold(!one.id.empty() && one.reports.size() <= 16 && one.lags.size() <= 16);
        hold(one.missing_ranks);
        for (const auto& report : one.reports)
            hold(report, 128);
        for (const auto& lag : one.lags) {
            hold(lag.operation, 32);
            hold(lag.behind);
            hold(lag.least <= lag.most);
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto parted = text.find('\0');
    const auto first = probe::read_ras(text.substr(0, parted));
    const auto later = parted == text.npos ? probe::read_ras(text) : probe::read_ras(text.substr(parted + 1));
    if (first) hold(*first);
    if (!later) return 0;
    hold(*later);
    for (const std::size_t longest : {1U, 32U, 256U}) {
        const auto troubles = probe::ras_troubles(*later, first ? &*first : nullptr, 8, longest);
        hold(troubles.size() <= 8);
        for (const auto& trouble : troubles)
            hold(trouble, longest);
    }
    return 0;
}
