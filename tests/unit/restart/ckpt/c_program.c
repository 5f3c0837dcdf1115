/* A plain C program linked with librailckpt.so alone: the header is C, the symbols are there, no exception,
 * output or exit of the library's own gets in its way. */
#include "restart/ckpt/railckpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            return 1; \
        } \
    } while (0)

int main(void) {
    char dir[] = "/tmp/railckpt-c-XXXXXX", file[4200];
    const char *path;
    railckpt *ck;
    FILE *out;
    struct railckpt_info info = RAILCKPT_INFO_INIT;

    unsetenv("RAIL_CKPT_DIR");
    CHECK(railckpt_open(NULL, &ck) == RAILCKPT_EUSAGE);
    CHECK(ck == NULL);
    CHECK(strstr(railckpt_message(NULL), "RAIL_CKPT_DIR") != NULL);
    CHECK(mkdtemp(dir) != NULL);
    setenv("RAIL_CKPT_DIR", dir, 1);
    CHECK(railckpt_open(NULL, &ck) == RAILCKPT_OK);
    CHECK(railckpt_latest(ck, &info) == RAILCKPT_NONE);
    CHECK(railckpt_begin(ck, 7, &path) == RAILCKPT_OK);
    snprintf(file, sizeof file, "%s/state", path);
    CHECK((out = fopen(file, "w")) != NULL);
    CHECK(fputs("hello", out) >= 0 && fclose(out) == 0);
    CHECK(railckpt_commit(ck) == RAILCKPT_OK);
    CHECK(railckpt_latest(ck, &info) == RAILCKPT_OK);
    CHECK(info.step == 7 && info.files == 1 && info.bytes == 5);
    snprintf(file, sizeof file, "rm -r '%s'", dir);
    railckpt_close(ck);
    CHECK(system(file) == 0);
    return 0;
}
