#include "restart/ckpt/manifest.hpp"

#include "base/json.hpp"
#include "restart/ckpt/digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace restart::ckpt {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::Reader;

constexpr std::int64_t version = 1;
constexpr std::size_t digest_digits = 32;
constexpr std::string_view seal_head = "  \"manifest_xxh3_128\": \"", seal_tail = "\"\n}\n";
constexpr std::size_t seal_size = seal_head.size() + digest_digits + seal_tail.size();

bool is_digest(std::string_view text) {
    return text.size() == digest_digits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

Expected<ManifestFile> read_entry(const Reader& entry) {
    ManifestFile file;
    auto name = entry.text("name");
    if (!name) return std::move(name).error();
    file.name = std::move(*name);
    if (auto ok = check_file_name(file.name); !ok) return entry.error(ok.error().text);
    auto bytes = entry.integer_in("bytes", 0, std::numeric_limits<std::int64_t>::max());
    if (!bytes) return std::move(bytes).error();
    file.bytes = static_cast<std::uint64_t>(*bytes);
    auto sum = entry.text("xxh3_128");
    if (!sum) return std::move(sum).error();
    if (!is_digest(*sum)) return entry.error("xxh3_128: 32 lower-case hexadecimal digits are wanted");
    file.xxh3_128 = std::move(*sum);
    return file;
}

// Reads the fields; the seal has been checked.
Expected<Manifest> read_fields(const Reader& top) {
    const auto v = top.integer("v");
    if (!v) return v.error();
    if (*v != version)
        return top.error(fmt::format("v: version {} is not {}: written by another release", *v, version));
    Manifest manifest;
    const auto step = top.integer_in("step", 0, static_cast<std::int64_t>(max_step));
    if (!step) return step.error();
    const auto epoch = top.integer_in("epoch", 0, max_epoch);
    if (!epoch) return epoch.error();
    manifest.id = {static_cast<std::uint32_t>(*epoch), static_cast<std::uint64_t>(*step)};
    const auto named = top.at("job");
    if (!named) return named.error();
    const auto job = named->job_id();
    if (!job) return job.error();
    manifest.job.job = *job;
    const auto time = top.number("time"), cost = top.number("cost_s");
    if (!time) return time.error();
    if (!cost) return cost.error();
    if (*cost < 0) return top.error("cost_s: is below 0");
    manifest.time_s = *time;
    manifest.cost_s = *cost;
    const auto files = top.at("files");
    if (!files) return files.error();
    const auto entries = files->items();
    if (!entries) return entries.error();
    std::set<std::string_view> names;
    manifest.files.reserve(entries->size());
    for (const auto& entry : *entries) {
        auto file = read_entry(entry);
        if (!file) return std::move(file).error();
        manifest.files.push_back(std::move(*file));
        if (!names.insert(manifest.files.back().name).second)
            return entry.error(fmt::format("\"{}\" is named twice", manifest.files.back().name));
    }
    return manifest;
}

} // namespace

std::uint64_t Manifest::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& file : files)
        sum += file.bytes;
    return sum;
}

std::string to_text(const Manifest& manifest) {
    boost::json::array files;
    for (const auto& file : manifest.files)
        files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"xxh3_128", file.xxh3_128}});
    const boost::json::value fields = {{"v", version},
                                       {"step", manifest.id.step},
                                       {"epoch", manifest.id.epoch},
                                       {"job", base::to_json(manifest.job.job)},
                                       {"time", manifest.time_s},
                                       {"cost_s", manifest.cost_s},
                                       {"files", std::move(files)}};
    std::string text = base::to_pretty(fields);
    text.resize(text.size() - std::string_view("\n}\n").size());
    text += ",\n";
    return text + std::string(seal_head) + digest(text) + std::string(seal_tail);
}

Expected<Manifest> parse_manifest(std::string_view text) {
    const auto torn = [](std::string_view why) {
        return Error{Code::input, fmt::format("manifest is damaged: {}", why)};
    };
    if (text.size() < seal_size) return torn(fmt::format("it ends after {} bytes", text.size()));
    const auto body = text.substr(0, text.size() - seal_size), seal = text.substr(body.size());
    if (!seal.starts_with(seal_head) || !seal.ends_with(seal_tail))
        return torn("its last line is not manifest_xxh3_128");
    if (seal.substr(seal_head.size(), digest_digits) != digest(body))
        return torn("manifest_xxh3_128 does not match");
    const auto document = base::parse_json(text);
    if (!document) return document.error();
    return read_fields(Reader(*document));
}

} // namespace restart::ckpt
