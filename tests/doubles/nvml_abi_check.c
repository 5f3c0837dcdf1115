/* Compiles only if probe/nvml_abi.h agrees with NVIDIA's nvml.h in every layout and number that Railyard uses
 * (run by nvml_double_test.py if nvml.h is installed; Debian: libnvidia-ml-dev in non-free). */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include <stddef.h>

/* NVIDIA's enumerators as separate constants, before our header uses the same names. */
enum {
    theirs_success = NVML_SUCCESS,
    theirs_invalid = NVML_ERROR_INVALID_ARGUMENT,
    theirs_not_supported = NVML_ERROR_NOT_SUPPORTED,
    theirs_insufficient = NVML_ERROR_INSUFFICIENT_SIZE,
    theirs_not_loaded = NVML_ERROR_DRIVER_NOT_LOADED,
    theirs_timeout = NVML_ERROR_TIMEOUT,
    theirs_function = NVML_ERROR_FUNCTION_NOT_FOUND,
    theirs_lost = NVML_ERROR_GPU_IS_LOST,
    theirs_mismatch = NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
    theirs_unknown = NVML_ERROR_UNKNOWN,
    theirs_clock_sm = NVML_CLOCK_SM,
    theirs_clock_mem = NVML_CLOCK_MEM
};
#define NVML_CLOCK_SM ours_clock_sm
#define NVML_CLOCK_MEM ours_clock_mem
#define nvmlUtilization_t ours_utilization
#define nvmlProcessInfo_t ours_process
#define NVML_ERROR_INSUFFICIENT_SIZE ours_insufficient
#define NVML_SUCCESS ours_success
#define NVML_ERROR_INVALID_ARGUMENT ours_invalid
#define NVML_ERROR_NOT_SUPPORTED ours_not_supported
#define NVML_ERROR_DRIVER_NOT_LOADED ours_not_loaded
#define NVML_ERROR_TIMEOUT ours_timeout
#define NVML_ERROR_FUNCTION_NOT_FOUND ours_function
#define NVML_ERROR_GPU_IS_LOST ours_lost
#define NVML_ERROR_ARGUMENT_VERSION_MISMATCH ours_mismatch
#define NVML_ERROR_UNKNOWN ours_unknown
#define nvmlReturn_t ours_return
#define nvmlDevice_t ours_device
#define nvmlEventSet_t ours_event_set
#define nvmlPciInfo_t ours_pci
#define nvmlEventData_t ours_event
#define nvmlValue_t ours_value
#define nvmlFieldValue_t ours_field
#define nvmlViolationTime_t ours_violation
#define nvmlGpuFabricInfo_t ours_fabric
#define nvmlGpuFabricInfo_v2_t ours_fabric_v2
#define nvmlGpmSample_t ours_gpm_sample
#define nvmlGpmSample_st ours_gpm_sample_st
#define nvmlGpmMetric_t ours_gpm_metric
#define nvmlGpmMetricsGet_t ours_gpm_get
#define nvmlGpmSupport_t ours_gpm_support
#define nvmlDevice_st ours_device_st
#define nvmlEventSet_st ours_event_set_st
#include "probe/nvml_abi.h"
#undef nvmlPciInfo_t
#undef nvmlEventData_t
#undef nvmlValue_t
#undef nvmlFieldValue_t
#undef nvmlViolationTime_t
#undef nvmlGpuFabricInfo_t
#undef nvmlGpuFabricInfo_v2_t
#undef nvmlUtilization_t
#undef nvmlGpmSample_t
#undef nvmlGpmMetric_t
#undef nvmlGpmMetricsGet_t
#undef nvmlGpmSupport_t
#undef nvmlProcessInfo_t

#define SAME(a, b) _Static_assert((a) == (b), #a " differs from nvml.h")
#define FIELD(ours, theirs, name)                                                                            \
    SAME(offsetof(ours, name), offsetof(theirs, name));                                                      \
    SAME(sizeof((ours){0}.name), sizeof((theirs){0}.name))

