#include "topo/host/host_facts.hpp"

#include "base/json.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace topo {
namespace {

namespace json = boost::json;
using base::Expected;
using base::Reader;

constexpr std::size_t most_devices = 256;
constexpr std::int64_t most_number = 1 << 20;

bool plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

// A word of printable characters, "" if the key is absent and optional.
Expected<std::string> read_word(const Reader& at, std::string_view key, bool needed) {
    if (!needed && !at.has(key)) return std::string();
    auto word = at.text(key);
    if (!word) return word;
    if (word->empty() || !plain(*word))
        return at.error(fmt::format("{}: a word of printable characters is wanted", key));
    return word;
}

Expected<int> read_index(const Reader& at, std::string_view key) {
    if (!at.has(key)) return none;
    const auto value = at.integer_in(key, 0, most_number);
    if (!value) return value.error();
    return static_cast<int>(*value);
}

Expected<Gpu> read_gpu(const Reader& at) {
    Gpu gpu;
    auto pci = read_word(at, "pci", true);
    if (!pci) return std::move(pci).error();
    gpu.pci = *std::move(pci);
    const auto numa = read_index(at, "numa");
    if (!numa) return numa.error();
    gpu.numa = *numa;
    return gpu;
}

Expected<HcaFacts> read_hca(const Reader& at, std::size_t gpus) {
    HcaFacts hca;
    auto device = read_word(at, "device", true);
    if (!device) return std::move(device).error();
    hca.device = *std::move(device);
    auto pci = read_word(at, "pci", false);
    if (!pci) return std::move(pci).error();
    hca.pci = *std::move(pci);
    if (at.has("guid")) {
        const auto text = at.text("guid");
        if (!text) return text.error();
        const auto guid = parse_guid(*text);
        if (!guid) return at.error("guid: not a GUID: 0x and up to 16 hexadecimal digits are");
        hca.guid = *guid;
    }
    const auto numa = read_index(at, "numa");
    if (!numa) return numa.error();
    hca.numa = *numa;
    const auto gpu = read_index(at, "gpu");
    if (!gpu) return gpu.error();
    hca.gpu = *gpu;
    if (hca.gpu != none && topo::at(hca.gpu) >= gpus)
        return at.error(fmt::format("gpu: there is no GPU {}; the host has {}", hca.gpu, gpus));
    if (!at.has("shared")) return hca;
    const auto list = at.at("shared");
    if (!list) return list.error();
    const auto items = list->items();
    if (!items) return items.error();
    if (items->size() != gpus)
        return list->error(fmt::format("a number for each of the {} GPUs is wanted", gpus));
    for (const auto& item : *items) {
        const auto depth = item.integer_in(0, most_number);
        if (!depth) return depth.error();
        hca.shared.push_back(static_cast<int>(*depth));
    }
    return hca;
}

Expected<std::vector<std::string>> read_domains(const Reader& top) {
    std::vector<std::string> domains;
    auto one = read_word(top, "domain", false);
    if (!one) return std::move(one).error();
    if (!one->empty()) domains.push_back(*std::move(one));
    if (!top.has("domains")) return domains;
    const auto list = top.at("domains");
    const auto items = list->items();
    if (!items) return items.error();
    if (items->size() > most_devices) return list->error("more than 256 domains");
    for (const auto& item : *items) {
        auto name = item.text();
        if (!name) return std::move(name).error();
        if (name->empty() || !plain(*name)) return item.error("a word of printable characters is wanted");
        domains.push_back(*std::move(name));
    }
    return domains;
}

} // namespace

