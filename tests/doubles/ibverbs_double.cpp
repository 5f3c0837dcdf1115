// A TEST DOUBLE of libibverbs.so.1 for machines without HCAs: RC queue pairs of processes on one machine,
// whose RDMA writes and reads are memory copies with a simulated duration. Functions that railcheck does not
// use are missing. Compiled with rdma-core's own header, which verifies names and layouts; the order of
// states and the contents of a completion follow ibv_modify_qp(3) and ibv_poll_cq(3). Simulated: rates,
// lossless links, and retries for 20 ms to a peer that is not ready.
//
// The file named by RAIL_IBV_STATE is read once; each line is KEY=VALUE (decimal):
//   devices=2       mlx5_0, mlx5_1, …, of one port each
//   N.gbps=10       of its writes and reads         N.latency_us=5  of an operation, added to its transfer
//   N.down=1        the port is not active          N.hang=1        no operation completes
//   N.fail=10       operations complete with this status, 10: a remote access error
// N may be "*" for all. The slower rate of two ends applies. Queue pairs of all processes are in the file
// that RAIL_IBV_QUEUES names.
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

#undef ibv_query_port
#undef ibv_reg_mr

namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_devices = 8;
constexpr std::size_t most_queues = 4096;

long planted(const std::string& key, long otherwise) {
    static const auto state = [] {
        std::map<std::string, long> all;
        const char* path = std::getenv("RAIL_IBV_STATE");
        if (auto* file = path == nullptr ? nullptr : std::fopen(path, "re")) {
            char name[64];
            long value = 0;
            while (std::fscanf(file, " %63[^=]=%ld", name, &value) == 2)
                all[name] = value;
            std::fclose(file);
        }
        return all;
    }();
    const auto found = state.find(key);
    return found == state.end() ? otherwise : found->second;
}

long planted(int device, const std::string& key, long otherwise) {
    return planted(std::to_string(device) + "." + key, planted("*." + key, otherwise));
}

struct Queues {
    std::atomic<std::uint32_t> next{1};
    std::array<std::atomic<std::uint32_t>, most_queues> gbps;
    // The sender from which it accepts packets, and the first number; 0: accepts none.
    std::array<std::atomic<std::uint64_t>, most_queues> from;
};

Queues& queues() {
    static auto* shared = [] {
        const char* path = std::getenv("RAIL_IBV_QUEUES");
        const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        void* at = MAP_FAILED;
        if (file >= 0 && ::ftruncate(file, sizeof(Queues)) == 0)
            at = ::mmap(nullptr, sizeof(Queues), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) std::abort();
        ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // for copies by other processes to and from this memory
        return static_cast<Queues*>(at);
    }();
    return *shared;
}

struct Device : ibv_device {
    int number = 0;
};

std::array<Device, most_devices>& devices() {
    static std::array<Device, most_devices> all{};
    for (int i = 0; i < most_devices; ++i) {
        all[static_cast<std::size_t>(i)].number = i;
        std::snprintf(all[static_cast<std::size_t>(i)].name, sizeof all[0].name, "mlx5_%d", i);
    }
    return all;
}

int number_of(const ibv_context* context) {
    return static_cast<const Device*>(context->device)->number;
}

struct Operation {
    std::uint64_t id = 0;
    ibv_wr_opcode what{};
    void* here = nullptr;
    void* there = nullptr;
    std::size_t bytes = 0;
    ibv_wc_status status = IBV_WC_SUCCESS;
    Clock::time_point ends;
};

struct Queue : ibv_qp {
    std::uint32_t peer = 0, packet = 0;
    pid_t peer_process = 0;
    Clock::time_point busy; // busy until then with posted operations
};

std::uint64_t sender(std::uint32_t queue, std::uint32_t packet) {
    return std::uint64_t{queue} << 32 | packet;
}

struct Completions : ibv_cq {
    std::deque<std::pair<Queue*, Operation>> waiting;
};

