/* What this process has seen of its UCX endpoints: a small table, filled by the calls that make and end
 * endpoints, read by the thread that tells the host's agent. Every function locks for a moment and none
 * allocates without bound; none calls UCX. */
#pragma once

#include <stddef.h>

/* An endpoint was made. `info` is what ucp_ep_print_info() says of it: each "lane[N]:
 * M:TRANSPORT/DEVICE.PATH" is a way that it sends; NULL where its ways are chosen later, once it is
 * connected. `peer`: an address, "" where the caller gave none that can be read. */
void ry_ucx_made(const void* worker, const void* endpoint, const char* info, const char* peer);

/* UCX made none. `why` is UCX's word for its status. */
void ry_ucx_refused(const char* peer, const char* why);

/* UCX told the program that an endpoint failed; `timeout`: since its peer did not answer any more, which
 * keepalive and the retries of InfiniBand find. */
void ry_ucx_failed(const void* endpoint, int timeout, const char* why);

/* The program has closed it, or the worker that it belonged to. */
void ry_ucx_closed(const void* endpoint);
void ry_ucx_worker_gone(const void* worker);

/* What is known so far is that UCX cannot be looked at, and why. */
void ry_ucx_unseen(const char* why);

/* TCP has sent so many segments a second time so far, the most of them since the last call to this peer. */
void ry_ucx_resent(unsigned long long segments, const char* peer);

/* Whether an endpoint goes over TCP. */
int ry_ucx_uses_tcp(void);

/* Reads what the line needs of the environment. Called where the program called UCX: the environment may be
 * changed and moved by the program while another thread reads it. */
void ry_ucx_remember(void);

/* What an agent is told: a line of wire/job_lines.hpp with its newline, at most `size` bytes with the final
 * zero. Its length; 0: it did not fit, or the environment named no job. Sets *changes to a number that the
 * next change raises. */
size_t ry_ucx_line(char* into, size_t size, unsigned long* changes);
unsigned long ry_ucx_changes(void);

/* Around fork(): the child begins with nothing. */
void ry_ucx_view_prepare(void);
void ry_ucx_view_parent(void);
void ry_ucx_view_child(void);
