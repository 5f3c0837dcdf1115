/* Segments retransmitted by TCP, over all connections of this process, including those of others than UCX:
 * they cannot be distinguished, but it is UCX's endpoints that move a job's data. */
#pragma once

#include <stddef.h>

/* The total so far, as counted by the kernel (TCP_INFO), for at most 4096 descriptors. `peer` (at least 64
 * bytes) is set to the address with the most since the last call; "" if there were none. Called by one thread
 * only. */
unsigned long long ry_ucx_resends(char* peer, size_t size);
