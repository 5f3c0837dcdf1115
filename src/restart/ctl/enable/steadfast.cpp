#include "restart/ctl/enable/steadfast.hpp"

namespace restart::enable {
namespace {

volatile std::sig_atomic_t cut_short = 0;

void note(int) {
    cut_short = 1;
}

} // namespace

Steadfast::Steadfast() {
    cut_short = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        struct sigaction action {};
        const bool of_terminal = numbers[i] == SIGHUP || numbers[i] == SIGPIPE;
        action.sa_handler = of_terminal ? SIG_IGN : note;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        ::sigaction(numbers[i], &action, &before_[i]);
    }
}

Steadfast::~Steadfast() {
    for (std::size_t i = 0; i < numbers.size(); ++i)
        ::sigaction(numbers[i], &before_[i], nullptr);
}

bool Steadfast::interrupted() {
    return cut_short != 0;
}

} // namespace restart::enable
