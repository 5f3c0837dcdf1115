#include "unit/patience.hpp"

#include <cmath>
#include <cstdlib>
#include <thread>

using namespace std::chrono_literals;

std::chrono::milliseconds test::patience() {
    const char* text = std::getenv("RAILYARD_SLOWNESS");
    const double slowness = text == nullptr ? 1 : std::strtod(text, nullptr);
    const std::chrono::duration<double> usual = 1min;
    return std::chrono::ceil<std::chrono::milliseconds>(
        usual * (std::isfinite(slowness) && slowness > 1 ? slowness : 1));
}

bool test::eventually(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + patience();
    for (;;) {
        const bool over = std::chrono::steady_clock::now() >= end;
        if (condition()) return true;
        if (over) return false;
        std::this_thread::sleep_for(5ms);
    }
}
