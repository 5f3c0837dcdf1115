// Directories as the frameworks leave them, with times of their files that a test chooses, and a reader whose
// questions fail.
#pragma once

#include "restart/ckpt/kinds/look.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace kinds_test {

using restart::ckpt::Writers;
using restart::ckpt::kinds::Entry;
using restart::ckpt::kinds::Found;
using restart::ckpt::kinds::Kind;

// Minute 0 of what tests write; files made by a test are younger, so that their birth tells nothing.
inline const base::Time hour_ago = base::now() - std::chrono::hours(1);

struct Layout {
    test::Folder folder;
    std::filesystem::path dir = folder.path;

    void put(const std::string& name, const std::string& bytes, double minute) const {
        std::filesystem::create_directories((dir / name).parent_path());
        std::ofstream out(dir / name, std::ios::binary);
        out << bytes;
        out.close();
        REQUIRE(out);
        touch(name, minute);
    }
    void touch(const std::string& name, double minute) const {
        const auto when = base::to_seconds(hour_ago) + minute * 60;
        const timespec at{static_cast<time_t>(when), 0};
        const timespec times[2] = {at, at};
        REQUIRE(::utimensat(AT_FDCWD, (dir / name).c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
    }
    void remove(const std::string& name) const { std::filesystem::remove_all(dir / name); }
    void link(const std::string& target, const std::string& name) const {
        std::filesystem::create_symlink(target, dir / name);
    }

    // A distributed checkpoint of two ranks' in a folder.
    void shards(const std::string& at, double minute, bool metadata = true) const {
        put(at + "/__0_0.distcp", "tensors", minute);
        put(at + "/__1_0.distcp", "tensors", minute);
        if (metadata) put(at + "/.metadata", "pickle", minute + 0.1);
    }
    void iteration(std::uint64_t step, double minute) const {
        const auto at = fmt::format("iter_{:07}", step);
        shards(at, minute);
        put(at + "/common.pt", "arguments", minute);
        put(at + "/metadata.json", "{}", minute + 0.1);
    }
    void tracker(const std::string& text, double minute) const {
        put("latest_checkpointed_iteration.txt", text, minute);
    }
    void deepspeed(std::uint64_t step, unsigned ranks, double minute) const {
        const auto at = fmt::format("global_step{}/", step);
        put(at + "mp_rank_00_model_states.pt", "model", minute);
        for (unsigned rank = 0; rank < ranks; ++rank)
            put(fmt::format("{}bf16_zero_pp_rank_{}_mp_rank_00_optim_states.pt", at, rank), "optimizer",
                minute);
    }
    void nemo(const std::string& name, double minute) const {
        shards(name + "/weights", minute);
        put(name + "/weights/metadata.json", "{}", minute);
        put(name + "/context/model.yaml", "model", minute);
    }
    void orbax(const std::string& name, double minute, bool marked = true) const {
        put(name + "/_CHECKPOINT_METADATA", "{}", minute);
        put(name + "/default/manifest.ocdbt", "tensors", minute);
        put(name + "/default/ocdbt.process_0/d/1", "tensors", minute);
        if (marked) put(name + "/commit_success.txt", "Checkpoint commit was successful", minute + 0.1);
    }
};

inline Kind kind(std::string_view text) {
    auto parsed = base::parse_ckpt_kind(text);
    REQUIRE(parsed);
    return *parsed;
}

inline base::Expected<Found> try_look(const Layout& layout, std::string_view text, unsigned bound = 4096) {
    auto files = restart::ckpt::kinds::FilesOnDisk::open(layout.dir.string(), bound);
    REQUIRE(files);
    return restart::ckpt::kinds::look(**files, kind(text), base::now());
}

inline Found look(const Layout& layout, std::string_view text) {
    auto found = try_look(layout, text);
    INFO((found ? "" : found.error().text));
    REQUIRE(found);
    return *found;
}

// "iter_0000200 step 200", or "none: " and why.
inline std::string newest(const Layout& layout, std::string_view text) {
    const auto found = look(layout, text);
    if (found.newest)
        return fmt::format("{} step {}", found.newest->name,
                           found.newest->step ? std::to_string(*found.newest->step) : "unknown");
    return "none: " + (found.passed_over.empty() ? "" : found.passed_over.front());
}

// Passes questions on; of each number `fails_at` one fails as a file server's that was restarted.
class Failing final : public restart::ckpt::kinds::Files {
public:
    Failing(const std::string& dir, unsigned fails_at) : Files(dir), fails_at_(fails_at) {
        auto files = restart::ckpt::kinds::FilesOnDisk::open(dir);
        REQUIRE(files);
        files_ = std::move(*files);
    }
    unsigned asked = 0;

private:
    template <class Answer> Answer or_fail(Answer answer) {
        if (++asked == fails_at_) return base::system_error("could not look", ESTALE);
        return answer;
    }
    base::Expected<std::optional<std::vector<std::string>>> read_names(const std::string& folder) override {
        return or_fail(files_->names(folder));
    }
    base::Expected<std::optional<Entry>> read_entry(const std::string& name) override {
        return or_fail(files_->entry(name));
    }
    base::Expected<std::optional<std::string>> read_text(const std::string& file) override {
        return or_fail(files_->text(file));
    }
    base::Expected<std::optional<std::string>> read_target(const std::string& link) override {
        return or_fail(files_->target(link));
    }
    Writers read_writers(const std::string& file) override { return files_->writers(file); }

    unsigned fails_at_;
    std::unique_ptr<restart::ckpt::kinds::FilesOnDisk> files_;
};

} // namespace kinds_test
