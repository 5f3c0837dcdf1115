/* Tells the host's agent what ucx_view.h knows, over the socket that RAIL_CKPT_SOCKET names.
 *
 * A thread of its own does it, since no call of UCX's says when a burst of new endpoints is over, and since
 * the program's threads must never wait for an agent. It is begun with the first endpoint, sleeps until there
 * is something new, has all signals blocked and a small stack; it wakes up by itself only while an endpoint
 * goes over TCP, each ten seconds, and while there is no agent: then it tries again each second, two, four …
 * each minute. */
#pragma once

/* A function that sends libucs' statistics, to be called each ten seconds from now on, by the same thread;
 * not after exit() has begun. */
void ry_ucx_dump_with(void (*dump)(void));

/* There is something new. Cheap: a flag, and once in a while a write to an eventfd. */
void ry_ucx_tell(void);

void ry_ucx_teller_child(void); /* in the child of fork(): no thread, no descriptors */
