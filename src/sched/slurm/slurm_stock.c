#define _GNU_SOURCE /* dladdr */
#include "slurm_inside.h"

#include "slurm_stock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const char plugin_type[]; /* used in log messages */

static void* stock;
static char stock_file[NAME_MAX];

static bool same_file(const char* a, const char* b) {
    struct stat first, second;
    return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* The path of the first such file in PluginDir other than this one. */
static bool find_stock(const char* file, char path[PATH_MAX]) {
    Dl_info self;
    if (!dladdr(&stock, &self)) self.dli_fname = "";
    char *dirs = xstrdup(slurm_conf.plugindir), *rest = NULL;
    bool found = false;
    for (char* dir = strtok_r(dirs, ":", &rest); dir && !found; dir = strtok_r(NULL, ":", &rest)) {
        if (snprintf(path, PATH_MAX, "%s/%s", dir, file) >= PATH_MAX) continue;
        found = !access(path, R_OK) && !same_file(path, self.dli_fname);
    }
    xfree(dirs);
    return found;
}

void* stock_symbol(const char* name) {
    void* symbol = dlsym(stock, name);
    if (!symbol)
        error("%s: %s has no %s: this plugin is for another Slurm release", plugin_type, stock_file, name);
    return symbol;
}

int stock_open(const char* file, const struct stock_forward* forwards, size_t count) {
    char path[PATH_MAX];
    snprintf(stock_file, sizeof(stock_file), "%s", file);
    if (!find_stock(file, path)) {
        error("%s: no %s in PluginDir %s: add the directory of Slurm's own plugins", plugin_type, file,
              slurm_conf.plugindir);
        return SLURM_ERROR;
    }
    stock = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!stock) {
        error("%s: %s", plugin_type, dlerror());
        return SLURM_ERROR;
    }
    for (size_t i = 0; i < count; i++)
        if (!(*forwards[i].to = stock_symbol(forwards[i].name))) {
            stock_unload();
            return SLURM_ERROR;
        }
    debug("%s: decides before %s", plugin_type, path);
    return SLURM_SUCCESS;
}

void stock_unload(void) {
    if (stock) dlclose(stock);
    stock = NULL;
}
