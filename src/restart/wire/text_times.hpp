// Times as text in JSON: for people and their scripts. Between our programs they are numbers of seconds.
#pragma once

namespace restart::codec {

// While one exists, this thread writes times as in RFC 3339, "2026-03-01T14:20:05.123Z", and unset ones as
// null. Both are read like numbers, so that railctl's output may be given to railtopo.
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
