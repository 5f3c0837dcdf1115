/* The cost of NVML calls: the processor time of each with an H100 and driver 580.159.04, medians of 200
 * calls. Calls that NVML answers from its own memory, within a microsecond, are free. */
#ifndef RAILYARD_NVML_COSTS_H
#define RAILYARD_NVML_COSTS_H

#include "probe/nvml_abi.h"

#include <string.h>
#include <time.h>

static unsigned long priced; /* number of GPUs whose calls have a cost; 0: none */

static double thread_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + (double)now.tv_nsec / 1e3;
}

static void spend(double us) {
    if (!priced) return;
    for (const double end = thread_us() + us; thread_us() < end;) {}
}

/* For one call, by the queried item. */
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

/* For all fields of one call. The violation times are one query to the driver. */
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
