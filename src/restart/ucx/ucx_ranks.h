/* The rank that owns the address of a UCX worker, as PMIx returned it to this thread: Open MPI asks PMIx for
 * what a rank has published and creates its endpoint from that at once (mca_pml_ucx_recv_worker_address, the
 * same in 4.1 and in August 2026). The address is only compared: its beginning, which contains the worker's
 * random number (ucp/wireup/address.c), with what was published. If they differ, nothing was fetched, or the
 * address belongs to another namespace, the peer is unknown. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* PMIx has answered a query for the key `key` of process `rank` in the namespace `world` with these bytes;
 * NULL: with something else. Kept until the thread's next query for such a key. */
void ry_ucx_published(const char* world, uint32_t rank, const char* key, const void* bytes, size_t size);

/* The rank in this process's own namespace (PMIX_NAMESPACE) that published the worker's address; -1: unknown.
 * Only the first 9 bytes of the address are read, which every address has. */
long long ry_ucx_rank_of(const void* address);
