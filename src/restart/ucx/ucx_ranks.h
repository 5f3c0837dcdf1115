/* Which rank an address of a UCX worker belongs to, as PMIx told it to this thread: Open MPI asks PMIx for
 * what a rank has published and makes its endpoint of that at once (mca_pml_ucx_recv_worker_address, the same
 * in 4.1 and in August 2026). Nothing of the address is read but that it is the same: its beginning, which
 * holds the worker's random number (ucp/wireup/address.c), is compared with what was published. Where it is
 * not the same, nothing was fetched, or it belongs to another world, the peer is not known. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* PMIx has answered a question for the key `key` of process `rank` in the world `world` with these bytes;
 * NULL: with something else. Kept until the thread's next question for such a key. */
void ry_ucx_published(const char* world, uint32_t rank, const char* key, const void* bytes, size_t size);

/* The rank in this process's own world (PMIX_NAMESPACE) that published the worker's address; -1: not known.
 * Of a known one its first 9 bytes are read, which every address has. */
long long ry_ucx_rank_of(const void* address);
