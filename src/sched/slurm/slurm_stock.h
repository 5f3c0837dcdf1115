/* Slurm's own select_cons_tres.so behind ours: found, loaded, and every select_p_ function that ours does not
 * define itself jumps straight into it. */
#ifndef RAILYARD_SCHED_SLURM_STOCK_H
#define RAILYARD_SCHED_SLURM_STOCK_H

/* Looks for select_cons_tres.so in the directories of slurm.conf's PluginDir, passing over the file this
 * code is in, and binds the forwarders. SLURM_SUCCESS, or SLURM_ERROR with the reason logged. */
int stock_load(void);
void stock_unload(void);

/* A function of the loaded plugin; NULL (logged) when it has none of that name. */
void* stock_symbol(const char* name);

#endif
