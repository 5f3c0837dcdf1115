#include "check/net/gathering.hpp"

#include "base/json.hpp"
#include "check/net/tournament.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <list>
#include <poll.h>
#include <sys/socket.h>

namespace check::net {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_hello = 64 << 10;
constexpr std::size_t most_strangers = 4096; // connections that are not authenticated yet
constexpr std::uint32_t meetings_a_round = 64;

Moment after(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

int until(Moment deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

// A process that has connected and is being authenticated.
struct Stranger {
    Link link;
    std::string challenge, hello; // sent to it; received from it, before its proof
};

class Gatherer {
public:
    Gatherer(Listener listener, const Launch& launch, const Entry& entry, const Plan& plan)
        : listener_(std::move(listener)), entry_(entry), plan_(plan), began_(Clock::now()) {
        made_.hosts = launch.hosts;
        made_.rails.resize(launch.hosts.size());
        links_.resize(launch.hosts.size());
    }

    void let_in() {
        const auto deadline = after(plan_.join_s);
        while (missing() > 0 && Clock::now() < deadline) {
            std::vector<pollfd> watched{{listener_.fd.get(), POLLIN, 0}};
            for (const auto& stranger : strangers_)
                watched.push_back({stranger.link.fd(), POLLIN, 0});
            if (::poll(watched.data(), watched.size(), until(deadline)) <= 0) continue;
            auto at = strangers_.begin();
            for (std::size_t i = 1; i < watched.size(); ++i)
                at = watched[i].revents == 0 || hear(*at) ? std::next(at) : strangers_.erase(at);
            if (watched[0].revents != 0) accept_one();
        }
        strangers_.clear();
        for (std::uint32_t host = 0; host < links_.size(); ++host)
            if (!links_[host])
                made_.lost.push_back({host, fmt::format("did not come within {:.0f} s", plan_.join_s)});
    }

    base::Expected<Gathered> run(const std::function<bool(const Gathered&)>& again,
                                 const std::function<void(const std::string&)>& told) {
        std::vector<std::uint32_t> here;
        for (std::uint32_t host = 0; host < links_.size(); ++host)
            if (links_[host]) here.push_back(host);
        if (here.size() < 2)
            return base::Error{base::Code::unavailable, fmt::format("{} of {} hosts came: {}", here.size(),
                                                                    links_.size(), who_is_lost())};
        const Tournament tournament(static_cast<std::uint32_t>(here.size()));
        made_.all_rounds = tournament.rounds();
        const auto whole = began_ + (after(plan_.whole_s) - Clock::now());
        const auto first = plan_.rounds == 0 ? made_.all_rounds : std::min(plan_.rounds, made_.all_rounds);
        auto order = some_rounds(made_.all_rounds, plan_.rounds == 0 ? 0 : first + plan_.again, plan_.seed);
        if (first == made_.all_rounds && plan_.again != 0)
            order.insert(order.end(), order.begin(), order.begin() + first);
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i == first && !again(made_)) break;
            if (Clock::now() > whole) {
                made_.in_time = false;
                break;
            }
            told(fmt::format("round {} of {}", i + 1, i < first ? first : order.size()));
            play(tournament, here, order[i]);
            ++made_.rounds;
        }
        for (auto& link : links_)
            if (link) static_cast<void>(link->send(to_text(Go{}), after(1)).has_value());
        made_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
        return std::move(made_);
    }

private:
    std::size_t missing() const {
        return static_cast<std::size_t>(std::count(links_.begin(), links_.end(), std::nullopt));
    }
    std::string who_is_lost() const {
        std::string text;
        for (std::size_t i = 0; i < made_.lost.size() && i < 4; ++i)
            text += fmt::format("{}{} {}", i == 0 ? "" : ", ", made_.hosts[made_.lost[i].host],
                                made_.lost[i].why);
        return made_.lost.size() > 4 ? text + " and others" : text;
    }

    void accept_one() {
        base::UniqueFd fd(::accept4(listener_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!fd || strangers_.size() >= most_strangers) return;
        Stranger stranger{Link(std::move(fd)), random_challenge(), {}};
        if (stranger.link.send(stranger.challenge, Clock::now())) strangers_.push_back(std::move(stranger));
    }

    // False: remove it from this list, as it was admitted or has no proof.
    bool hear(Stranger& stranger) {
        for (;;) {
            auto said = stranger.link.take(longest_hello);
            if (!said) return false;
            if (!*said) return true;
            if (stranger.hello.empty()) {
                stranger.hello = **said;
                continue;
            }
            const auto proven = entry_.check(stranger.hello, stranger.challenge, **said);
            auto hello = read_hello(stranger.hello);
            if (!proven || !hello || hello->rank >= links_.size() || links_[hello->rank]) {
                ++made_.refused;
                const auto why = !proven  ? proven.error().text
                                 : !hello ? hello.error().text
                                          : fmt::format("there is no place for rank {}", hello->rank);
                static_cast<void>(stranger.link.send("-" + why, Clock::now()).has_value());
                return false;
            }
            const auto proof = entry_.prove("+", hello->challenge);
            if (!proof || !stranger.link.send("+" + *proof, after(1))) return false;
            made_.rails[hello->rank] = std::move(hello->rails);
            links_[hello->rank] = std::move(stranger.link);
            return false;
        }
    }

    void lose(std::uint32_t host, std::uint32_t round, const std::string& why) {
        links_[host].reset();
        made_.lost.push_back({host, fmt::format("{} in round {}", why, round + 1)});
    }

    // The addresses by rail, for one host of a pair.
    std::vector<std::string> addresses(std::uint32_t own, std::uint32_t partner) const {
        std::vector<std::string> addresses;
        const auto &here = made_.rails[own], &there = made_.rails[partner];
        for (std::size_t rail = 0; rail < std::min(here.size(), there.size()); ++rail)
            addresses.push_back(here[rail].address.empty() ? std::string() : there[rail].address);
        return addresses;
    }

    void play(const Tournament& tournament, const std::vector<std::uint32_t>& here, std::uint32_t round) {
        std::vector<std::uint32_t> partner_of(links_.size(), tournament.hosts());
        std::vector<std::uint32_t> waited;
        std::size_t rails = 0;
        for (std::uint32_t place = 0; place < here.size(); ++place) {
            const auto other = tournament.opponent(round, place);
            if (!other || !links_[here[place]] || !links_[here[*other]]) continue;
            const auto own = here[place], partner = here[*other];
            const Go go{made_.rounds, made_.hosts[partner], own < partner, plan_.effort,
                        addresses(own, partner)};
            rails = std::max(rails, go.addresses.size());
            partner_of[own] = partner;
            waited.push_back(own);
            if (!links_[own]->send(to_text(go), after(1))) lose(own, made_.rounds, "takes no word");
        }
        // One second for other work than measuring, on a host with more processes than cores.
        const auto deadline = after(plan_.effort.patience_s * static_cast<double>(rails) + 1);
        std::vector<std::optional<Done>> done(links_.size());
        while (Clock::now() < deadline) {
            std::vector<pollfd> watched;
            std::vector<std::uint32_t> of;
            for (const auto host : waited)
                if (links_[host] && !done[host]) {
                    watched.push_back({links_[host]->fd(), POLLIN, 0});
                    of.push_back(host);
                }
            if (watched.empty()) break;
            if (::poll(watched.data(), watched.size(), until(deadline)) <= 0) continue;
            for (std::size_t i = 0; i < watched.size(); ++i)
                if (watched[i].revents != 0) hear_done(of[i], done[of[i]]);
        }
        for (const auto host : waited)
            if (links_[host] && !done[host]) lose(host, made_.rounds, "fell silent");
        for (const auto host : waited)
            if (const auto partner = partner_of[host]; host < partner)
                keep(host, partner, done[host], done[partner]);
    }

    void hear_done(std::uint32_t host, std::optional<Done>& done) {
        auto said = links_[host]->take();
        if (!said) return lose(host, made_.rounds, "ended");
        if (!*said) return;
        auto read = read_done(**said);
        if (!read) return lose(host, made_.rounds, "said what is no answer");
        if (read->round == made_.rounds) done = *std::move(read);
    }

    // Keeps what the first host measured, or why it could not. If one host of a pair was lost, nothing is
    // kept: that says nothing about the other's rails.
    void keep(std::uint32_t a, std::uint32_t b, const std::optional<Done>& first,
              const std::optional<Done>& second) {
        if (!first || !second) return;
        for (std::uint32_t rail = 0; rail < std::min(first->rails.size(), second->rails.size()); ++rail) {
            if (made_.rails[a][rail].address.empty() || made_.rails[b][rail].address.empty()) continue;
            const auto &one = first->rails[rail], &other = second->rails[rail];
            Measure now{a, b, rail, one.measured, one.measured ? "" : one.trouble};
            if (one.measured && !other.measured) now.trouble = other.trouble;
            const auto before =
                std::find_if(made_.measures.begin(), made_.measures.end(), [&](const Measure& known) {
                    return known.a == a && known.b == b && known.rail == rail;
                });
            if (before == made_.measures.end())
                made_.measures.push_back(std::move(now));
            else
                take_better(*before, std::move(now));
        }
    }

    static void take_better(Measure& known, Measure again) {
        if (!again.measured) return;
        if (known.measured) {
            again.measured->latency_us = std::min(again.measured->latency_us, known.measured->latency_us);
            again.measured->gbps = std::max(again.measured->gbps, known.measured->gbps);
            again.measured->gbps_back = std::max(again.measured->gbps_back, known.measured->gbps_back);
        }
        known = std::move(again);
    }

    Listener listener_;
    const Entry& entry_;
    const Plan& plan_;
    Moment began_;
    Gathered made_;
    std::vector<std::optional<Link>> links_; // by host
    std::list<Stranger> strangers_;
};

// Joins at one port. Errors: Code::unavailable when another program listens there.
base::Expected<Link> come_in(const Launch& launch, std::uint16_t port, const Entry& entry,
                             const std::vector<Hello::Rail>& rails, Moment deadline) {
    const auto soon = std::min(deadline, after(5));
    auto link = connect_to(launch.hosts.front(), port, soon);
    if (!link) return link;
    const auto challenge = link->receive(soon, 64);
    if (!challenge) return challenge.error();
    const Hello hello{launch.rank, launch.hosts[launch.rank], random_challenge(), rails};
    const auto text = to_text(hello);
    const auto proof = entry.prove(text, *challenge);
    if (!proof) return proof.error();
    for (const auto* said : {&text, &*proof})
        if (auto sent = link->send(*said, soon); !sent) return std::move(sent).error();
    const auto answer = link->receive(deadline, longest_hello);
    if (!answer) return answer.error();
    if (!answer->starts_with('+'))
        return base::Error{base::Code::denied,
                           "refused: " + answer->substr(std::min<std::size_t>(1, answer->size()))};
    if (const auto genuine = entry.check("+", hello.challenge, answer->substr(1)); !genuine)
        return base::Error{base::Code::denied, "who gathers has no proof: " + genuine.error().text};
    return link;
}

} // namespace

std::size_t Gathered::most_rails() const {
    std::size_t most = 0;
    for (const auto& of_host : rails)
        most = std::max(most, of_host.size());
    return most;
}

base::Expected<Gathered> gather(Listener listener, const Launch& launch, const Entry& entry, const Plan& plan,
                                const std::function<bool(const Gathered&)>& again,
                                const std::function<void(const std::string&)>& told) {
    Gatherer gatherer(std::move(listener), launch, entry, plan);
    gatherer.let_in();
    return gatherer.run(again, told);
}

base::Expected<void> take_part(const Launch& launch, const std::vector<std::uint16_t>& ports,
                               const Entry& entry, const Plan& plan, std::vector<Hello::Rail> rails,
                               const MeasureRails& measure) {
    const auto deadline = after(plan.join_s);
    std::optional<Link> link;
    base::Error last{base::Code::unavailable, "nobody gathers"};
    // The coordinator may start later, and listens on one of several ports.
    for (auto pause = std::chrono::milliseconds(10); !link;) {
        for (const auto port : ports) {
            auto came = come_in(launch, port, entry, rails, deadline);
            if (came) {
                link = *std::move(came);
                break;
            }
            last = came.error();
            if (last.code == base::Code::denied) return std::move(last).within(launch.hosts.front());
        }
        if (link) break;
        if (Clock::now() > deadline) return std::move(last).within(launch.hosts.front());
        ::poll(nullptr, 0, static_cast<int>(pause.count()));
        pause = std::min(pause * 2, std::chrono::milliseconds(500));
    }
    // Others may still be joining, and the last round may begin just before the end.
    const auto end = after(plan.join_s + plan.whole_s + plan.effort.patience_s * meetings_a_round);
    for (;;) {
        const auto said = link->receive(end);
        if (!said) return base::Error{said.error()}.within(launch.hosts.front());
        auto go = read_go(*said);
        if (!go) return std::move(go).error().within(launch.hosts.front());
        if (go->addresses.empty() && go->partner.empty()) return {};
        const Done done{go->round, measure(*go)};
        if (auto sent = link->send(to_text(done), after(5)); !sent)
            return std::move(sent).error().within(launch.hosts.front());
    }
}

} // namespace check::net
