/* A TEST DOUBLE of NVIDIA's management library: it has NVML's soname and the functions of probe/nvml_abi.h,
 * and its GPUs are lines of a text file. It measures nothing and must never be installed.
 *
 * Verified by: nvml_abi.h, through which both this file and nodewatchd are compiled (a wrong signature does
 * not compile here); tests/doubles/nvml_double_test.py, which uses it through NVIDIA's own Python bindings
 * and compares nvml_abi.h with NVIDIA's header, if these are installed.
 *
 * The file named by RAIL_NVML_STATE is read again when it changes; each line is KEY=VALUE (decimal or 0x…):
 *   count=8            GPUs (at most 16)            init=9           what nvmlInit_v2 returns
 *   N.reasons=0x80     clock event reasons; their times grow while they are set
 *   N.lost=1           every call on GPU N returns GPU_IS_LOST
 *   N.xid=79           the XID of the next event (or its type, N.event=8); raise N.xid_seq to send it
 *   N.ecc_cor N.ecc_unc            volatile ECC counts (N.ecc_cor_life, N.ecc_unc_life: for the board's life)
 *   N.remap_cor N.remap_unc N.remap_pending N.remap_failed N.pcie_gen=5 N.pcie_width=16 N.pcie_replay=0
 *   N.pid=0            the process that computes on it   N.fail_handle=999  GPU N has no handle
 *   N.links=18 N.links_up=18       existing NVLinks, and those that are up
 *   N.crc N.replay N.recovery      their total errors; N.rcv only with NVLink 5, not on an H100
 *   N.power_ms N.brake_ms N.hw_thermal_ms N.sw_thermal_ms   past times with those reasons
 *   N.thermal_ms       violation time, the older way  N.action=1         recovery action
 *   N.fabric=3 N.fabric_status=0   registration with the NVSwitches, in
 *   N.cluster=0x6b1f N.clique=1    this cluster (the last 8 bytes of its UUID) and clique
 *   N.sm_mhz=1980 N.mem_mhz=2619 N.draws_mw=72000 N.busy=0   clocks, power, percent of the time with kernels
 *   N.limit_mw=700000 N.gpm=1    power limit; whether it has GPM's counters:
 *   N.sm_active=0 N.tensor_active=0   percent
 *   N.hang_ms=0        every call on GPU N first takes this long, or until the file contains 0 again
 *   N.fail=999         every call on GPU N returns this; N.fail_ecc=999 only that for one key (as above, or
 *                      reasons, ecc, fields, times, links, violation, fabric, gpm)
 *   old=1              like a driver from before 2022: no field values, no versioned fabric state
 * Unknown keys and lines that begin with # are ignored. Without the variable or the file there are 8 sound
 * GPUs. GPU N is at PCI bus 0x14 + 28 N, next to HCA N of gen_sysfs.py. With RAIL_NVML_COSTS=N there are N
 * busy GPUs, and calls have the costs of nvml_costs.h.
 *
 * Recorded from an H100 SXM with driver 580.159.04: result codes, types and units, event types, costs.
 * Invented, as that GPU was alone and sound: NVLinks, NVSwitches and their registration, every error and
 * fault, and that a lost GPU fails each call. */
#define _GNU_SOURCE
#include "probe/nvml_abi.h"

#include "nvml_costs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { max_gpus = 16, max_lines = 1024, poll_ms = 50, h100_links = 18 };

struct nvmlDevice_st {
    int index;
};
struct nvmlEventSet_st {
    unsigned long long registered[max_gpus]; /* types */
    unsigned long long seen[max_gpus];       /* xid_seq already reported */
};

static struct nvmlDevice_st gpus[max_gpus];

/* The state as last read, and the file attributes that reveal a change. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct timespec mtime;
    off_t size;
    ino_t inode;
    int lines;
    struct {
        char key[40];
        unsigned long long value;
    } line[max_lines];
} state;

/* The part of a line's key after "GPU.", or the whole key if it is not for a GPU; else NULL. */
static const char* key_of(const char* key, int gpu) {
    if (gpu < 0) return key;
    char* rest = NULL;
    const long number = strtol(key, &rest, 10);
    return rest != key && number == gpu && *rest == '.' ? rest + 1 : NULL;
}

