/* What calls of NVML cost: the processor's time that each took with an H100 and driver 580.159.04, medians of
 * 200 calls. What NVML answers out of its own memory, within a microsecond, is free. */
#ifndef RAILYARD_NVML_COSTS_H
#define RAILYARD_NVML_COSTS_H

#include "probe/nvml_abi.h"

#include <string.h>
#include <time.h>

static unsigned long priced; /* how many GPUs there are whose calls cost something; 0: none does */

static double thread_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + (double)now.tv_nsec / 1e3;
}

static void spend(double us) {
    if (!priced) return;
    for (const double end = thread_us() + us; thread_us() < end;) {}
}

/* Of one call, by what it is of. */
static void pay(const char* what) {
    static const struct {
        const char* what;
        double us;
    } prices[] = {{"pcie_width", 30}, {"pcie_replay", 110}, {"violation", 550},
                  {"links", 6.4},     {"fabric", 6},        {"pid", 15},
                  {"limit_mw", 340},  {"gpm", 570},         {"gpm_metrics", 1100}};
    for (size_t i = 0; priced && i < sizeof prices / sizeof *prices; i++)
        if (!strcmp(prices[i].what, what)) spend(prices[i].us);
}

/* Of all fields of one call. The violation times are one question to the driver. */
static void pay_fields(const nvmlFieldValue_t* values, int count) {
    int policies = 0;
    for (int i = 0; priced && i < count; i++)
        if (values[i].fieldId == NVML_FIELD_RECOVERY_ACTION)
            spend(8);
        else if (values[i].fieldId == NVML_FIELD_HW_THERMAL_NS ||
                 values[i].fieldId == NVML_FIELD_HW_POWER_BRAKE_NS)
            spend(640);
        else if (values[i].fieldId == NVML_FIELD_POWER_VIOLATION_NS ||
                 values[i].fieldId == NVML_FIELD_THERMAL_VIOLATION_NS)
            policies = 1;
    if (policies) spend(570);
}

#endif
