// railyard.conf(5): read or refused with its place; what was read prints, and that reads back.
#include "base/conf.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto conf = base::Conf::from_text(text, "fuzz");
    if (!conf) {
        if (conf.error().text.find("fuzz") == std::string::npos) std::abort();
        return 0;
    }
    const auto printed = conf->print();
    const auto again = base::Conf::from_text(printed, "printed");
    if (!again || again->print() != printed) std::abort();
    return 0;
}
