#include "layouts.hpp"
#include "restart/ckpt/kinds/rules.hpp"

#include <algorithm>
#include <set>

using namespace kinds_test;
using namespace restart::ckpt::kinds;
using Catch::Contains;

namespace {

std::unique_ptr<FilesOnDisk> files_of(const Layout& layout, unsigned bound = most_looks) {
    auto files = FilesOnDisk::open(layout.dir.string(), bound);
    REQUIRE(files);
    return std::move(*files);
}

} // namespace

TEST_CASE("the step is what a name says of it") {
    CHECK(step_of("iter_0000200") == 200u);
    CHECK(step_of("global_step1500") == 1500u);
    CHECK(step_of("epoch=3-step=1200-v1.ckpt") == 1200u);
    CHECK(step_of("checkpoint-500") == 500u);
    CHECK(step_of("steps_7_of_9") == 9u);
    CHECK(step_of("model_200.h5") == 200u);
    CHECK(step_of("model.200") == 200u);
    CHECK_FALSE(step_of("gpt-consumed_samples=6400.0"));
    CHECK_FALSE(step_of("last.ckpt"));
    CHECK_FALSE(step_of("step_99999999999999999999"));
    CHECK_FALSE(step_of(""));
}

TEST_CASE("only plain names are offered or told") {
    CHECK(is_plain_name("step 200.pt"));
    CHECK(is_plain_name("Schritt-ä-200"));
    for (const auto* name : {"", ".", "..", "a/b", "a\nb", "a\x1b[2J", "\x7f", "a\xff",
                             "a\xc2\x9b"
                             "b",
                             "a\xe2\x80\xae"
                             "b",
                             "a\xe2\x81\xa6"
                             "b",
                             "\xe2\x80\xa8"})
        CHECK_FALSE(is_plain_name(name));
    Layout there;
    there.put("step_\x1b]0;owned\x07_900.pt", "state", 1);
    there.put("step_100.pt", "state", 1);
    const auto found = look(there, "glob:step_*");
    CHECK(found.newest->name == "step_100.pt");
    REQUIRE(found.passed_over.size() == 1);
    CHECK(found.passed_over[0] == "step_?]0;owned?_900.pt: has a name that is not plain text: rename it");
}

TEST_CASE("nothing is reached through a link, and a pipe holds nobody") {
    Layout there, elsewhere;
    elsewhere.put("secret", "text", 1);
    there.link(elsewhere.dir.string(), "out");
    there.link((elsewhere.dir / "secret").string(), "pointer");
    REQUIRE(::mkfifo((there.dir / "pipe").c_str(), 0600) == 0);
    const auto files = files_of(there);
    CHECK_FALSE(*files->names("out"));
    CHECK_FALSE(*files->entry("out/secret"));
    CHECK_FALSE(*files->text("out/secret"));
    CHECK_FALSE(*files->text("pointer"));
    CHECK_FALSE(*files->names("pipe"));
    CHECK(files->text("pipe").error().code == base::Code::input);
    REQUIRE(*files->entry("pointer"));
    CHECK((*files->entry("pointer"))->type == Entry::Type::link);
    CHECK(**files->target("pointer") == (elsewhere.dir / "secret").string());
    CHECK_FALSE(*files->entry("none"));
    REQUIRE(*files->entry(""));
    CHECK((*files->entry(""))->is_folder());
}

TEST_CASE("a look at a huge checkpoint asks no more than its bound, and says so") {
    Layout there;
    there.shards("step-1", 1);
    for (int rank = 2; rank < 300; ++rank)
        there.put(fmt::format("step-1/__{}_0.distcp", rank), "tensors", 1);
    const auto files = files_of(there, 200);
    const auto found = look(*files, kind("dcp"), base::now());
    REQUIRE(found);
    REQUIRE(found->newest);
    CHECK(found->newest->cut);
    CHECK(found->newest->files < 300);
    CHECK(files->looked() <= 200);
    // Where even what decides is out of reach, that is no answer.
    const auto none = try_look(there, "dcp", 1);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == base::Code::unavailable);
}

TEST_CASE("what cannot be looked at is an error, never no checkpoint, whichever question fails") {
    Layout layouts[7];
    layouts[0].iteration(100, 1);
    layouts[0].tracker("100", 2);
    layouts[1].deepspeed(100, 2, 1);
    layouts[1].put("latest", "global_step100", 2);
    layouts[2].shards("step-100", 1);
    layouts[3].nemo("gpt-step=100-last", 1);
    layouts[4].put("epoch=0-step=100.ckpt", "state", 1);
    layouts[5].orbax("100", 1);
    layouts[6].put("step_100.pt", "state", 1);
    const char* words[] = {"megatron", "deepspeed", "dcp", "nemo", "lightning", "orbax", "glob:step_*"};
    for (std::size_t i = 0; i < std::size(words); ++i)
        for (const auto* word : {words[i], "auto"}) {
            if (i == 6 && std::string_view(word) == "auto") continue; // no one knows it
            Failing sound(layouts[i].dir.string(), 0);
            const auto whole = look(sound, kind(word), base::now());
            REQUIRE(whole);
            REQUIRE(whole->newest);
            CHECK(whole->newest->step == 100u);
            for (unsigned fails_at = 1; fails_at <= sound.asked; ++fails_at) {
                Failing failing(layouts[i].dir.string(), fails_at);
                const auto found = look(failing, kind(word), base::now());
                CAPTURE(words[i], word, fails_at);
                REQUIRE_FALSE(found);
                CHECK_THAT(found.error().text, Contains("could not look"));
            }
        }
}

TEST_CASE("shards of all ranks are a grid from 0") {
    using Shards = std::vector<std::vector<std::uint64_t>>;
    std::string missing;
    CHECK(is_grid(Shards{}, missing));
    CHECK(is_grid(Shards{{0}}, missing));
    CHECK(is_grid(Shards{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, missing));
    CHECK_FALSE(is_grid(Shards{{0, 0}, {0, 1}, {1, 0}}, missing));
    CHECK_FALSE(is_grid(Shards{{1}, {2}}, missing));
    CHECK_FALSE(is_grid(Shards{{0}, {0, 1}}, missing));
    CHECK_FALSE(is_grid(Shards{{0}, {18446744073709551615u}}, missing));
    CHECK(numbers_after("mp_rank_", "mp_rank_01_002") == std::vector<std::uint64_t>{1, 2});
    CHECK_FALSE(numbers_after("mp_rank_", "mp_rank_00_model_states.pt"));
    CHECK_FALSE(numbers_after("mp_rank_", "mp_rank_"));
}