std::vector<int> pair_gpus(const HostFacts& facts, const std::vector<bool>& taken) {
    struct Pair {
        int shared;
        bool same_numa;
        std::size_t gpu, hca;
    };
    const auto in = [&](std::size_t hca) { return taken.empty() || (hca < taken.size() && taken[hca]); };
    std::vector<int> nearest(facts.hcas.size(), none);
    std::vector<Pair> pairs;
    for (std::size_t h = 0; h < facts.hcas.size(); ++h) {
        const HcaFacts& hca = facts.hcas[h];
        if (!in(h)) continue;
        if (hca.shared.size() != facts.gpus.size()) {
            nearest[h] = hca.gpu;
            continue;
        }
        for (std::size_t g = 0; g < facts.gpus.size(); ++g)
            pairs.push_back({hca.shared[g], hca.numa != none && hca.numa == facts.gpus[g].numa, g, h});
    }
    std::sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
        const auto key = [&](const Pair& p) {
            return std::tuple(-p.shared, !p.same_numa, std::string_view(facts.gpus[p.gpu].pci),
                              std::string_view(facts.hcas[p.hca].pci), p.gpu, p.hca);
        };
        return key(a) < key(b);
    });
    std::vector<bool> gpu_has_one(facts.gpus.size(), false);
    for (const Pair& pair : pairs)
        if (nearest[pair.hca] == none && !gpu_has_one[pair.gpu]) {
            nearest[pair.hca] = static_cast<int>(pair.gpu);
            gpu_has_one[pair.gpu] = true;
        }
    for (const Pair& pair : pairs) // more HCAs than GPUs
        if (nearest[pair.hca] == none) nearest[pair.hca] = static_cast<int>(pair.gpu);
    return nearest;
}

std::string print_host_facts(const HostFacts& facts) {
    json::array hcas, gpus;
    for (const HcaFacts& hca : facts.hcas) {
        json::object object{{"device", hca.device}};
        if (hca.guid != 0) object["guid"] = format_guid(hca.guid);
        if (!hca.pci.empty()) object["pci"] = hca.pci;
        if (hca.numa != none) object["numa"] = hca.numa;
        if (hca.gpu != none) object["gpu"] = hca.gpu;
        if (!hca.shared.empty()) object["shared"] = json::array(hca.shared.begin(), hca.shared.end());
        hcas.push_back(std::move(object));
    }
    for (const Gpu& gpu : facts.gpus) {
        json::object object{{"pci", gpu.pci}};
        if (gpu.numa != none) object["numa"] = gpu.numa;
        gpus.push_back(std::move(object));
    }
    json::object top{{"railyard_host", host_facts_version}, {"host", facts.host}};
    if (facts.domains.size() == 1)
        top["domain"] = facts.domains.front();
    else if (!facts.domains.empty())
        top["domains"] = json::array(facts.domains.begin(), facts.domains.end());
    top["hcas"] = std::move(hcas);
    top["gpus"] = std::move(gpus);
    return base::to_text(top);
}

Expected<HostFacts> parse_host_facts(std::string_view line) {
    const auto document = base::parse_json(line);
    if (!document) return document.error();
    const Reader top(*document);
    const auto version = top.integer_in("railyard_host", 1, 1 << 20);
    if (!version) return version.error();
    if (*version != host_facts_version)
        return top.error(
            fmt::format("railyard_host: these are facts of version {}, this program reads {}: use "
                        "the same Railyard on all hosts",
                        *version, host_facts_version));
    HostFacts facts;
    auto host = read_word(top, "host", true);
    if (!host) return std::move(host).error();
    facts.host = *std::move(host);
    auto domains = read_domains(top);
    if (!domains) return std::move(domains).error();
    facts.domains = *std::move(domains);
    if (top.has("gpus")) {
        const auto list = top.at("gpus");
        const auto items = list->items();
        if (!items) return items.error();
        if (items->size() > most_devices) return list->error("more than 256 GPUs");
        for (const auto& item : *items) {
            auto gpu = read_gpu(item);
            if (!gpu) return std::move(gpu).error();
            facts.gpus.push_back(*std::move(gpu));
        }
    }
    const auto list = top.at("hcas");
    if (!list) return list.error();
    const auto items = list->items();
    if (!items) return items.error();
    if (items->size() > most_devices) return list->error("more than 256 HCAs");
    std::unordered_set<Guid> guids;
    for (const auto& item : *items) {
        auto hca = read_hca(item, facts.gpus.size());
        if (!hca) return std::move(hca).error();
        if (hca->guid != 0 && !guids.insert(hca->guid).second)
            return item.error(fmt::format("guid: {} stands twice", format_guid(hca->guid)));
        facts.hcas.push_back(*std::move(hca));
    }
    return facts;
}

} // namespace topo