// Encodes a process and a device as a GID.
ibv_gid gid_of(pid_t process, int device) {
    ibv_gid gid{};
    gid.raw[0] = 0xfe;
    gid.raw[1] = 0x80;
    std::memcpy(gid.raw + 8, &process, sizeof process);
    gid.raw[15] = static_cast<std::uint8_t>(device);
    return gid;
}

std::uint32_t rate_of(int device) {
    return static_cast<std::uint32_t>(planted(device, "gbps", 10));
}

bool copy(const Queue& queue, const Operation& operation) {
    const bool writes = operation.what == IBV_WR_RDMA_WRITE;
    if (queue.peer_process == ::getpid()) {
        std::memcpy(writes ? operation.there : operation.here, writes ? operation.here : operation.there,
                    operation.bytes);
        return true;
    }
    const iovec here{operation.here, operation.bytes}, there{operation.there, operation.bytes};
    const auto n = writes ? ::process_vm_writev(queue.peer_process, &here, 1, &there, 1, 0)
                          : ::process_vm_readv(queue.peer_process, &here, 1, &there, 1, 0);
    return n == static_cast<ssize_t>(operation.bytes);
}

int post_send(ibv_qp* base, ibv_send_wr* work, ibv_send_wr** bad) {
    auto& queue = *static_cast<Queue*>(base);
    const int device = number_of(queue.context);
    if (queue.state != IBV_QPS_RTS && queue.state != IBV_QPS_ERR) {
        *bad = work;
        return EINVAL;
    }
    Operation operation{work->wr_id,
                        work->opcode,
                        reinterpret_cast<void*>(work->sg_list->addr),
                        reinterpret_cast<void*>(work->wr.rdma.remote_addr),
                        work->sg_list->length,
                        IBV_WC_SUCCESS,
                        {}};
    const bool ready = queues().from[queue.peer % most_queues].load() == sender(queue.qp_num, queue.packet);
    if (queue.state == IBV_QPS_ERR)
        operation.status = IBV_WC_WR_FLUSH_ERR;
    else if (!ready)
        operation.status = IBV_WC_RETRY_EXC_ERR;
    else
        operation.status = static_cast<ibv_wc_status>(planted(device, "fail", IBV_WC_SUCCESS));
    const auto gbps = std::min(rate_of(device), std::max(1U, queues().gbps[queue.peer % most_queues].load()));
    const double seconds = operation.status == IBV_WC_RETRY_EXC_ERR
                               ? 0.02
                               : static_cast<double>(operation.bytes) * 8 / (1e9 * gbps);
    queue.busy = std::max(queue.busy, Clock::now()) +
                 std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    operation.ends = queue.busy + std::chrono::microseconds(planted(device, "latency_us", 5));
    if (planted(device, "hang", 0) != 0) operation.ends = Clock::time_point::max();
    static_cast<Completions*>(queue.send_cq)->waiting.emplace_back(&queue, operation);
    return 0;
}

int poll_cq(ibv_cq* base, int most, ibv_wc* ended) {
    auto& waiting = static_cast<Completions*>(base)->waiting;
    if (most < 1 || waiting.empty() || waiting.front().second.ends > Clock::now()) return 0;
    auto [queue, operation] = waiting.front();
    waiting.pop_front();
    if (operation.status == IBV_WC_SUCCESS && !copy(*queue, operation))
        operation.status = IBV_WC_RETRY_EXC_ERR;
    if (operation.status != IBV_WC_SUCCESS) queue->state = IBV_QPS_ERR;
    *ended = {};
    ended->wr_id = operation.id;
    ended->status = operation.status;
    return 1;
}

} // namespace

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
    *count = static_cast<int>(std::clamp(planted("devices", 2), 0L, long{most_devices}));
    auto** list = new ibv_device*[most_devices + 1]();
    for (int i = 0; i < *count; ++i)
        list[i] = &devices()[static_cast<std::size_t>(i)];
    return list;
}

void ibv_free_device_list(ibv_device** list) {
    delete[] list;
}

const char* ibv_get_device_name(ibv_device* device) {
    return device->name;
}

ibv_context* ibv_open_device(ibv_device* device) {
    auto* context = new ibv_context{};
    context->device = device;
    context->ops.post_send = post_send;
    context->ops.poll_cq = poll_cq;
    return context;
}

