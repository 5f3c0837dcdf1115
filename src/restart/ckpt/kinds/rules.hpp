// The rules of each kind, and what they share. Each looks at a directory whose names are known.
#pragma once

#include "restart/ckpt/kinds/look.hpp"

#include <span>
#include <string_view>

namespace restart::ckpt::kinds {

using Names = std::vector<std::string>;

// A rule fills in newest, passed_over, signs and settled. Errors: those of Files.
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

// A name that may be told and handed on: UTF-8 of one component, without control characters of any kind and
// without those that turn the direction of text; and not "." or "..".
bool is_plain_name(std::string_view name);
bool has(const Names& names, std::string_view name);

// What a pointer file says: its text without blanks around it, if that is a plain name; else noted, with the
// file's name, and nothing.
std::optional<std::string> pointed_name(std::string_view file, const std::string& text, Found& found);

// A directory's pointer file: what it names, as pointed_name() has it, and when that was written.
struct Pointer {
    std::optional<std::string> name{};
    base::Time written{};
};
// Nothing: there is none. One that names nothing unsettles what is found. Errors: those of Files.
base::Expected<std::optional<Pointer>> read_pointer(Files& files, const std::string& file, Found& found);

// The step in a name: the digits after "step", else the last ones: "epoch=1-step=200", "global_step200",
// "iter_0000200", "200". Nothing: none, or above max_step.
std::optional<std::uint64_t> step_of(std::string_view name);

// Names that a rule may offer, the highest step first, those without a step last; the others are noted.
Names by_step(Names names, Found& found);

// What files add up to. Links are not followed and not counted.
struct Weight {
    std::uint64_t bytes = 0, files = 0;
    std::optional<base::Time> begun{}, changed{}, last{}; // as in Whole; the last one was written to
    std::optional<base::Time> last_shard{}; // of those, of files with tensors: .pt, .distcp, .ckpt, …
    std::string empty{};                    // a shard without a byte
    bool cut = false;
};
// Whether only those looks are left that weighing leaves to what decides.
bool is_nearly_out(const Files& files);
Weight weight_of(const Entry& file);
// `depth`: of folders in it that are looked into. Errors: those of Files, but for its bound, which cuts.
base::Expected<Weight> weigh(Files& files, const std::string& folder, unsigned depth);

// Why a folder is not whole by its files, where what says that it is was written at `said`; "": it is.
std::string flaw(const Weight& weight, base::Time said);

// A distributed checkpoint of PyTorch's in this folder, which has these names: its flaw, or what it weighs.
// `said` by the pointer to it, where there is one, else by its own .metadata.
struct Judged {
    std::string flaw;
    Weight weight{};
    base::Time done{};
};
base::Expected<Judged> judge_dcp(Files& files, const std::string& folder, const Names& names,
                                 std::optional<base::Time> said);

// Notes what a pointer names, with the ranks that wrote it: the newest, or why it does not count.
void take_pointed(Found& found, const std::string& name, std::optional<std::uint64_t> step,
                  const Judged& judged, base::Time written, std::uint64_t ranks);

Whole to_whole(std::string name, std::optional<std::uint64_t> step, const Weight& weight, base::Time done);

// Whether numbers, one set a shard, are all of a grid from 0: each shard of each rank is there. `missing`
// gets a sentence when not.
bool is_grid(std::span<const std::vector<std::uint64_t>> shards, std::string& missing);
// "mp_rank_01_002" after "mp_rank_" is 1, 2; nothing for other names.
std::optional<std::vector<std::uint64_t>> numbers_after(std::string_view prefix, std::string_view name);

} // namespace restart::ckpt::kinds
