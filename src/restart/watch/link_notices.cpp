#include "restart/watch/link_notices.hpp"

#include "base/close_inherited.hpp"
#include "base/log.hpp"
#include "restart/watch/mad_notices.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

namespace restart {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace log = base::log;

constexpr base::Duration renew = 5s;       // the SA forgets its subscribers when it is restarted
constexpr base::Duration look_often = 10s; // after its last change a leaf's ports are queried again
constexpr base::Duration often = 200ms;    // at this interval: the subnet manager skips frequent notices
constexpr base::Duration idle = 500ms;     // between two checks of the pipe
constexpr base::Duration restart_again = 1min;
// In the simulator this program must act as a subnet manager, at its own node, to get notices.
constexpr const char* simulated_seat = "RAIL_IBSIM_NOTICES";

class Listener {
public:
    Listener(const topo::Fabric& file, topo::MadPort port, Delivery delivery, int pipe)
        : links_(file), port_(std::move(port)), delivery_(std::move(delivery)), pipe_(pipe) {}

    void run() {
        while (take_addresses()) {
            if (!open()) {
                ::poll(nullptr, 0, static_cast<int>(idle.count()));
                continue;
            }
            if (Clock::now() >= renew_at_) {
                renew_at_ = Clock::now() + renew;
                if (auto sent = mads_->subscribe(); !sent) {
                    lose(sent.error().text);
                    continue;
                }
            }
            listen();
            for (const auto leaf : due_leaves())
                ask_leaf(leaf, false);
            deliver();
        }
    }

private:
    void say(std::string_view trouble) {
        if (trouble == trouble_) return;
        if (trouble.empty())
            log::info("the subnet administrator tells of links that change");
        else
            log::warning("{}; a host that loses its links is seen at the next sweep, and this is tried on",
                         trouble);
        trouble_ = trouble;
    }
    void lose(std::string_view why) {
        say(why);
        mads_.reset();
        open_at_ = Clock::now() + renew;
    }
    bool open() {
        if (mads_) return true;
        if (Clock::now() < open_at_) return false;
        auto opened = MadNotices::open(port_, std::getenv(simulated_seat) != nullptr);
        if (!opened) {
            lose(opened.error().text);
            return false;
        }
        mads_ = *std::move(opened);
        renew_at_ = {};
        return true;
    }

    // False: the parent has ended.
    bool take_addresses() {
        std::array<char, 65536> block;
        for (;;) {
            const auto n = ::read(pipe_, block.data(), block.size());
            if (n == 0) return false;
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return errno == EAGAIN;
            text_.append(block.data(), static_cast<std::size_t>(n));
            const auto end = text_.rfind('\0');
            if (end == std::string::npos) continue;
            const auto begin = end == 0 ? std::string::npos : text_.rfind('\0', end - 1);
            const auto first = begin == std::string::npos ? 0 : begin + 1;
            if (auto read = LeafAddresses::from_text(std::string_view(text_).substr(first, end - first)))
                addresses_ = *std::move(read);
            text_.erase(0, end + 1);
        }
    }

    // May wait for the first event; further events are taken only if already there, so that one report covers
    // all links of a host, not eight reports.
    void listen() {
        auto longest = hot_.empty() && unreported_.empty() ? idle : often;
        constexpr int most = 256;
        for (int taken = 0; taken < most; ++taken, longest = base::Duration::zero()) {
            const auto event = mads_->next(longest);
            if (!event) return lose(event.error().text);
            using Kind = MadNotices::Event::Kind;
            switch (event->kind) {
            case Kind::quiet: return;
            case Kind::subscribed: say({}); break;
            case Kind::no_manager: say("no subnet manager answers"); break;
            case Kind::refused:
                say(fmt::format(
                    "the subnet administrator refuses to tell of links that change (status {:#x})",
                    event->status));
                break;
            case Kind::link_state:
                if (const auto leaf = mads_->node_at(event->lid)) {
                    addresses_.lids[*leaf] = event->lid;
                    ask_leaf(*leaf, true);
                }
                break;
            }
        }
    }

    std::vector<topo::Guid> due_leaves() {
        const auto now = Clock::now();
        std::vector<topo::Guid> due;
        std::erase_if(hot_, [&](const auto& leaf) { return leaf.second.until <= now; });
        for (auto& [leaf, look] : hot_)
            if (look.next <= now) {
                look.next = now + often;
                due.push_back(leaf);
            }
        return due;
    }

    // False: it did not answer, or its address now belongs to another switch.
    bool ask(const LeafLinks::Port& port, bool& changed) {
        const auto lid = addresses_.lids.find(port.leaf);
        if (lid == addresses_.lids.end()) return false;
        const auto down = mads_->is_down(lid->second, port.number);
        if (!down) return false;
        changed = links_.take(port, *down);
        return true;
    }