/* The value of PREFIX and KEY, for gpu >= 0 with "GPU." before them, in the state as last read; the last line
 * of a key counts. Cheap without lines: nodewatchd is measured with this. */
static unsigned long long held_at(int gpu, const char* prefix, const char* key,
                                  unsigned long long otherwise) {
    unsigned long long value = otherwise;
    const size_t begins = strlen(prefix);
    for (int i = 0; i < state.lines; i++) {
        const char* mine = key_of(state.line[i].key, gpu);
        if (mine && !strncmp(mine, prefix, begins) && !strcmp(mine + begins, key))
            value = state.line[i].value;
    }
    return value;
}

static unsigned long long held(int gpu, const char* key, unsigned long long otherwise) {
    return held_at(gpu, "", key, otherwise);
}

/* Clock event reasons whose time the driver counts. */
enum { counted_reasons = 4 };
static const struct {
    const char* key;
    unsigned long long bit;
} counted[counted_reasons] = {{"power_ms", NVML_REASON_SW_POWER_CAP},
                              {"brake_ms", NVML_REASON_HW_POWER_BRAKE},
                              {"hw_thermal_ms", NVML_REASON_HW_THERMAL_SLOWDOWN},
                              {"sw_thermal_ms", NVML_REASON_SW_THERMAL_SLOWDOWN}};
static unsigned long long counted_ns[max_gpus][counted_reasons];
static struct timespec counted_to;

/* Based on the state as last read, which has been valid since. */
static void count_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const unsigned long long passed = (unsigned long long)(now.tv_sec - counted_to.tv_sec) * 1000000000ULL +
                                      (unsigned long long)now.tv_nsec -
                                      (unsigned long long)counted_to.tv_nsec;
    for (int gpu = 0; state.lines && counted_to.tv_sec && gpu < max_gpus; gpu++) {
        const unsigned long long reasons = held(gpu, "reasons", 0);
        for (int i = 0; i < counted_reasons; i++)
            if (reasons & counted[i].bit) counted_ns[gpu][i] += passed;
    }
    counted_to = now;
}

static void read_again(void) {
    const char* path = getenv("RAIL_NVML_STATE");
    struct stat now;
    if (!path || stat(path, &now) != 0) {
        count_time();
        state.lines = 0;
        state.inode = 0; /* of no file: the next one is read */
        return;
    }
    if (now.st_mtim.tv_sec == state.mtime.tv_sec && now.st_mtim.tv_nsec == state.mtime.tv_nsec &&
        now.st_size == state.size && now.st_ino == state.inode)
        return;
    FILE* file = fopen(path, "re");
    if (!file) return;
    char text[256];
    count_time();
    state.lines = 0;
    while (state.lines < max_lines && fgets(text, sizeof text, file)) {
        char* equals = strchr(text, '=');
        if (text[0] == '#' || !equals) continue;
        *equals = 0;
        if (strlen(text) >= sizeof state.line[0].key) continue;
        strcpy(state.line[state.lines].key, text);
        state.line[state.lines++].value = strtoull(equals + 1, NULL, 0);
    }
    fclose(file);
    state.mtime = now.st_mtim;
    state.size = now.st_size;
    state.inode = now.st_ino;
}

/* The same for the current state. */
static unsigned long long get(int gpu, const char* key, unsigned long long otherwise) {
    pthread_mutex_lock(&lock);
    read_again();
    unsigned long long value = held(gpu, key, otherwise);
    pthread_mutex_unlock(&lock);
    return value;
}

