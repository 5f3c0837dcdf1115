// The rules of each kind, and shared code. Each examines a directory whose names are known.
#pragma once

#include "restart/ckpt/kinds/look.hpp"

#include <span>
#include <string_view>

namespace restart::ckpt::kinds {

using Names = std::vector<std::string>;

// A rule sets newest, passed_over, signs and settled. Errors: those of Files.
base::Expected<void> find_megatron(Files& files, const Names& names, Found& found);
base::Expected<void> find_deepspeed(Files& files, const Names& names, Found& found);
base::Expected<void> find_dcp(Files& files, const Names& names, Found& found);
base::Expected<void> find_nemo(Files& files, const Names& names, Found& found);
base::Expected<void> find_lightning(Files& files, const Names& names, base::Time now, Found& found);
base::Expected<void> find_orbax(Files& files, const Names& names, Found& found);
base::Expected<void> find_glob(Files& files, const Names& names, const std::string& pattern, base::Time now,
                               Found& found);

// Notes why something does not count.
void pass_over(Found& found, std::string_view name, std::string_view why);

// Whether a name is safe to print and pass on: UTF-8 of one component, without control characters of any kind
// and without those that change the direction of text; and not "." or "..".
bool is_plain_name(std::string_view name);
bool has(const Names& names, std::string_view name);

// The content of a pointer file: its text without surrounding blanks, if that is a plain name; otherwise
// nothing, and the problem is noted with the file's name.
std::optional<std::string> pointed_name(std::string_view file, const std::string& text, Found& found);

// A directory's pointer file: the name in it, as from pointed_name(), and when that was written.
struct Pointer {
    std::optional<std::string> name{};
    base::Time written{};
};
// Nothing: there is none. An unusable pointer clears found.settled. Errors: those of Files.
base::Expected<std::optional<Pointer>> read_pointer(Files& files, const std::string& file, Found& found);

// The step in a name: the digits after "step", else the last ones: "epoch=1-step=200", "global_step200",
// "iter_0000200", "200". Nothing: none, or above max_step.
std::optional<std::uint64_t> step_of(std::string_view name);

// Names that a rule may use, the highest step first, those without a step last; others are noted.
Names by_step(Names names, Found& found);

// The sum of files. Links are not followed and not counted.
struct Weight {
    std::uint64_t bytes = 0, files = 0;
    std::optional<base::Time> begun{}, changed{}, last{}; // as in Whole; the latest last-write time
    std::optional<base::Time> last_shard{}; // latest, among files with tensors: .pt, .distcp, .ckpt, …
    std::string empty{};                    // a shard of size 0
    bool cut = false;
};
// Whether only the requests are left that weigh() reserves for the decision.
bool is_nearly_out(const Files& files);
Weight weight_of(const Entry& file);
// `depth`: levels of folders to descend. Errors: those of Files, except for its limit, which cuts the sum.
base::Expected<Weight> weigh(Files& files, const std::string& folder, unsigned depth);

// Why a folder is not complete, by its files, if the marker of completion was written at `said`; "": it is.
std::string flaw(const Weight& weight, base::Time said);

// A distributed checkpoint of PyTorch's in this folder, which has these names: its flaw, or its size. `said`
// is the time of the pointer to it, if there is one, else of its own .metadata.
struct Judged {
    std::string flaw;
    Weight weight{};
    base::Time done{};
};
base::Expected<Judged> judge_dcp(Files& files, const std::string& folder, const Names& names,
                                 std::optional<base::Time> said);

// Notes the target of a pointer, with the ranks that wrote it: as the newest, or why it does not count.
void take_pointed(Found& found, const std::string& name, std::optional<std::uint64_t> step,
                  const Judged& judged, base::Time written, std::uint64_t ranks);

Whole to_whole(std::string name, std::optional<std::uint64_t> step, const Weight& weight, base::Time done);

// Whether the shards' numbers form a complete grid from 0: each shard of each rank is there. Otherwise
// `missing` gets a sentence.
bool is_grid(std::span<const std::vector<std::uint64_t>> shards, std::string& missing);
// "mp_rank_01_002" after "mp_rank_" is 1, 2; nothing for other names.
std::optional<std::vector<std::uint64_t>> numbers_after(std::string_view prefix, std::string_view name);

} // namespace restart::ckpt::kinds