    // Of all hosts behind the leaf, those with changes are reported; after a notice also those with a dead
    // link, which restartd may have forgotten.
    void ask_leaf(topo::Guid leaf, bool noticed) {
        const auto numbers = links_.ports_of(leaf);
        if (numbers.empty()) return;
        const auto lid = addresses_.lids.find(leaf);
        if (lid == addresses_.lids.end() || mads_->node_at(lid->second) != leaf) return;
        std::set<std::string> hosts;
        for (const auto number : numbers) {
            bool changed = false;
            if (!ask({leaf, number}, changed)) break;
            if (changed || (noticed && links_.is_down({leaf, number})))
                hosts.insert(*links_.host_at({leaf, number}));
        }
        if (noticed || !hosts.empty()) heat(leaf);
        for (const auto& host : hosts)
            ask_host(host);
        unreported_.merge(hosts);
    }

    // The host's other leaves, which may have nothing to report or whose notices were skipped.
    void ask_host(const std::string& host) {
        for (const auto& port : links_.ports_of(host)) {
            bool changed = false;
            if (ask(port, changed) && changed) heat(port.leaf);
        }
    }

    void heat(topo::Guid leaf) {
        auto& look = hot_[leaf];
        look.until = Clock::now() + look_often;
        look.next = Clock::now() + often;
    }

    void deliver() {
        if (unreported_.empty() || Clock::now() < deliver_at_) return;
        const auto report = links_.report(unreported_, addresses_);
        if (!delivery_.post("/v1/fabric", report.to_json())) { // the delivery logs it
            deliver_at_ = Clock::now() + 1s;
            return;
        }
        unreported_.clear(); // the next sweep logs the change
    }

    struct Look {
        Clock::time_point until, next;
    };

    LeafLinks links_;
    topo::MadPort port_;
    Delivery delivery_;
    int pipe_;
    std::string text_; // read from the pipe, until a message is complete
    LeafAddresses addresses_;
    std::optional<MadNotices> mads_;
    Clock::time_point open_at_{}, renew_at_{}, deliver_at_{};
    std::string trouble_ = "not yet told";
    std::map<topo::Guid, Look> hot_;
    std::set<std::string> unreported_;
};

[[noreturn]] void be_listener(const topo::Fabric& file, const topo::MadPort& port,
                              const Delivery::Target& target, int pipe) {
    // Ends when its pipe closes, by exit(): libraries release their resources.
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    if (const char* seat = std::getenv(simulated_seat)) {
        ::setenv("SIM_HOST", seat, 1);
        ::setenv("SIM_SET_ISSM", "1", 1);
    }
    if (auto delivery = Delivery::make(target)) Listener(file, port, *std::move(delivery), pipe).run();
    std::exit(0);
}

} // namespace

void LinkNotices::start(const topo::Fabric& file, const topo::MadPort& port, const Delivery::Target& target) {
    stop();
    file_ = file;
    port_ = port;
    target_ = target;
    told_ = {};
    begin();
}

void LinkNotices::begin() {
    began_ = Clock::now();
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        return log::warning("{}; changes of links are seen at the next sweep",
                            base::system_error("pipe", errno).text);
    base::UniqueFd in(ends[0]), out(ends[1]);
    ::fcntl(out.get(), F_SETPIPE_SZ, 1 << 20); // for the largest fabrics; most need less
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto child = ::fork();
    const int failed = errno;
    if (child == 0) {
        base::close_inherited(in.get());
        be_listener(*file_, port_, target_, in.get());
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child < 0)
        return log::warning("{}; changes of links are seen at the next sweep",
                            base::system_error("fork", failed).text);
    child_ = child;
    pipe_ = std::move(out);
}

void LinkNotices::tell(const LeafAddresses& addresses) {
    if (!file_) return;
    if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == child_) {
        log::warning("the process that is told of links that change has ended; it is started again");
        child_ = -1;
    }
    if (child_ < 0) {
        if (Clock::now() - began_ < restart_again) return;
        pipe_ = base::UniqueFd();
        told_ = {};
        begin();
    }
    if (addresses == told_ || !pipe_) return;
    auto text = addresses.to_text();
    text += '\0';
    // A partial write means that the pipe is full because its reader hangs.
    if (::write(pipe_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
        told_ = addresses;
        return;
    }
    log::warning("the process that is told of links that change hangs; it is ended and started again");
    stop();
}

void LinkNotices::stop() {
    pipe_ = base::UniqueFd();
    if (child_ <= 0) return;
    for (int i = 0; i < 300; ++i) {
        if (::waitpid(child_, nullptr, WNOHANG) == child_) {
            child_ = -1;
            return;
        }
        ::poll(nullptr, 0, 10);
    }
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
}

} // namespace restart