static void sleep_ms(unsigned long long ms) {
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* The start of each call on a device: SUCCESS, or why the device, or this item, cannot be queried. */
static nvmlReturn_t reach(nvmlDevice_t device, const void* out, const char* what) {
    if (!device || !out) return NVML_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    read_again();
    unsigned long long hang = held(device->index, "hang_ms", 0);
    unsigned long long lost = held(device->index, "lost", 0);
    unsigned long long fail =
        held_at(device->index, "fail_", what, held(device->index, "fail", NVML_SUCCESS));
    pthread_mutex_unlock(&lock);
    for (unsigned long long hung = 0; hung < hang && get(device->index, "hang_ms", 0); hung += poll_ms)
        sleep_ms(hang - hung < poll_ms ? hang - hung : poll_ms);
    pay(what);
    return lost ? NVML_ERROR_GPU_IS_LOST : (nvmlReturn_t)fail;
}

static nvmlReturn_t give(nvmlDevice_t device, const char* key, unsigned long long otherwise,
                         unsigned int* out) {
    nvmlReturn_t result = reach(device, out, key);
    if (result == NVML_SUCCESS) *out = (unsigned int)get(device->index, key, otherwise);
    return result;
}

#define PROTOTYPE(name, parameters) nvmlReturn_t name parameters;
RAILYARD_NVML_FUNCTIONS(PROTOTYPE)
const char* nvmlErrorString(nvmlReturn_t result);

#include "nvml_work.h"

nvmlReturn_t nvmlInit_v2(void) {
    for (int i = 0; i < max_gpus; i++)
        gpus[i].index = i;
    const char* costs = getenv("RAIL_NVML_COSTS");
    priced = costs ? strtoul(costs, NULL, 10) : 0;
    return (nvmlReturn_t)get(-1, "init", NVML_SUCCESS);
}

/* The first call of older pynvml releases. */
nvmlReturn_t nvmlInitWithFlags(unsigned int flags);
nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    return flags ? NVML_ERROR_NOT_SUPPORTED : nvmlInit_v2();
}

nvmlReturn_t nvmlShutdown(void) {
    return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT: return "Timeout";
    case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    default: return "Unknown Error";
    }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
    if (!version) return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(version, length, "railyard test double");
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    unsigned long long n = get(-1, "count", priced ? priced : 8);
    *count = n > max_gpus ? max_gpus : (unsigned int)n;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
    unsigned int count;
    nvmlDeviceGetCount_v2(&count);
    if (!device || index >= count) return NVML_ERROR_INVALID_ARGUMENT;
    *device = &gpus[index];
    return (nvmlReturn_t)get((int)index, "fail_handle", NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
    if (!device || !pci) return NVML_ERROR_INVALID_ARGUMENT;
    memset(pci, 0, sizeof *pci);
    pci->domain = (unsigned int)device->index / 8;
    pci->bus = 0x14 + (unsigned int)device->index % 8 * 28;
    pci->pciDeviceId = 0x233010de; /* H100 SXM */
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:00.0", pci->domain, pci->bus);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:00.0", pci->domain & 0xffff,
             pci->bus & 0xff);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) {
    nvmlReturn_t result = reach(device, reasons, "reasons");
    if (result == NVML_SUCCESS) *reasons = get(device->index, "reasons", 0);
    return result;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* reasons) {
    return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, int error_type, int counter_type,
                                         unsigned long long* n) {
    static const char* const key[2][2] = {{"ecc_cor", "ecc_cor_life"}, {"ecc_unc", "ecc_unc_life"}};
    if ((error_type | counter_type) & ~1) return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t result = reach(device, n, "ecc");
    if (result == NVML_SUCCESS) *n = get(device->index, key[error_type][counter_type], 0);
    return result;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int* correctable,
                                       unsigned int* uncorrectable, unsigned int* pending,
                                       unsigned int* failed) {
    if (!correctable || !uncorrectable || !pending || !failed) return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t result = give(device, "remap_cor", 0, correctable);
    if (result != NVML_SUCCESS) return result;
    *uncorrectable = (unsigned int)get(device->index, "remap_unc", 0);
    *pending = get(device->index, "remap_pending", 0) != 0;
    *failed = get(device->index, "remap_failed", 0) != 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
    return give(device, "pcie_gen", 5, generation);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* width) {
    return give(device, "pcie_width", 16, width);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
    return give(device, "pcie_max_gen", 5, generation);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* width) {
    return give(device, "pcie_max_width", 16, width);
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int* replays) {
    return give(device, "pcie_replay", 0, replays);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_t* processes) {
    nvmlReturn_t result = reach(device, count, "pid");
    if (result != NVML_SUCCESS) return result;
    const unsigned int room = *count, pid = (unsigned int)get(device->index, "pid", 0);
    *count = pid != 0;
    if (!pid) return NVML_SUCCESS;
    if (room == 0 || !processes) return NVML_ERROR_INSUFFICIENT_SIZE;
    memset(processes, 0, sizeof *processes);
    processes->pid = pid;
    return NVML_SUCCESS;
}

