// Moments as text in JSON: for people and their scripts. Between our programs they are numbers of seconds.
#pragma once

namespace restart::codec {

// While one lives, this thread writes moments as RFC 3339 has them, "2026-03-01T14:20:05.123Z", and what
// never was as null. Both are read as numbers are, so that what railctl printed may be given to railtopo.
class TextTimes {
public:
    TextTimes() { ++depth(); }
    TextTimes(const TextTimes&) = delete;
    TextTimes& operator=(const TextTimes&) = delete;
    ~TextTimes() { --depth(); }
    static bool now() { return depth() > 0; }

private:
    static int& depth() {
        static thread_local int depth = 0;
        return depth;
    }
};

} // namespace restart::codec