SAME(ours_clock_sm, theirs_clock_sm);
SAME(ours_clock_mem, theirs_clock_mem);
SAME(ours_insufficient, theirs_insufficient);
SAME(sizeof(ours_process), sizeof(nvmlProcessInfo_t));
FIELD(ours_process, nvmlProcessInfo_t, pid);
FIELD(ours_process, nvmlProcessInfo_t, usedGpuMemory);
SAME(ours_success, theirs_success);
SAME(ours_invalid, theirs_invalid);
SAME(ours_not_supported, theirs_not_supported);
SAME(ours_not_loaded, theirs_not_loaded);
SAME(ours_timeout, theirs_timeout);
SAME(ours_function, theirs_function);
SAME(ours_lost, theirs_lost);
SAME(ours_mismatch, theirs_mismatch);
SAME(ours_unknown, theirs_unknown);
SAME(sizeof(ours_pci), sizeof(nvmlPciInfo_t));
FIELD(ours_pci, nvmlPciInfo_t, busIdLegacy);
FIELD(ours_pci, nvmlPciInfo_t, domain);
FIELD(ours_pci, nvmlPciInfo_t, bus);
FIELD(ours_pci, nvmlPciInfo_t, device);
FIELD(ours_pci, nvmlPciInfo_t, pciDeviceId);
FIELD(ours_pci, nvmlPciInfo_t, pciSubSystemId);
FIELD(ours_pci, nvmlPciInfo_t, busId);
SAME(sizeof(ours_event), sizeof(nvmlEventData_t));
FIELD(ours_event, nvmlEventData_t, eventType);
FIELD(ours_event, nvmlEventData_t, eventData);
FIELD(ours_event, nvmlEventData_t, gpuInstanceId);
FIELD(ours_event, nvmlEventData_t, computeInstanceId);
SAME(NVML_EVENT_TYPE_SINGLE_BIT_ECC, nvmlEventTypeSingleBitEccError);
SAME(NVML_EVENT_TYPE_DOUBLE_BIT_ECC, nvmlEventTypeDoubleBitEccError);
SAME(NVML_EVENT_TYPE_XID_CRITICAL, nvmlEventTypeXidCriticalError);
#ifdef nvmlEventTypeGpuRecoveryAction
SAME(NVML_EVENT_TYPE_SINGLE_BIT_STORM, nvmlEventTypeSingleBitEccErrorStorm);
SAME(NVML_EVENT_TYPE_ROW_REMAPPED, nvmlEventTypeDramRetirementEvent);
SAME(NVML_EVENT_TYPE_ROW_REMAP_FAILED, nvmlEventTypeDramRetirementFailure);
SAME(NVML_EVENT_TYPE_POISON, nvmlEventTypeNonFatalPoisonError);
SAME(NVML_EVENT_TYPE_POISON_FATAL, nvmlEventTypeFatalPoisonError);
SAME(NVML_EVENT_TYPE_UNAVAILABLE, nvmlEventTypeGpuUnavailableError);
SAME(NVML_EVENT_TYPE_RECOVERY_ACTION, nvmlEventTypeGpuRecoveryAction);
#endif
SAME(NVML_REASON_GPU_IDLE, nvmlClocksThrottleReasonGpuIdle);
SAME(NVML_REASON_APPLICATIONS_CLOCKS, nvmlClocksThrottleReasonApplicationsClocksSetting);
SAME(NVML_REASON_SW_POWER_CAP, nvmlClocksThrottleReasonSwPowerCap);
SAME(NVML_REASON_HW_SLOWDOWN, nvmlClocksThrottleReasonHwSlowdown);
SAME(NVML_REASON_SYNC_BOOST, nvmlClocksThrottleReasonSyncBoost);
SAME(NVML_REASON_SW_THERMAL_SLOWDOWN, nvmlClocksThrottleReasonSwThermalSlowdown);
SAME(NVML_REASON_HW_THERMAL_SLOWDOWN, nvmlClocksThrottleReasonHwThermalSlowdown);
SAME(NVML_REASON_HW_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
SAME(NVML_MEMORY_ERROR_CORRECTED, NVML_MEMORY_ERROR_TYPE_CORRECTED);
SAME(NVML_MEMORY_ERROR_UNCORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
SAME(NVML_ECC_VOLATILE, NVML_VOLATILE_ECC);
SAME(NVML_ECC_AGGREGATE, NVML_AGGREGATE_ECC);
SAME(sizeof(ours_field), sizeof(nvmlFieldValue_t));
FIELD(ours_field, nvmlFieldValue_t, fieldId);
FIELD(ours_field, nvmlFieldValue_t, scopeId);
FIELD(ours_field, nvmlFieldValue_t, valueType);
FIELD(ours_field, nvmlFieldValue_t, nvmlReturn);
FIELD(ours_field, nvmlFieldValue_t, value);
SAME(NVML_TYPE_UNSIGNED_INT, NVML_VALUE_TYPE_UNSIGNED_INT);
SAME(NVML_TYPE_UNSIGNED_LONG, NVML_VALUE_TYPE_UNSIGNED_LONG);
SAME(NVML_TYPE_UNSIGNED_LONG_LONG, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
SAME(NVML_TYPE_SIGNED_LONG_LONG, NVML_VALUE_TYPE_SIGNED_LONG_LONG);
#if NVML_FI_MAX > 167 /* since some header between 11.8 and 12.4 */
SAME(NVML_TYPE_SIGNED_INT, NVML_VALUE_TYPE_SIGNED_INT);
FIELD(ours_value, nvmlValue_t, siVal);
#endif
SAME(NVML_FIELD_NVLINK_CRC_FLIT_TOTAL, NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL);
SAME(NVML_FIELD_NVLINK_CRC_DATA_TOTAL, NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL);
SAME(NVML_FIELD_NVLINK_REPLAY_TOTAL, NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL);
SAME(NVML_FIELD_NVLINK_RECOVERY_TOTAL, NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL);
SAME(NVML_FIELD_POWER_VIOLATION_NS, NVML_FI_DEV_PERF_POLICY_POWER);
SAME(NVML_FIELD_THERMAL_VIOLATION_NS, NVML_FI_DEV_PERF_POLICY_THERMAL);
#ifdef NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS
SAME(NVML_FIELD_NVLINK5_RCV_ERRORS, NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS);
SAME(NVML_FIELD_NVLINK5_RECOVERY_EVENTS, NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS);
#endif
#ifdef NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
SAME(NVML_FIELD_RECOVERY_ACTION, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION);
#endif
#ifdef NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN
SAME(NVML_FIELD_POWER_VIOLATION_NS, NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP);
SAME(NVML_FIELD_SW_THERMAL_NS, NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN);
SAME(NVML_FIELD_HW_THERMAL_NS, NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN);
SAME(NVML_FIELD_HW_POWER_BRAKE_NS, NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN);
#endif
SAME(sizeof(ours_violation), sizeof(nvmlViolationTime_t));
FIELD(ours_violation, nvmlViolationTime_t, violationTime);
SAME(sizeof(ours_utilization), sizeof(nvmlUtilization_t));
FIELD(ours_utilization, nvmlUtilization_t, gpu);
FIELD(ours_utilization, nvmlUtilization_t, memory);
SAME(sizeof(ours_gpm_metric), sizeof(nvmlGpmMetric_t));
FIELD(ours_gpm_metric, nvmlGpmMetric_t, metricId);
FIELD(ours_gpm_metric, nvmlGpmMetric_t, nvmlReturn);
FIELD(ours_gpm_metric, nvmlGpmMetric_t, value);
FIELD(ours_gpm_get, nvmlGpmMetricsGet_t, version);
FIELD(ours_gpm_get, nvmlGpmMetricsGet_t, numMetrics);
FIELD(ours_gpm_get, nvmlGpmMetricsGet_t, sample1);
FIELD(ours_gpm_get, nvmlGpmMetricsGet_t, sample2);
SAME(offsetof(ours_gpm_get, metrics), offsetof(nvmlGpmMetricsGet_t, metrics));
SAME(sizeof(ours_gpm_support), sizeof(nvmlGpmSupport_t));
FIELD(ours_gpm_support, nvmlGpmSupport_t, isSupportedDevice);
SAME(NVML_GPM_VERSION, NVML_GPM_METRICS_GET_VERSION);
SAME(NVML_GPM_VERSION, NVML_GPM_SUPPORT_VERSION);
SAME(NVML_GPM_SM_ACTIVE, NVML_GPM_METRIC_SM_UTIL);
SAME(NVML_GPM_TENSOR_ACTIVE, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
SAME(NVML_POLICY_POWER, NVML_PERF_POLICY_POWER);
SAME(NVML_POLICY_THERMAL, NVML_PERF_POLICY_THERMAL);
SAME(NVML_LINK_REPLAY, NVML_NVLINK_ERROR_DL_REPLAY);
SAME(NVML_LINK_RECOVERY, NVML_NVLINK_ERROR_DL_RECOVERY);
SAME(NVML_LINK_CRC_FLIT, NVML_NVLINK_ERROR_DL_CRC_FLIT);
SAME(NVML_LINK_CRC_DATA, NVML_NVLINK_ERROR_DL_CRC_DATA);
/* Older headers have fewer. */
_Static_assert(NVML_MOST_LINKS >= NVML_NVLINK_MAX_LINKS, "nvml.h has more links");
#ifdef nvmlGpuFabricInfo_v2
SAME(sizeof(ours_fabric), sizeof(nvmlGpuFabricInfo_t));
FIELD(ours_fabric, nvmlGpuFabricInfo_t, clusterUuid);
FIELD(ours_fabric, nvmlGpuFabricInfo_t, status);
FIELD(ours_fabric, nvmlGpuFabricInfo_t, cliqueId);
FIELD(ours_fabric, nvmlGpuFabricInfo_t, state);
SAME(NVML_GPU_FABRIC_INFO_V2, nvmlGpuFabricInfo_v2);
SAME(sizeof(ours_fabric_v2), sizeof(nvmlGpuFabricInfo_v2_t));
SAME(NVML_FABRIC_COMPLETED, NVML_GPU_FABRIC_STATE_COMPLETED);
FIELD(ours_fabric_v2, nvmlGpuFabricInfo_v2_t, clusterUuid);
FIELD(ours_fabric_v2, nvmlGpuFabricInfo_v2_t, status);
FIELD(ours_fabric_v2, nvmlGpuFabricInfo_v2_t, cliqueId);
FIELD(ours_fabric_v2, nvmlGpuFabricInfo_v2_t, state);
#endif
