/* The activity of the double's GPUs: clocks, power, utilization and GPM. Part of nvml_double.c, whose
 * functions it uses. A GPM sample remembers its GPU, and two samples of one GPU return what the state
 * contains now. */
#ifndef RAILYARD_NVML_WORK_H
#define RAILYARD_NVML_WORK_H

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned int* mhz) {
    if (clock == NVML_CLOCK_SM) return give(device, "sm_mhz", 1980, mhz);
    return clock == NVML_CLOCK_MEM ? give(device, "mem_mhz", 2619, mhz) : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* milliwatts) {
    return give(device, "draws_mw", priced ? 600000 : 72000, milliwatts);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int* milliwatts) {
    return give(device, "limit_mw", 700000, milliwatts);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
    nvmlReturn_t result = reach(device, rates, "busy");
    if (result != NVML_SUCCESS) return result;
    rates->gpu = (unsigned int)get(device->index, "busy", priced ? 100 : 0);
    rates->memory = 0;
    return NVML_SUCCESS;
}

struct nvmlGpmSample_st {
    int index;
};

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* support) {
    if (!support || support->version != NVML_GPM_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t result = reach(device, support, "gpm_support");
    if (result == NVML_SUCCESS) support->isSupportedDevice = get(device->index, "gpm", 1) != 0;
    return result;
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
    if (!sample) return NVML_ERROR_INVALID_ARGUMENT;
    *sample = calloc(1, sizeof **sample);
    return *sample ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
    free(sample);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
    nvmlReturn_t result = reach(device, sample, "gpm");
    if (result == NVML_SUCCESS) sample->index = device->index;
    return result;
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* asked) {
    if (!asked || asked->version != NVML_GPM_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (!asked->sample1 || !asked->sample2 || asked->sample1->index != asked->sample2->index)
        return NVML_ERROR_INVALID_ARGUMENT;
    pay("gpm_metrics");
    for (unsigned int i = 0; i < asked->numMetrics && i < NVML_MOST_GPM_METRICS; i++) {
        nvmlGpmMetric_t* metric = &asked->metrics[i];
        const char* key = metric->metricId == NVML_GPM_SM_ACTIVE       ? "sm_active"
                          : metric->metricId == NVML_GPM_TENSOR_ACTIVE ? "tensor_active"
                                                                       : NULL;
        metric->nvmlReturn = key ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
        if (key) metric->value = (double)get(asked->sample2->index, key, 0);
    }
    return NVML_SUCCESS;
}

#endif