int ibv_close_device(ibv_context* context) {
    delete context;
    return 0;
}

int ibv_query_device(ibv_context*, ibv_device_attr* about) {
    *about = {};
    about->phys_port_cnt = 1;
    about->max_qp_rd_atom = about->max_qp_init_rd_atom = 16;
    return 0;
}

int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* to) {
    if (port != 1) return errno = EINVAL;
    auto& attributes = *reinterpret_cast<ibv_port_attr*>(to);
    attributes.state = planted(number_of(context), "down", 0) != 0 ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
    attributes.active_mtu = IBV_MTU_4096;
    attributes.link_layer = IBV_LINK_LAYER_ETHERNET;
    return 0;
}

int ibv_query_gid(ibv_context* context, std::uint8_t, int, ibv_gid* gid) {
    *gid = gid_of(::getpid(), number_of(context));
    return 0;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
    auto* domain = new ibv_pd{};
    domain->context = context;
    return domain;
}

int ibv_dealloc_pd(ibv_pd* domain) {
    delete domain;
    return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* domain, void* at, std::size_t bytes, int) {
    auto* region = new ibv_mr{};
    region->context = domain->context;
    region->pd = domain;
    region->addr = at;
    region->length = bytes;
    region->lkey = region->rkey = 1;
    return region;
}

int ibv_dereg_mr(ibv_mr* region) {
    delete region;
    return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int, void*, ibv_comp_channel*, int) {
    auto* made = new Completions{};
    made->context = context;
    return made;
}

int ibv_destroy_cq(ibv_cq* made) {
    delete static_cast<Completions*>(made);
    return 0;
}

ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
    auto* queue = new Queue{};
    queue->context = domain->context;
    queue->send_cq = wanted->send_cq;
    queue->qp_num = queues().next.fetch_add(1) % most_queues;
    queue->state = IBV_QPS_RESET;
    queues().gbps[queue->qp_num] = rate_of(number_of(queue->context));
    return queue;
}

int ibv_destroy_qp(ibv_qp* base) {
    queues().from[base->qp_num] = 0;
    delete static_cast<Queue*>(base);
    return 0;
}

int ibv_modify_qp(ibv_qp* base, ibv_qp_attr* wanted, int mask) {
    auto& queue = *static_cast<Queue*>(base);
    const auto next = wanted->qp_state;
    const bool follows = next == IBV_QPS_RESET || (next == IBV_QPS_INIT && queue.state == IBV_QPS_RESET) ||
                         (next == IBV_QPS_RTR && queue.state == IBV_QPS_INIT) ||
                         (next == IBV_QPS_RTS && queue.state == IBV_QPS_RTR);
    // Table 'RC' of ibv_modify_qp(3): the attributes required by each transition.
    static const std::map<ibv_qp_state, int> needs{
        {IBV_QPS_RESET, IBV_QP_STATE},
        {IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
        {IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER},
        {IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC}};
    if (!follows || mask != needs.at(next)) return errno = EINVAL;
    if (next == IBV_QPS_RTR) {
        if (wanted->ah_attr.is_global == 0) return errno = EINVAL; // its ports are Ethernet ports
        queue.peer = wanted->dest_qp_num;
        std::memcpy(&queue.peer_process, wanted->ah_attr.grh.dgid.raw + 8, sizeof queue.peer_process);
    }
    if (next == IBV_QPS_RTS) queue.packet = wanted->sq_psn;
    queue.state = next;
    if (next != IBV_QPS_RTS)
        queues().from[queue.qp_num] = next == IBV_QPS_RTR ? sender(wanted->dest_qp_num, wanted->rq_psn) : 0;
    return 0;
}

const char* ibv_wc_status_str(ibv_wc_status status) {
    return status == IBV_WC_REM_ACCESS_ERR  ? "remote access error"
           : status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded"
           : status == IBV_WC_WR_FLUSH_ERR  ? "Work Request Flushed Error"
                                            : "unknown";
}

} // extern "C"
