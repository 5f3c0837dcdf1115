#include "restart/watch/rules/expectations.hpp"

#include "base/file.hpp"
#include "restart/watch/rules/pattern.hpp"
#include "restart/watch/rules/table_expected.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace restart {
namespace {

using base::Error;
using base::Expected;

constexpr std::size_t largest_file = std::size_t{1} << 20, most_rows = 1000, longest_text = 400;

constexpr auto tests = std::to_array<MeasuredTest>({
    {"hbm.read", "GB/s", "A kernel reads memory of the GPU."},
    {"hbm.write", "GB/s", "A kernel writes memory of the GPU."},
    {"hbm.copy", "GB/s", "A kernel copies memory of the GPU; what is read and what is written count."},
    {"gemm.fp64", "TFLOP/s", "cuBLAS multiplies matrices of FP64."},
    {"gemm.fp32", "TFLOP/s", "cuBLAS multiplies matrices of FP32."},
    {"gemm.tf32", "TFLOP/s", "cuBLAS multiplies matrices of TF32."},
    {"gemm.bf16", "TFLOP/s", "cuBLAS multiplies matrices of BF16."},
    {"gemm.fp8", "TFLOP/s", "cuBLAS multiplies matrices of FP8 (E4M3)."},
    {"pcie.h2d", "GB/s", "One GPU at a time is written to from its NUMA node."},
    {"pcie.d2h", "GB/s", "One GPU at a time is read to its NUMA node."},
    {"pcie.both", "GB/s", "Both at once; the sum counts."},
    {"pcie.h2d_all", "GB/s", "All GPUs of the host are written to at once; what each reaches counts."},
    {"pcie.d2h_all", "GB/s", "All GPUs of the host are read at once; what each reaches counts."},
    {"nvlink.pair", "GB/s", "One GPU writes to another."},
    {"nvlink.both", "GB/s", "Two GPUs write to each other; the sum counts."},
    {"hca.write", "Gb/s", "A port of an HCA writes to this host's memory through itself (RDMA, RC)."},
    {"hca.read", "Gb/s", "It reads likewise."},
    {"hca.latency", "us", "Half of a write of 8 bytes and its acknowledgement, likewise; the least counts."},
    {"disk.write", "GB/s", "A file is written past the cache."},
    {"disk.read", "GB/s", "The same file is read past the cache."},
    {"disk.fsync", "ms", "A block of 4 KiB is written and made safe; the median counts."},
});

bool is_text(std::string_view text) {
    return text.size() <= longest_text &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

class Reader {
public:
    Reader(std::string_view file, std::vector<Expectation>& rows) : file_(file), rows_(rows) {}

    Expected<void> read(const base::TomlTable& table) {
        const auto test = text_of(table, "test"), of = text_of(table, "of");
        if (!test) return test.error();
        if (!of) return of.error();
        if (std::none_of(tests.begin(), tests.end(), [&](const auto& one) { return one.name == *test; }))
            return error(line_of(table, "test"), fmt::format("test: \"{}\" is none of {}", *test, names()));
        for (const auto* rows : {&rows_, &fresh_})
            for (const auto& one : *rows)
                if (one.test == *test && one.of == *of && one.line != 0)
                    return error(table.line,
                                 fmt::format("{} of {}: is in line {}, too", *test, *of, one.line));
        const auto before = std::find_if(rows_.begin(), rows_.end(),
                                         [&](const auto& one) { return one.test == *test && one.of == *of; });
        const bool known = before != rows_.end();
        Expectation row;
        row.source = "this site";
        if (known) row = *before;
        row.test = *test;
        row.of = *of;
        row.line = table.line;
        for (const auto& value : table.values)
            if (auto done = read_field(row, value); !done)
                return error(value.line, fmt::format("{}: {}: {}", *test, value.key, done.error().text));
        if (row.value <= 0)
            return error(table.line, fmt::format("{}: value: is missing, as the row is new", *test));
        if (known)
            *before = std::move(row);
        else
            fresh_.push_back(std::move(row));
        return {};
    }

    // New rows come first, in the order of the file.
    void end() { rows_.insert(rows_.begin(), fresh_.begin(), fresh_.end()); }

private:
    Error error(std::uint32_t line, std::string_view what) const {
        return {base::Code::input, fmt::format("{}:{}: {}", file_, line, what)};
    }
    static std::string names() {
        std::string all;
        for (const auto& one : tests)
            all += fmt::format("{}{}", all.empty() ? "" : ", ", one.name);
        return all;
    }
    static std::uint32_t line_of(const base::TomlTable& table, std::string_view key) {
        for (const auto& value : table.values)
            if (value.key == key) return value.line;
        return table.line;
    }
    // A value that identifies the row.
    Expected<std::string> text_of(const base::TomlTable& table, std::string_view key) const {
        for (const auto& value : table.values) {
            if (value.key != key) continue;
            const auto* text = std::get_if<std::string>(&value.value);
            if (text == nullptr || text->empty() || !is_text(*text))
                return error(value.line,
                             fmt::format("{}: must be a string of up to 400 characters of ASCII", key));
            return *text;
        }
        return error(table.line, fmt::format("the row of [[{}]] has no {}", expected_table, key));
    }
    static Expected<void> read_field(Expectation& row, const base::TomlValue& value) {
        const auto wrong = [](std::string_view what) { return Error{base::Code::input, std::string(what)}; };
        if (value.key == "test" || value.key == "of") return {};
        if (value.key == "source") {
            const auto* text = std::get_if<std::string>(&value.value);
            if (text == nullptr || !is_text(*text))
                return wrong("must be a string of up to 400 characters of ASCII");
            row.source = *text;
            return {};
        }
        if (value.key != "value" && value.key != "least" && value.key != "most")
            return wrong("unknown key; a row has test, of, value, least, most, source");
        double number = 0;
        if (const auto* whole = std::get_if<std::int64_t>(&value.value))
            number = static_cast<double>(*whole);
        else if (const auto* given = std::get_if<double>(&value.value))
            number = *given;
        if (!std::isfinite(number) || number <= 0) return wrong("must be a number above 0");
        if (value.key == "value") {
            row.value = number;
        } else if (value.key == "least") {
            if (number > 1) return wrong("must be a share of value: above 0 and at most 1");
            row.least = number;
        } else {
            if (number < 1) return wrong("must be at least 1: it is a multiple of value");
            row.most = number;
        }
        return {};
    }

    std::string file_;
    std::vector<Expectation>& rows_;
    std::vector<Expectation> fresh_;
};

} // namespace

Expectations::Expectations() {
    for (const auto& row : table::expected())
        rows_.push_back({.test = std::string(row.test),
                         .of = std::string(row.of),
                         .value = row.value,
                         .least = row.least,
                         .source = std::string(row.source)});
}

Expected<Expectations> Expectations::from_text(std::string_view text, std::string_view file_name) {
    const auto tables = base::parse_toml(text, file_name);
    if (!tables) return tables.error();
    if (tables->size() > most_rows)
        return Error{base::Code::input,
                     fmt::format("{}:{}: the file has more than 1000 rows", file_name, tables->back().line)};
    Expectations read;
    Reader reader(file_name, read.rows_);
    for (const auto& table : *tables)
        if (table.name == expected_table)
            if (auto done = reader.read(table); !done) return std::move(done).error();
    reader.end();
    return read;
}

Expected<Expectations> Expectations::from_file(const std::filesystem::path& path) {
    std::error_code failed;
    if (std::filesystem::status(path, failed).type() == std::filesystem::file_type::not_found)
        return Expectations();
    const auto text = base::read_file(path, largest_file);
    if (!text) return text.error();
    return from_text(*text, path.string());
}

const Expectation* Expectations::find(std::string_view test, std::span<const std::string> kinds) const {
    for (const auto& kind : kinds)
        for (const auto& row : rows_)
            if (row.test == test && fits(row.of, kind)) return &row;
    return nullptr;
}

std::string Expectations::print() const {
    std::string out;
    const auto quoted = [](std::string_view text) {
        std::string inner;
        for (const char c : text)
            inner += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        return '"' + inner + '"';
    };
    for (const auto& row : rows_) {
        out += fmt::format("{}[[{}]]\ntest = {}\nof = {}\nvalue = {}\nleast = {}\n", out.empty() ? "" : "\n",
                           expected_table, quoted(row.test), quoted(row.of), row.value, row.least);
        if (row.most) out += fmt::format("most = {}\n", *row.most);
        out += fmt::format("source = {}\n", quoted(row.source));
    }
    return out;
}

std::span<const MeasuredTest> measured_tests() {
    return tests;
}

} // namespace restart
