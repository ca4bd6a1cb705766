// Faults that a sanitizer must report, or a build with it is blind (scripts/sanitize, ctest):
//
//   warpseal-planted-faults heap_overflow | use_after_free | signed_overflow | data_race
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

// Volatile, so that the compiler neither evaluates a fault nor removes it.
volatile size_t bytes = 16;
int shared = 0;

int heap_overflow() {
    char* const memory = static_cast<char*>(std::malloc(bytes));
    std::memset(memory, 1, bytes);
    volatile const size_t beyond = bytes;
    const int read = memory[beyond];
    std::free(memory);
    return read;
}

int use_after_free() {
    char* const memory = static_cast<char*>(std::malloc(bytes));
    std::memset(memory, 1, bytes);
    char* volatile alias = memory;
    std::free(memory);
    return alias[0];
}

int signed_overflow() {
    volatile int most = INT_MAX;
    return most + 1;
}

int data_race() {
    const auto count = [] {
        for (int i = 0; i < 10000; ++i) ++shared;
    };
    std::thread other(count);
    count();
    other.join();
    return shared;
}

}  // namespace

int main(int argc, char** argv) {
    const struct {
        const char* name;
        int (*plant)();
    } faults[] = {{"heap_overflow", heap_overflow},
                  {"use_after_free", use_after_free},
                  {"signed_overflow", signed_overflow},
                  {"data_race", data_race}};
    for (const auto& fault : faults)
        if (argc == 2 && std::strcmp(argv[1], fault.name) == 0) {
            std::printf("%s went unnoticed: %d\n", fault.name, fault.plant());
            return 0;
        }
    std::fprintf(stderr, "usage: warpseal-planted-faults FAULT; planted.cpp lists them\n");
    return 2;
}
