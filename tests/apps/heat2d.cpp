// heat2d: heat conduction on a square plate by Jacobi iteration over MPI, and the example of a program that
// checkpoints through librailckpt.
//
// The plate has n x n inner points; its edges are held at fixed temperatures. Each rank owns a block of whole
// rows. The value of a point depends on its four neighbours alone, in one fixed order of additions, so the
// final field, and the checksum of its bits, is the same for any number of ranks and any number of restarts.
//
// A checkpoint is one file a rank, rows-FIRST.bin: a BlockHeader, then its rows. On a restart each rank picks
// its rows from whichever files hold them.
#include "restart/ckpt/railckpt.h"

#include <mpi.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Options {
    long n = 512;               // inner points along an edge
    long steps = 20000;         // Jacobi steps
    long pace_us = 0;           // sleep after each step, so that a run takes a chosen time
    long ckpt_every_check = 50; // steps between two questions whether a checkpoint is due
    long progress_s = 1;        // seconds between two progress lines; 0: none
    long slow_rank = -1;        // this one, if it is any, sleeps for slow_us more after each step
    long slow_us = 0;
};

constexpr const char* help =
    R"(heat2d: heat conduction on a plate over MPI, with checkpoints through librailckpt.
Usage: heat2d [--n POINTS] [--steps N] [--pace-us MICROSECONDS] [--ckpt-every-check STEPS] [--progress SECONDS]
              [--slow-rank RANK --slow-us MICROSECONDS]
Checkpoints go to RAIL_CKPT_DIR; without it there are none.
Exit status: 0 done, 1 fenced off by a later incarnation, 2 wrong usage or unreadable checkpoint.
)";

[[noreturn]] void stop(int status, const std::string& text) {
    std::fprintf(stderr, "heat2d: %s\n", text.c_str());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, status);
    std::abort();
}

Options parse(int argc, char** argv, bool speak) {
    Options options;
    struct Known {
        std::string_view name;
        long* value;
        long least;
    };
    const Known known[] = {{"--n", &options.n, 1},
                           {"--steps", &options.steps, 0},
                           {"--pace-us", &options.pace_us, 0},
                           {"--ckpt-every-check", &options.ckpt_every_check, 1},
                           {"--progress", &options.progress_s, 0},
                           {"--slow-rank", &options.slow_rank, 0},
                           {"--slow-us", &options.slow_us, 0}};
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help") {
            if (speak) std::fputs(help, stdout);
            MPI_Finalize();
            std::exit(0);
        }
        const auto option =
            std::find_if(std::begin(known), std::end(known), [&](const Known& k) { return k.name == name; });
        if (option == std::end(known)) stop(2, "unknown option " + std::string(name) + ": see heat2d --help");
        const std::string_view text = i + 1 < argc ? argv[++i] : "";
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), *option->value);
        if (failed != std::errc{} || end != text.data() + text.size() || *option->value < option->least)
            stop(2, std::string(name) + " \"" + std::string(text) + "\": a whole number from " +
                        std::to_string(option->least) + " is wanted");
    }
    return options;
}

// A block of whole rows of the plate, with a frame of one point around it.
class Block {
public:
    Block(long n, long first, long rows) : n_(n), first_(first), rows_(rows), now_(size()), next_(size()) {
        for (auto* field : {&now_, &next_})
            for (long row = 0; row < rows + 2; ++row) {
                const long at = first + row; // 0 and n + 1 are the plate's upper and lower edge
                for (long column = 0; column < n + 2; ++column) {
                    double edge = 0;
                    if (at == 0) edge = 100;
                    if (column == 0) edge = 50 * static_cast<double>(at) / static_cast<double>(n + 1);
                    (*field)[index(row, column)] = edge;
                }
            }
    }

    long n() const { return n_; }
    long first() const { return first_; } // of the plate's inner rows, from 0
    long rows() const { return rows_; }
    // Inner points of a row of the block, 0 .. rows - 1; -1 and rows are the neighbours' rows.
    double* row(long r) { return &now_[index(r + 1, 1)]; }
    const double* row(long r) const { return &now_[index(r + 1, 1)]; }

    // One Jacobi step; the largest change of any point.
    double step() {
        double change = 0;
        for (long r = 1; r <= rows_; ++r)
            for (long c = 1; c <= n_; ++c) {
                const double fresh = 0.25 * ((now_[index(r - 1, c)] + now_[index(r + 1, c)]) +
                                             (now_[index(r, c - 1)] + now_[index(r, c + 1)]));
                change = std::max(change, std::abs(fresh - now_[index(r, c)]));
                next_[index(r, c)] = fresh;
            }
        now_.swap(next_);
        return change;
    }

private:
    std::size_t index(long row, long column) const {
        return static_cast<std::size_t>(row * (n_ + 2) + column);
    }
    std::size_t size() const { return static_cast<std::size_t>((rows_ + 2) * (n_ + 2)); }

    long n_, first_, rows_;
    std::vector<double> now_, next_;
};

