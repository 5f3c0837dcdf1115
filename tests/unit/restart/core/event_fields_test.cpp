// What the journal keeps of a step's input, and of the state it is given: all of it, or a replay decides by
// something else. Members are counted, so that one that is added to a struct and not to its fields is seen.
#include "restart/core/store/event_fields.hpp"

#include "restart/core/step.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

using namespace restart;

namespace test {
struct Anything {
    template <class T> operator T() const; // for what is looked at unevaluated
};
} // namespace test

namespace {

using test::Anything;

template <class T, std::size_t... I> constexpr bool takes(std::index_sequence<I...>) {
    return requires {
        T{(static_cast<void>(I), Anything())...};
    };
}

// Of an aggregate: how many members may be given a value in braces.
template <class T, std::size_t most = 64> constexpr std::size_t members() {
    if constexpr (most == 0 || takes<T>(std::make_index_sequence<most>()))
        return most;
    else
        return members<T, most - 1>();
}

template <class T> constexpr std::string_view name_of_type() {
    const std::string_view all = __PRETTY_FUNCTION__;
    const auto begin = all.find("T = ") + 4;
    return all.substr(begin, all.find_first_of(";]", begin) - begin);
}

// The compiler writes an enumerator by its name, and a number that is none as a cast.
template <auto value> constexpr bool is_enumerator() {
    const std::string_view all = __PRETTY_FUNCTION__;
    return all[all.find("value = ") + 8] != '(';
}

// A member that stands in the fields under several keys, or whose own fields stand there beside it: how many
// more keys than members there are.
template <class T> constexpr std::size_t more_keys = 0;
template <class... Parts> constexpr std::size_t of_parts = (members<Parts>() + ...) - sizeof...(Parts);
template <>
constexpr std::size_t more_keys<HostState> =
    of_parts<HostPlace, HostAgent, HostExemptions, HostLiveness, HostHistory, HostRepair>;
template <>
constexpr std::size_t more_keys<JobState> =
    of_parts<JobCheckpoints, JobPlaces, JobProgress, JobRestarts, JobPlans>;
template <> constexpr std::size_t more_keys<AffectedJob> = 2; // its goal
template <> constexpr std::size_t more_keys<RequeueJob> = members<JobTarget>() - 1;
template <> constexpr std::size_t more_keys<UpdateJob> = members<JobTarget>() - 1;
template <> constexpr std::size_t more_keys<KeepOff> = members<JobTarget>() - 1;
template <> constexpr std::size_t more_keys<NotifyJob> = members<JobTarget>() - 1;
template <> constexpr std::size_t more_keys<PlaceJob> = members<JobTarget>() - 1;
template <> constexpr std::size_t more_keys<ParkJob> = members<JobTarget>() - 1;
template <> constexpr std::size_t more_keys<EndCheck> = members<JobTarget>() - 1;
template <> constexpr std::size_t more_keys<SubmitAgain> = members<JobTarget>() - 1;

} // namespace

namespace restart::codec { // where fields() of structs that are not of restart are looked for

// Walks through all types that are written, each once, and counts.
class Count {
public:
    template <class T> void operator()(std::string_view, const T& member, std::size_t = 0) { meet(member); }
    template <class T> void added(std::string_view, const T& member, std::size_t = 0) { meet(member); }
    template <class T> void maybe(std::string_view, const T& member, std::size_t = 0) { meet(member); }

    template <class T> void look(const T& object) {
        const auto name = name_of_type<T>();
        if (!seen().insert(name).second) return;
        Count inner;
        fields(inner, object);
        const auto expected = members<T>() + more_keys<T>;
        INFO(name << ": a member has no field, or a field is no member");
        CHECK(inner.keys_ == expected);
    }

    static std::set<std::string_view>& seen() {
        static std::set<std::string_view> types;
        return types;
    }

private:
    template <class T> void meet(const T& member) {
        ++keys_;
        visit(member);
    }
    template <class T> static void visit(const std::optional<T>&) { visit(T{}); }
    template <class T> static void visit(const std::vector<T>&) { visit(T{}); }
    template <class K, class T, class Less> static void visit(const std::map<K, T, Less>&) { visit(T{}); }
    static void visit(const Action&) {} // flat, below
    static void visit(const std::string&) {}
    static void visit(const base::JobId&) {}
    static void visit(const base::Time&) {}
    template <class Rep, class Period> static void visit(const std::chrono::duration<Rep, Period>&) {}
    template <class T> static void visit(const T& member) {
        if constexpr (std::is_enum_v<T>) {
            if (!seen().insert(name_of_type<T>()).second) return;
            constexpr auto count = codec::Names<T>::names.size();
            INFO(name_of_type<T>() << ": as many names as values");
            CHECK(is_enumerator<static_cast<T>(count - 1)>());
            CHECK_FALSE(is_enumerator<static_cast<T>(count)>());
        } else if constexpr (std::is_class_v<T>) {
            Count().look(member);
        }
    }

    std::size_t keys_ = 0;
};

} // namespace restart::codec

namespace {

using codec::Count;

template <class Variant, std::size_t... I> void look_at_all(std::index_sequence<I...>) {
    (Count().look(std::variant_alternative_t<I, Variant>()), ...);
}

} // namespace

TEST_CASE("every member of what a step is given and leaves behind is written") {
    // Events that are not written in full are made of these.
    Count().look(Report());
    Count().look(FabricReport());
    Count().look(RmNode());
    Count().look(RmJob());
    Count().look(RmConfig());
    Count().look(FabricLoaded());
    Count().look(RmUnavailable());
    Count().look(ActionDone());
    Count().look(HostAsked());
    Count().look(OperatorDrain());
    Count().look(OperatorResume());
    Count().look(OperatorPause());
    Count().look(OperatorGo());
    Count().look(MaintenanceWindows());
    Count().look(GangsPlanned());
    Count().look(Policy());
    Count().look(State());
    Count().look(JobTarget());
    using Kinds = decltype(Action::what);
    look_at_all<Kinds>(std::make_index_sequence<std::variant_size_v<Kinds>>());
    CHECK(members<RmSnapshot>() == 3); // of nodes, jobs and config, as what changed of them (event_log.cpp)
    CHECK(members<AgentReported>() == 1);
    CHECK(members<FabricSwept>() == 1);
    CHECK(members<RmRead>() == 1);
    CHECK(members<Step>() == 5); // state, actions, notes, durable, refused
    CHECK(Count::seen().contains("restart::Finding"));
    CHECK(Count::seen().contains("restart::Severity"));
}
