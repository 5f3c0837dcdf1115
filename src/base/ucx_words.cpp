#include "base/ucx_words.hpp"

#include <algorithm>

namespace base {
namespace {

// Whether `is` holds for a word of a comma-separated list.
template <class Is> bool any_word(std::string_view list, Is is) {
    while (!list.empty()) {
        const auto word = list.substr(0, list.find(','));
        if (is(word)) return true;
        list.remove_prefix(std::min(list.size(), word.size() + 1));
    }
    return false;
}

bool is_infiniband(std::string_view transport) {
    if (transport.starts_with('\\')) transport.remove_prefix(1); // exactly this name, not a group
    for (const std::string_view on : {"ib", "rc", "ud", "dc"})
        if (transport == on || (transport.starts_with(on) && transport.substr(on.size()).starts_with('_')))
            return true;
    return false;
}

} // namespace

bool ucx_tls_has_infiniband(std::string_view tls) {
    if (tls.empty()) return true;
    if (tls.starts_with('^')) return !any_word(tls.substr(1), [](auto word) { return word == "ib"; });
    return any_word(tls, [](auto word) { return word == "all" || is_infiniband(word); });
}

bool ucx_devices_have_infiniband(std::string_view devices) {
    return devices.empty() ||
           any_word(devices, [](auto word) { return word == "all" || word.find(':') != word.npos; });
}

} // namespace base