struct World {
    int rank = 0, size = 1;
    bool leads() const { return rank == 0; }
    // First inner row of a rank; rank `size` gives n.
    long first_row(long n, int of) const { return n * of / size; }
};

// Fetches the rows above and below the block from the neighbours.
void exchange(const World& world, Block& block) {
    const int above = world.rank > 0 ? world.rank - 1 : MPI_PROC_NULL;
    const int below = world.rank + 1 < world.size ? world.rank + 1 : MPI_PROC_NULL;
    const int n = static_cast<int>(block.n());
    MPI_Sendrecv(block.row(0), n, MPI_DOUBLE, above, 0, block.row(block.rows()), n, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(block.row(block.rows() - 1), n, MPI_DOUBLE, below, 1, block.row(-1), n, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// XXH3-128 of the bits of the plate's inner points, row by row; on rank 0, "" elsewhere.
std::string checksum(const World& world, const Block& block) {
    const auto n = static_cast<std::size_t>(block.n());
    if (!world.leads()) {
        for (long r = 0; r < block.rows(); ++r)
            MPI_Send(block.row(r), static_cast<int>(n), MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        return {};
    }
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                                XXH3_freeState);
    XXH3_128bits_reset(state.get());
    for (long r = 0; r < block.rows(); ++r)
        XXH3_128bits_update(state.get(), block.row(r), n * sizeof(double));
    std::vector<double> row(n);
    for (int from = 1; from < world.size; ++from)
        for (long r = world.first_row(block.n(), from); r < world.first_row(block.n(), from + 1); ++r) {
            MPI_Recv(row.data(), static_cast<int>(n), MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            XXH3_128bits_update(state.get(), row.data(), n * sizeof(double));
        }
    const auto hash = XXH3_128bits_digest(state.get());
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return text;
}

struct BlockHeader {
    char magic[8]; // "heat2d 1"
    std::int64_t n, step, first, rows;
};
constexpr char magic[8] = {'h', 'e', 'a', 't', '2', 'd', ' ', '1'};

// Writes and fsyncs the block's file; "" or what went wrong.
std::string write_block(const std::string& directory, const Block& block, long step) {
    const std::string path = directory + "/rows-" + std::to_string(block.first()) + ".bin";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return path + ": " + std::strerror(errno);
    BlockHeader header{{}, block.n(), step, block.first(), block.rows()};
    std::memcpy(header.magic, magic, sizeof magic);
    const auto put = [&](const void* data, std::size_t size) {
        for (const char* at = static_cast<const char*>(data); size > 0;) {
            const auto n = ::write(fd, at, size);
            if (n < 0) return false;
            at += n;
            size -= static_cast<std::size_t>(n);
        }
        return true;
    };
    bool good = put(&header, sizeof header);
    for (long r = 0; good && r < block.rows(); ++r)
        good = put(block.row(r), static_cast<std::size_t>(block.n()) * sizeof(double));
    good = good && ::fsync(fd) == 0;
    const std::string trouble = good ? "" : path + ": " + std::strerror(errno);
    ::close(fd);
    return trouble;
}

// Reads the block's rows from the files of a checkpoint; its step.
long read_block(const std::string& directory, Block& block) {
    long found = 0, step = -1;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (!entry.path().filename().string().starts_with("rows-")) continue;
        std::ifstream in(entry.path(), std::ios::binary);
        BlockHeader header{};
        if (!in.read(reinterpret_cast<char*>(&header), sizeof header) ||
            std::memcmp(header.magic, magic, sizeof magic) != 0)
            stop(2, entry.path().string() + ": is not a block of heat2d");
        if (header.n != block.n())
            stop(2, entry.path().string() + ": is of a plate with --n " + std::to_string(header.n) +
                        ": use it, or another RAIL_CKPT_DIR");
        step = header.step;
        const long from = std::max<long>(block.first(), header.first);
        const long to = std::min<long>(block.first() + block.rows(), header.first + header.rows);
        const auto row_bytes =
            static_cast<std::streamsize>(block.n()) * static_cast<std::streamsize>(sizeof(double));
        if (from < to) in.seekg((from - header.first) * row_bytes, std::ios::cur);
        for (long at = from; at < to; ++at, ++found)
            if (!in.read(reinterpret_cast<char*>(block.row(at - block.first())), row_bytes))
                stop(2, entry.path().string() + ": ends early");
    }
    if (found != block.rows()) stop(2, directory + ": rows are missing");
    return step;
}

// The checkpoints of the run; only rank 0 holds a handle.
class Checkpoints {
public:
    explicit Checkpoints(const World& world) : world_(world), on_(std::getenv("RAIL_CKPT_DIR") != nullptr) {
        if (!on_ || !world.leads()) return;
        const int status = railckpt_open(nullptr, &ck_);
        if (status < 0) stop(status == RAILCKPT_EFENCED ? 1 : 2, railckpt_message(nullptr));
    }
    Checkpoints(const Checkpoints&) = delete;
    Checkpoints& operator=(const Checkpoints&) = delete;
    ~Checkpoints() { railckpt_close(ck_); }

    // The path of the newest checkpoint, on all ranks; "" if there is none.
    std::string latest() {
        std::string path;
        if (ck_ != nullptr) {
            railckpt_info info = RAILCKPT_INFO_INIT;
            const int status = railckpt_latest(ck_, &info);
            if (status < 0 || *railckpt_message(ck_) != '\0')
                std::fprintf(stderr, "heat2d: %s\n", railckpt_message(ck_));
            if (status == RAILCKPT_OK) path = info.path;
        }
        return share(path);
    }

    // Writes a checkpoint if one is due. All ranks call it at the same step.
    void maybe_write(const Block& block, long step) {
        if (!on_) return;
        std::string path, why;
        const auto start = Clock::now();
        if (ck_ != nullptr && railckpt_due(ck_) == 1) {
            why = railckpt_message(ck_);
            const char* stage = nullptr;
            if (const int status = railckpt_begin(ck_, static_cast<std::uint64_t>(step), &stage);
                status == RAILCKPT_OK)
                path = stage;
            else
                complain(status);
        }
        path = share(path);
        if (path.empty()) return;
        const auto trouble = write_block(path, block, step);
        if (!trouble.empty()) std::fprintf(stderr, "heat2d: rank %d: %s\n", world_.rank, trouble.c_str());
        int good = trouble.empty() ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN,
                      MPI_COMM_WORLD); // all have closed their files
        if (ck_ == nullptr) return;
        if (const int status = good != 0 ? railckpt_commit(ck_) : railckpt_abort(ck_); status < 0)
            return complain(status);
        if (good == 0) return;
        std::printf("heat2d: checkpoint step %ld cost %.3f s (%s)\n", step, seconds_since(start),
                    why.c_str());
        std::fflush(stdout);
    }

private:
    // A checkpoint that fails is no reason to stop, unless another incarnation has taken over.
    void complain(int status) const {
        if (status == RAILCKPT_EFENCED) stop(1, railckpt_message(ck_));
        std::fprintf(stderr, "heat2d: no checkpoint: %s\n", railckpt_message(ck_));
    }

    // Rank 0's text on all ranks.
    std::string share(std::string text) const {
        unsigned long size = text.size();
        MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
        text.resize(size);
        MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
        return text;
    }

    const World& world_;
    bool on_;
    railckpt* ck_ = nullptr;
};

// The step marks of this rank, by which restartd sees which host holds the others up.
class StepMarks {
public:
    StepMarks() {
        if (railckpt_marks_open(&marks_) < 0) stop(2, railckpt_message(nullptr));
    }
    StepMarks(const StepMarks&) = delete;
    StepMarks& operator=(const StepMarks&) = delete;
    ~StepMarks() { railckpt_marks_close(marks_); }

    template <class Exchange> void wait(Exchange exchange) {
        const auto start = Clock::now();
        exchange();
        waited_s_ += seconds_since(start);
    }
    void step() { railckpt_mark(marks_, std::exchange(waited_s_, 0)); }

private:
    railckpt_marks* marks_ = nullptr;
    double waited_s_ = 0;
};

void run(const World& world, const Options& options) {
    const auto start = Clock::now();
    const long first = world.first_row(options.n, world.rank);
    Block block(options.n, first, world.first_row(options.n, world.rank + 1) - first);
    Checkpoints checkpoints(world);
    const auto from = checkpoints.latest();
    long step = from.empty() ? 0 : read_block(from, block);
    if (world.leads()) {
        std::printf("heat2d: start step %ld (from %s) ranks %d\n", step,
                    from.empty() ? "scratch" : from.c_str(), world.size);
        std::fflush(stdout);
    }
    StepMarks marks;
    const bool slow = world.rank == options.slow_rank;
    auto told = start;
    while (step < options.steps) {
        marks.wait([&] { exchange(world, block); });
        double change = block.step();
        ++step;
        if (const long us = options.pace_us + (slow ? options.slow_us : 0); us > 0)
            std::this_thread::sleep_for(std::chrono::microseconds(us));
        marks.step();
        if (step % options.ckpt_every_check != 0) continue;
        checkpoints.maybe_write(block, step);
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (world.leads() && options.progress_s > 0 &&
            seconds_since(told) >= static_cast<double>(options.progress_s)) {
            told = Clock::now();
            std::printf("heat2d: %.1f s step %ld of %ld change %.3e\n", seconds_since(start), step,
                        options.steps, change);
            std::fflush(stdout);
        }
    }
    const auto sum = checksum(world, block);
    if (world.leads())
        std::printf("heat2d: done steps %ld checksum %s elapsed %.2f\n", step, sum.c_str(),
                    seconds_since(start));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    World world;
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    const auto options = parse(argc, argv, world.leads());
    if (options.n < world.size)
        stop(2, "--n " + std::to_string(options.n) + " is less than the number of ranks");
    run(world, options);
    MPI_Finalize();
    return 0;
}
