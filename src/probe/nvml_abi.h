/* The part of NVML's binary interface that Railyard uses, declared here so that neither NVIDIA's header
 * nor its library is needed to build: nodewatchd resolves these names with dlsym,
 * tests/doubles/nvml_double.c defines them.
 *
 * Names, numbers and layouts are those in nvml.h, release 11.8 and later (NVML API Reference Guide; a
 * symbol's version suffix fixes its layout permanently). All calls may be made from any thread once
 * nvmlInit_v2 has returned. */
#ifndef RAILYARD_NVML_ABI_H
#define RAILYARD_NVML_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvmlDevice_st* nvmlDevice_t;
typedef struct nvmlEventSet_st* nvmlEventSet_t;
typedef int nvmlReturn_t; /* an enum in nvml.h; its values: */
enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_TIMEOUT = 10,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_UNKNOWN = 999
};

/* nvmlDeviceGetPciInfo_v3; busId is "DDDDDDDD:BB:DD.F" in upper case, busIdLegacy has a domain of four
 * digits. */
typedef struct {
    char busIdLegacy[16];
    unsigned int domain;
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId;
    unsigned int pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

/* nvmlEventSetWait_v2; for nvmlEventTypeXidCriticalError, eventData is the XID. */
typedef struct {
    nvmlDevice_t device;
    unsigned long long eventType;
    unsigned long long eventData;
    unsigned int gpuInstanceId;
    unsigned int computeInstanceId;
} nvmlEventData_t;

/* Event types (a mask). */
#define NVML_EVENT_TYPE_SINGLE_BIT_ECC 0x1ULL
#define NVML_EVENT_TYPE_DOUBLE_BIT_ECC 0x2ULL
#define NVML_EVENT_TYPE_XID_CRITICAL 0x8ULL
#define NVML_EVENT_TYPE_SINGLE_BIT_STORM 0x200ULL /* this and the following: seen in r580 */
#define NVML_EVENT_TYPE_ROW_REMAPPED 0x400ULL
#define NVML_EVENT_TYPE_ROW_REMAP_FAILED 0x800ULL
#define NVML_EVENT_TYPE_POISON 0x1000ULL
#define NVML_EVENT_TYPE_POISON_FATAL 0x2000ULL
#define NVML_EVENT_TYPE_UNAVAILABLE 0x4000ULL
#define NVML_EVENT_TYPE_RECOVERY_ACTION 0x8000ULL

/* Clock event reasons (a mask); before driver 535: throttle reasons. */
#define NVML_REASON_GPU_IDLE 0x1ULL
#define NVML_REASON_APPLICATIONS_CLOCKS 0x2ULL
#define NVML_REASON_SW_POWER_CAP 0x4ULL
#define NVML_REASON_HW_SLOWDOWN 0x8ULL
#define NVML_REASON_SYNC_BOOST 0x10ULL
#define NVML_REASON_SW_THERMAL_SLOWDOWN 0x20ULL
#define NVML_REASON_HW_THERMAL_SLOWDOWN 0x40ULL
#define NVML_REASON_HW_POWER_BRAKE 0x80ULL

/* nvmlDeviceGetTotalEccErrors: which errors, and whether since the driver was loaded or over the board's
 * life. */
enum { NVML_MEMORY_ERROR_CORRECTED = 0, NVML_MEMORY_ERROR_UNCORRECTED = 1 };
enum { NVML_ECC_VOLATILE = 0, NVML_ECC_AGGREGATE = 1 };

/* nvmlDeviceGetClockInfo: which clock, in MHz. */
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

/* nvmlDeviceGetUtilizationRates, percent of the last sample period: one sixth of a second to one second. */
typedef struct {
    unsigned int gpu; /* of the time, during which a kernel ran */
    unsigned int memory;
} nvmlUtilization_t;

/* nvmlDeviceGetFieldValues, in drivers since 2017: many values in one call, each with its own result
 * (NOT_SUPPORTED or INVALID_ARGUMENT if unknown to this driver or GPU). */
typedef union {
    double dVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    signed long long sllVal;
    int siVal;
} nvmlValue_t;
typedef struct {
    unsigned int fieldId;
    unsigned int scopeId; /* for some fields the link; all ones: the sum of all links */
    long long timestamp;
    long long latencyUsec;
    int valueType; /* which member of `value` is set: */
    nvmlReturn_t nvmlReturn;
    nvmlValue_t value;
} nvmlFieldValue_t;
enum {
    NVML_TYPE_DOUBLE = 0,
    NVML_TYPE_UNSIGNED_INT = 1,
    NVML_TYPE_UNSIGNED_LONG = 2,
    NVML_TYPE_UNSIGNED_LONG_LONG = 3,
    NVML_TYPE_SIGNED_LONG_LONG = 4,
    NVML_TYPE_SIGNED_INT = 5
};
enum {
    NVML_FIELD_NVLINK_CRC_FLIT_TOTAL = 38,
    NVML_FIELD_NVLINK_CRC_DATA_TOTAL = 45,
    NVML_FIELD_NVLINK_REPLAY_TOTAL = 52,
    NVML_FIELD_NVLINK_RECOVERY_TOTAL = 59,
    NVML_FIELD_POWER_VIOLATION_NS = 74, /* this and 269 to 271: ns with that clock event reason */
    NVML_FIELD_THERMAL_VIOLATION_NS = 75,
    NVML_FIELD_NVLINK5_RCV_ERRORS = 208,
    NVML_FIELD_NVLINK5_RECOVERY_EVENTS = 215,
    NVML_FIELD_RECOVERY_ACTION = 230, /* r570: 0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset, 5
                                         recover the IMEX domain */
    NVML_FIELD_SW_THERMAL_NS = 269,   /* seen in r580 */
    NVML_FIELD_HW_THERMAL_NS = 270,
    NVML_FIELD_HW_POWER_BRAKE_NS = 271
};

/* nvmlDeviceGetViolationStatus, the older interface for violation times. */
typedef struct {
    unsigned long long referenceTime; /* us */
    unsigned long long violationTime; /* ns, since the driver was loaded */
} nvmlViolationTime_t;
enum { NVML_POLICY_POWER = 0, NVML_POLICY_THERMAL = 1 };

/* nvmlDeviceGetNvLinkErrorCounter, the older interface for a link's counters. */
enum { NVML_LINK_REPLAY = 0, NVML_LINK_RECOVERY = 1, NVML_LINK_CRC_FLIT = 2, NVML_LINK_CRC_DATA = 3 };
enum { NVML_MOST_LINKS = 36 }; /* 18 in headers before r580; calls beyond a GPU's last link fail */

/* The NVSwitch fabric that a GPU registers with: nvmlDeviceGetGpuFabricInfoV, since r550; before that
 * nvmlDeviceGetGpuFabricInfo. */
typedef struct {
    unsigned char clusterUuid[16];
    nvmlReturn_t status; /* of a completed registration */
    unsigned int cliqueId;
    unsigned char state; /* 0 not supported, 1 not started, 2 in progress, 3 completed */
} nvmlGpuFabricInfo_t;
enum { NVML_FABRIC_COMPLETED = 3 };
typedef struct {
    unsigned int version;
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned int cliqueId;
    unsigned char state;
    unsigned int healthMask;
} nvmlGpuFabricInfo_v2_t;
#define NVML_GPU_FABRIC_INFO_V2 0x2000024U /* `version`: version number and size */

/* nvmlDeviceGetComputeRunningProcesses_v3, since r510: `count`: in, room in `processes`; out, their
 * number. */
typedef struct {
    unsigned int pid; /* in this process's namespace, or 0 */
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId;
    unsigned int computeInstanceId;
} nvmlProcessInfo_t;

/* GPM, counters of a GPU's actual work: Hopper and later, since r520. A value is the mean between two
 * samples of one GPU. */
typedef struct nvmlGpmSample_st* nvmlGpmSample_t;
typedef struct {
    unsigned int metricId;
    nvmlReturn_t nvmlReturn;
    double value;
    struct {
        char* shortName;
        char* longName;
        char* unit;
    } metricInfo;
} nvmlGpmMetric_t;
enum { NVML_MOST_GPM_METRICS = 98 }; /* capacity; newer headers have more */
typedef struct {
    unsigned int version;
    unsigned int numMetrics; /* requested, from the start of `metrics` */
    nvmlGpmSample_t sample1;
    nvmlGpmSample_t sample2;
    nvmlGpmMetric_t metrics[NVML_MOST_GPM_METRICS];
} nvmlGpmMetricsGet_t;
typedef struct {
    unsigned int version;
    unsigned int isSupportedDevice;
} nvmlGpmSupport_t;
enum { NVML_GPM_VERSION = 1 }; /* `version` of both */
enum {
    NVML_GPM_SM_ACTIVE = 2, /* percent of multiprocessors that are active */
    NVML_GPM_TENSOR_ACTIVE = 5
};

/* X(name, parameters): all functions used. */
#define RAILYARD_NVML_FUNCTIONS(X)                                                                           \
    X(nvmlInit_v2, (void))                                                                                   \
    X(nvmlShutdown, (void))                                                                                  \
    X(nvmlDeviceGetCount_v2, (unsigned int* count))                                                          \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned int index, nvmlDevice_t* device))                             \
    X(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t * pci))                                   \
    X(nvmlDeviceGetCurrentClocksEventReasons, (nvmlDevice_t device, unsigned long long* reasons))            \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvmlDevice_t device, unsigned long long* reasons))         \
    X(nvmlDeviceGetTotalEccErrors,                                                                           \
      (nvmlDevice_t device, int error_type, int counter_type, unsigned long long* n))                        \
    X(nvmlDeviceGetRemappedRows, (nvmlDevice_t device, unsigned int* correctable,                            \
                                  unsigned int* uncorrectable, unsigned int* pending, unsigned int* failed)) \
    X(nvmlDeviceGetCurrPcieLinkGeneration, (nvmlDevice_t device, unsigned int* generation))                  \
    X(nvmlDeviceGetCurrPcieLinkWidth, (nvmlDevice_t device, unsigned int* width))                            \
    X(nvmlDeviceGetMaxPcieLinkGeneration, (nvmlDevice_t device, unsigned int* generation))                   \
    X(nvmlDeviceGetMaxPcieLinkWidth, (nvmlDevice_t device, unsigned int* width))                             \
    X(nvmlDeviceGetPcieReplayCounter, (nvmlDevice_t device, unsigned int* replays))                          \
    X(nvmlDeviceGetClockInfo, (nvmlDevice_t device, int clock, unsigned int* mhz))                           \
    X(nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned int* milliwatts))                              \
    X(nvmlDeviceGetEnforcedPowerLimit, (nvmlDevice_t device, unsigned int* milliwatts))                      \
    X(nvmlDeviceGetUtilizationRates, (nvmlDevice_t device, nvmlUtilization_t * rates))                       \
    X(nvmlDeviceGetComputeRunningProcesses_v3,                                                               \
      (nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* processes))                              \
    X(nvmlDeviceGetFieldValues, (nvmlDevice_t device, int count, nvmlFieldValue_t* values))                  \
    X(nvmlDeviceGetViolationStatus, (nvmlDevice_t device, int policy, nvmlViolationTime_t* time))            \
    X(nvmlDeviceGetNvLinkState, (nvmlDevice_t device, unsigned int link, int* active))                       \
    X(nvmlDeviceGetNvLinkErrorCounter,                                                                       \
      (nvmlDevice_t device, unsigned int link, int counter, unsigned long long* n))                          \
    X(nvmlDeviceGetGpuFabricInfoV, (nvmlDevice_t device, nvmlGpuFabricInfo_v2_t * info))                     \
    X(nvmlDeviceGetGpuFabricInfo, (nvmlDevice_t device, nvmlGpuFabricInfo_t * info))                         \
    X(nvmlGpmQueryDeviceSupport, (nvmlDevice_t device, nvmlGpmSupport_t * support))                          \
    X(nvmlGpmSampleAlloc, (nvmlGpmSample_t * sample))                                                        \
    X(nvmlGpmSampleFree, (nvmlGpmSample_t sample))                                                           \
    X(nvmlGpmSampleGet, (nvmlDevice_t device, nvmlGpmSample_t sample))                                       \
    X(nvmlGpmMetricsGet, (nvmlGpmMetricsGet_t * metrics))                                                    \
    X(nvmlEventSetCreate, (nvmlEventSet_t * set))                                                            \
    X(nvmlEventSetFree, (nvmlEventSet_t set))                                                                \
    X(nvmlDeviceGetSupportedEventTypes, (nvmlDevice_t device, unsigned long long* types))                    \
    X(nvmlDeviceRegisterEvents, (nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set))         \
    X(nvmlEventSetWait_v2, (nvmlEventSet_t set, nvmlEventData_t * data, unsigned int timeout_ms))

/* The only one that does not return nvmlReturn_t. */
typedef const char* nvmlErrorString_fn(nvmlReturn_t result);

#define RAILYARD_NVML_TYPE(name, parameters) typedef nvmlReturn_t name##_fn parameters;
RAILYARD_NVML_FUNCTIONS(RAILYARD_NVML_TYPE)
#undef RAILYARD_NVML_TYPE

#ifdef __cplusplus
}
#endif

#endif
