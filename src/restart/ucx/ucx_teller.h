/* Reports the data of ucx_view.h to the host's agent, over the socket in RAIL_CKPT_SOCKET.
 *
 * A separate thread does it, since no UCX call marks the end of a burst of new endpoints, and since the
 * program's threads must never wait for an agent. It starts with the first endpoint, sleeps until there is
 * something new, has all signals blocked and a small stack. It wakes up periodically only while an endpoint
 * uses TCP, every ten seconds, and while there is no agent: then it retries after one second, two, four … up
 * to a minute. */
#pragma once

/* Sets a function that sends libucs' statistics, to be called every ten seconds from now on, by the same
 * thread; not after exit() has begun. */
void ry_ucx_dump_with(void (*dump)(void));

/* There is something new. Cheap: sets a flag, and sometimes writes to an eventfd. */
void ry_ucx_tell(void);

void ry_ucx_teller_child(void); /* in the child of fork(): no thread, no descriptors */
