#include "restart/lsf/allocation.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <map>

namespace restart::lsf {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::uint64_t most_slots = 1'048'576;

std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    std::vector<std::string_view> words;
    while (words.size() <= 2 * most_slots) {
        const auto begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        words.push_back(text.substr(0, text.find_first_of(blanks)));
        text.remove_prefix(words.back().size());
    }
    return words;
}

// Collects hosts in the order of their first occurrence.
class Adder {
public:
    bool add(std::string_view host, std::uint64_t slots) {
        all_ += slots;
        if (all_ > most_slots) return false;
        const auto [at, fresh] = place_.try_emplace(std::string(host), allocation_.hosts.size());
        if (fresh) {
            allocation_.hosts.emplace_back(host);
            allocation_.slots.push_back(0);
        }
        allocation_.slots[at->second] += static_cast<std::uint32_t>(slots);
        return true;
    }
    Allocation take() { return std::move(allocation_); }

private:
    Allocation allocation_;
    std::map<std::string, std::size_t> place_;
    std::uint64_t all_ = 0;
};

} // namespace

Expected<base::JobId> job_of(const Lookup& get) {
    const auto number = get("LSB_JOBID").value_or("");
    const auto index = get("LSB_JOBINDEX").value_or("0");
    const auto job =
        base::JobId::parse(index == "0" || index.empty() ? number : fmt::format("{}[{}]", number, index));
    if (job) return *job;
    if (number.empty())
        return Error{Code::usage, "LSB_JOBID is not set: it is run by a job of LSF, see esub.rail(8)"};
    return Error{Code::usage, fmt::format("LSB_JOBID={} LSB_JOBINDEX={}: is no job of LSF",
                                          base::printable(number, 40), base::printable(index, 40))};
}

Expected<Allocation> read_mcpu_hosts(std::string_view text) {
    const auto words = words_of(text);
    const Error bad{Code::input,
                    fmt::format("LSB_MCPU_HOSTS=\"{}\": pairs of a host and its slots are wanted",
                                base::printable(text, 100))};
    if (words.empty() || words.size() % 2 != 0) return bad;
    Adder adder;
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const auto slots = base::parse_count(words[i + 1]);
        if (!slots || *slots == 0 || *slots > most_slots || !adder.add(words[i], *slots)) return bad;
    }
    return adder.take();
}

Expected<Allocation> read_slots(std::string_view text) {
    Adder adder;
    const auto words = words_of(text);
    if (words.empty()) return Error{Code::input, "LSF names no host of the job"};
    for (const auto host : words)
        if (!adder.add(host, 1))
            return Error{Code::input, fmt::format("a job of more than {} slots", most_slots)};
    return adder.take();
}

Expected<Allocation> allocation_of(const Lookup& get) {
    if (const auto hosts = get("LSB_MCPU_HOSTS"); hosts && !hosts->empty()) return read_mcpu_hosts(*hosts);
    if (const auto file = get("LSB_DJOB_HOSTFILE"); file && !file->empty()) {
        const auto text = base::read_file(*file, std::size_t{64} << 20);
        if (!text) return text.error();
        return read_slots(*text);
    }
    return read_slots(get("LSB_HOSTS").value_or(""));
}

} // namespace restart::lsf
