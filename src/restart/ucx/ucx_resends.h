/* Segments that TCP sent a second time, over all connections of this process, UCX's and others: nothing tells
 * them apart, but it is UCX's endpoints that move a job's data. */
#pragma once

#include <stddef.h>

/* All so far, as the kernel counts them (TCP_INFO), of at most 4096 descriptors. `peer` (at least 64 bytes)
 * becomes the address with the most since the last call; "" where there were none. One thread calls this. */
unsigned long long ry_ucx_resends(char* peer, size_t size);