/* How long a reason has been active, in ns. */
static unsigned long long time_with(int gpu, unsigned long long bit) {
    unsigned long long ns = 0;
    pthread_mutex_lock(&lock);
    read_again();
    count_time();
    for (int i = 0; i < counted_reasons; i++)
        if (counted[i].bit == bit) ns = counted_ns[gpu][i] + 1000000 * held(gpu, counted[i].key, 0);
    pthread_mutex_unlock(&lock);
    return ns;
}

/* A field's value by its number; the sum of all links. */
static nvmlReturn_t field(int gpu, const nvmlFieldValue_t* asked, unsigned long long* value) {
    const nvmlReturn_t newer = (nvmlReturn_t)get(gpu, "fail_times", NVML_SUCCESS);
    switch (asked->fieldId) {
    case NVML_FIELD_NVLINK_CRC_FLIT_TOTAL: *value = get(gpu, "crc", 0); return NVML_SUCCESS;
    case NVML_FIELD_NVLINK_CRC_DATA_TOTAL: *value = 0; return NVML_SUCCESS;
    case NVML_FIELD_NVLINK_REPLAY_TOTAL: *value = get(gpu, "replay", 0); return NVML_SUCCESS;
    case NVML_FIELD_NVLINK_RECOVERY_TOTAL: *value = get(gpu, "recovery", 0); return NVML_SUCCESS;
    case NVML_FIELD_POWER_VIOLATION_NS:
        *value = time_with(gpu, NVML_REASON_SW_POWER_CAP);
        return NVML_SUCCESS;
    case NVML_FIELD_SW_THERMAL_NS: *value = time_with(gpu, NVML_REASON_SW_THERMAL_SLOWDOWN); return newer;
    case NVML_FIELD_HW_THERMAL_NS: *value = time_with(gpu, NVML_REASON_HW_THERMAL_SLOWDOWN); return newer;
    case NVML_FIELD_HW_POWER_BRAKE_NS: *value = time_with(gpu, NVML_REASON_HW_POWER_BRAKE); return newer;
    case NVML_FIELD_THERMAL_VIOLATION_NS: *value = get(gpu, "thermal_ms", 0) * 1000000; return NVML_SUCCESS;
    case NVML_FIELD_RECOVERY_ACTION: *value = get(gpu, "action", 0); return NVML_SUCCESS;
    case NVML_FIELD_NVLINK5_RCV_ERRORS:
        *value = get(gpu, "rcv", ~0ULL);
        return *value == ~0ULL ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
    default: return NVML_ERROR_NOT_SUPPORTED; /* as on an H100: fields of NVLink 5 only */
    }
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
    if (get(-1, "old", 0)) return NVML_ERROR_FUNCTION_NOT_FOUND;
    nvmlReturn_t result = reach(device, values, "fields");
    if (result == NVML_SUCCESS) pay_fields(values, count);
    for (int i = 0; result == NVML_SUCCESS && i < count; i++) {
        unsigned long long value = 0;
        values[i].nvmlReturn = field(device->index, &values[i], &value);
        /* NVML returns each field in its own type. */
        if (values[i].fieldId == NVML_FIELD_RECOVERY_ACTION) {
            values[i].valueType = NVML_TYPE_UNSIGNED_INT;
            values[i].value.uiVal = (unsigned int)value;
        } else {
            values[i].valueType = NVML_TYPE_UNSIGNED_LONG_LONG;
            values[i].value.ullVal = value;
        }
    }
    return result;
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, int policy, nvmlViolationTime_t* time) {
    nvmlReturn_t result = reach(device, time, "violation");
    if (policy != NVML_POLICY_POWER && policy != NVML_POLICY_THERMAL) return NVML_ERROR_NOT_SUPPORTED;
    if (result == NVML_SUCCESS)
        time->violationTime =
            1000000 * get(device->index, policy == NVML_POLICY_POWER ? "power_ms" : "thermal_ms", 0);
    return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, int* active) {
    nvmlReturn_t result = reach(device, active, "links");
    if (result != NVML_SUCCESS) return result;
    unsigned long long links = get(device->index, "links", h100_links);
    if (link >= links) return NVML_ERROR_INVALID_ARGUMENT;
    *active = link < get(device->index, "links_up", links);
    return NVML_SUCCESS;
}

