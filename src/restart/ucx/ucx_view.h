/* What this process has seen of its UCX endpoints: a small table, filled by the calls that create and destroy
 * endpoints, read by the thread that reports to the host's agent. Every function takes a lock briefly, none
 * allocates without bound, and none calls UCX. */
#pragma once

#include <stddef.h>

/* An endpoint was created. `info` is the output of ucp_ep_print_info(): each "lane[N]:
 * M:TRANSPORT/DEVICE.PATH" is a transport on which it sends; NULL if they are selected later, once it is
 * connected. `peer`: an address, "" if the caller gave none that can be read. */
void ry_ucx_made(const void* worker, const void* endpoint, const char* info, const char* peer);

/* UCX created no endpoint. `why` is UCX's text for the status. */
void ry_ucx_refused(const char* peer, const char* why);

/* UCX reported to the program that an endpoint failed; `timeout`: because its peer no longer answered, as
 * detected by keepalive and the retries of InfiniBand. */
void ry_ucx_failed(const void* endpoint, int timeout, const char* why);

/* The program has closed it, or its worker. */
void ry_ucx_closed(const void* endpoint);
void ry_ucx_worker_gone(const void* worker);

/* UCX cannot be examined, for this reason. */
void ry_ucx_unseen(const char* why);

/* TCP has retransmitted this many segments so far; since the last call, most of them to this peer. */
void ry_ucx_resent(unsigned long long segments, const char* peer);

/* Whether an endpoint goes over TCP. */
int ry_ucx_uses_tcp(void);

/* Reads what the line needs from the environment. Call it in a thread that called UCX: the program may change
 * and move the environment while another thread reads it. */
void ry_ucx_remember(void);

/* The report for an agent: a line of wire/job_lines.hpp with its newline, at most `size` bytes with the final
 * NUL. Returns its length; 0: it did not fit, or the environment has no job. Sets *changes to a number that
 * increases with the next change. */
size_t ry_ucx_line(char* into, size_t size, unsigned long* changes);
unsigned long ry_ucx_changes(void);

/* Around fork(): the child starts with an empty table. */
void ry_ucx_view_prepare(void);
void ry_ucx_view_parent(void);
void ry_ucx_view_child(void);
