// A library in place of the NVIDIA driver's. Its loading takes 300 ms.
#include <time.h>

extern _Atomic int driver_state;  // of driver_test.cpp

__attribute__((constructor)) static void load_slowly(void) {
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 300000000};
    driver_state = 1;
    nanosleep(&pause, 0);
    driver_state = 2;
}
