#include "base/error.hpp"

#include <system_error>

namespace base {

Error system_error(std::string_view what, int number) {
    return {Code::io, std::string(what) + ": " + std::generic_category().message(number)};
}

std::string_view to_string(Code code) {
    switch (code) {
    case Code::usage: return "usage";
    case Code::input: return "input";
    case Code::not_found: return "not_found";
    case Code::unfit: return "unfit";
    case Code::denied: return "denied";
    case Code::unavailable: return "unavailable";
    case Code::io: return "io";
    case Code::internal: break;
    }
    return "internal";
}

} // namespace base
