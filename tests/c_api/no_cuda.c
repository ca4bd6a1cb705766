/* Loads the shared library where no CUDA driver can be found: everything runs on the cores, and the
   GPU is refused clearly.

     no_cuda LIBRARY FOLDER     FOLDER holds an invalid file libcuda.so.1 that hides the machine's
   driver, if any */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "warpseal/warpseal.h"

static int failures = 0;

static void expect(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "FAILED: %s\n", what);
    ++failures;
}

/* Finds a function of the library, through memcpy: ISO C has no cast from void* to a function. */
static void find(void* library, const char* name, void* function) {
    void* symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "FAILED: %s is not exported\n", name);
        exit(1);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static int driver_is_mapped(void) {
    char line[4096];
    int mapped = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        mapped |= strstr(line, "libcuda.so") != NULL;
    if (maps != NULL) fclose(maps);
    return mapped;
}

static void run(void* library) {
    __typeof__(&warpseal_engine_create) create;
    __typeof__(&warpseal_engine_destroy) destroy;
    __typeof__(&warpseal_engine_pick) pick;
    __typeof__(&warpseal_key_create) key_create;
    __typeof__(&warpseal_key_destroy) key_destroy;
    __typeof__(&warpseal_seal) seal;
    __typeof__(&warpseal_open) open;
    __typeof__(&warpseal_target_at) target_at;
    __typeof__(&warpseal_device_at) device_at;
    __typeof__(&warpseal_host_alloc) host_alloc;
    __typeof__(&warpseal_host_free) host_free;
    __typeof__(&warpseal_device_alloc) device_alloc;
    find(library, "warpseal_engine_create", &create);
    find(library, "warpseal_engine_destroy", &destroy);
    find(library, "warpseal_engine_pick", &pick);
    find(library, "warpseal_key_create", &key_create);
    find(library, "warpseal_key_destroy", &key_destroy);
    find(library, "warpseal_seal", &seal);
    find(library, "warpseal_open", &open);
    find(library, "warpseal_target_at", &target_at);
    find(library, "warpseal_device_at", &device_at);
    find(library, "warpseal_host_alloc", &host_alloc);
    find(library, "warpseal_host_free", &host_free);
    find(library, "warpseal_device_alloc", &device_alloc);

    static unsigned char text[100000], out[100000];
    unsigned char secret[32] = {5}, iv[12], tag[16];
    warpseal_engine* engine = NULL;
    warpseal_key* key = NULL;
    void* memory = NULL;
    expect(create(NULL, &engine) == WARPSEAL_OK, "an engine on auto");
    expect(key_create(engine, "aes-256", secret, sizeof secret, &key) == WARPSEAL_OK, "a key");
    if (failures != 0) return;
    expect(!driver_is_mapped(), "nothing looked for the driver so far");
    expect(seal(key, WARPSEAL_GCM, iv, NULL, 0, text, out, sizeof text, tag, sizeof tag) ==
               WARPSEAL_OK,
           "seal");
    expect(open(key, WARPSEAL_GCM, iv, sizeof iv, NULL, 0, out, out, sizeof out, tag, sizeof tag) ==
               WARPSEAL_OK,
           "open");
    expect(memcmp(text, out, sizeof text) == 0, "opened text is the text");
    expect(strcmp(pick(engine, "aes-256", WARPSEAL_GCM, UINT64_C(1) << 40), "cuda") != 0,
           "auto does not pick a GPU");
    expect(host_alloc(engine, 1 << 20, &memory) == WARPSEAL_OK, "host memory without a GPU");
    host_free(engine, memory);
    expect(device_alloc(engine, 16, &memory) == WARPSEAL_NO_DEVICE, "device memory is refused");
    key_destroy(key);
    destroy(engine);

    warpseal_engine_options named = {0};
    named.struct_bytes = (uint32_t)sizeof named;
    named.device = "cuda";
    expect(create(&named, &engine) == WARPSEAL_NO_DEVICE && engine == NULL,
           "a named GPU is refused");
    warpseal_device_info device;
    expect(device_at(0, &device) == WARPSEAL_NO_DEVICE, "no devices are listed");
    warpseal_target_info target;
    int found = 0;
    for (size_t i = 0; target_at(i, &target) == WARPSEAL_OK; ++i) {
        if (strcmp(target.name, "cuda") != 0) continue;
        found = 1;
        expect(!target.usable && target.reason[0] != 0,
               "the cuda target says why it cannot be used");
        printf("cuda: %s\n", target.reason);
    }
    expect(found, "the cuda target is listed");
    expect(!driver_is_mapped(), "the driver is hidden");
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const char* path = getenv("LD_LIBRARY_PATH");
    if (path == NULL || strcmp(path, argv[2]) != 0) { /* the loader reads it once, at the start */
        setenv("LD_LIBRARY_PATH", argv[2], 1);
        execv("/proc/self/exe", argv);
        return 2;
    }
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "FAILED: %s\n", dlerror());
        return 1;
    }
    run(library);
    return failures == 0 ? 0 : 1;
}
