// slurm.conf: a setting that was changed is what Slurm reads then, all others are what they were, and a
// second change changes nothing.
#include "restart/ctl/enable/slurm_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

using restart::enable::SlurmText;
using restart::enable::TextFile;

namespace {

void change(const SlurmText& before, const std::string& value) {
    auto after = before;
    const auto changed = after.set("SelectType", value);
    if (!changed) {
        if (after.files() != before.files()) std::abort();
        return;
    }
    if (after.value("SelectType").value_or("") != value) std::abort();
    for (const char* key : {"A", "NodeName", "JobSubmitPlugins"})
        if (after.values(key) != before.values(key)) std::abort();
    const auto once = after.files();
    const auto again = after.set("SelectType", value);
    if (!again || again->has_value() || after.files() != once) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const SlurmText conf(std::vector<TextFile>{{"slurm.conf", text}});
    (void)restart::enable::includes(text);
    (void)restart::enable::lines_of(conf.files(), "NodeName");
    change(conf, "select/rail");
    change(conf, "");
    return 0;
}