/* All errors are on the first link. */
nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link, int counter,
                                             unsigned long long* n) {
    nvmlReturn_t result = reach(device, n, "links");
    if (result != NVML_SUCCESS) return result;
    if (link >= get(device->index, "links", h100_links)) return NVML_ERROR_INVALID_ARGUMENT;
    const char* key = counter == NVML_LINK_CRC_FLIT   ? "crc"
                      : counter == NVML_LINK_REPLAY   ? "replay"
                      : counter == NVML_LINK_RECOVERY ? "recovery"
                                                      : "";
    *n = link == 0 ? get(device->index, key, 0) : 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t* info) {
    nvmlReturn_t result = reach(device, info, "fabric");
    if (result != NVML_SUCCESS) return result;
    memset(info, 0, sizeof *info);
    const unsigned long long cluster = get(device->index, "cluster", 0);
    for (int i = 0; i < 8; i++)
        info->clusterUuid[15 - i] = (unsigned char)(cluster >> 8 * i);
    info->cliqueId = (unsigned int)get(device->index, "clique", 0);
    info->state = (unsigned char)get(device->index, "fabric", 0);
    info->status = (nvmlReturn_t)get(device->index, "fabric_status", NVML_SUCCESS);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfo_v2_t* info) {
    if (get(-1, "old", 0)) return NVML_ERROR_FUNCTION_NOT_FOUND;
    if (!info || info->version != NVML_GPU_FABRIC_INFO_V2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlGpuFabricInfo_t older;
    nvmlReturn_t result = nvmlDeviceGetGpuFabricInfo(device, &older);
    if (result != NVML_SUCCESS) return result;
    memcpy(info->clusterUuid, older.clusterUuid, sizeof info->clusterUuid);
    info->cliqueId = older.cliqueId;
    info->state = older.state;
    info->status = older.status;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    *set = calloc(1, sizeof **set);
    return *set ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    free(set);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* types) {
    nvmlReturn_t result = reach(device, types, "events");
    if (result == NVML_SUCCESS) *types = get(-1, "old", 0) ? 0x1f : 0xff9f;
    return result;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
    unsigned long long known = 0;
    nvmlReturn_t result = nvmlDeviceGetSupportedEventTypes(device, &known);
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    if (result != NVML_SUCCESS) return result;
    if (types & ~known) return NVML_ERROR_NOT_SUPPORTED;
    set->registered[device->index] |= types;
    set->seen[device->index] = get(device->index, "xid_seq", 0);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned int timeout_ms) {
    if (!set || !data) return NVML_ERROR_INVALID_ARGUMENT;
    /* Without a file no event can occur: it waits once, as NVML does. */
    const unsigned int step = getenv("RAIL_NVML_STATE") ? poll_ms : timeout_ms;
    for (unsigned int waited = 0;; waited += step) {
        for (int i = 0; i < max_gpus; i++) {
            unsigned long long seq = set->registered[i] ? get(i, "xid_seq", 0) : 0;
            const unsigned long long type = get(i, "event", NVML_EVENT_TYPE_XID_CRITICAL);
            if (seq <= set->seen[i] || !(set->registered[i] & type)) continue;
            set->seen[i] = seq;
            memset(data, 0, sizeof *data);
            data->device = &gpus[i];
            data->eventType = type;
            data->eventData = get(i, "xid", 79);
            data->gpuInstanceId = data->computeInstanceId = 0xFFFFFFFF;
            return NVML_SUCCESS;
        }
        if (waited >= timeout_ms) return NVML_ERROR_TIMEOUT;
        sleep_ms(timeout_ms - waited < step ? timeout_ms - waited : step);
    }
}
