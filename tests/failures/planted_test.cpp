// Functions that handle a refused request wrongly. The runner must report each.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "handles.h"
#include "runner.h"

namespace {

// Through variables, so that the compiler keeps allocations whose memory nobody uses.
void* (*volatile allocate)(size_t) = std::malloc;
void (*volatile give_back)(void*) = std::free;

uint8_t output[64];

// Makes two requests, and handles them right where `refused` returns WARPSEAL_OUT_OF_MEMORY.
template <class Refused>
warpseal_status planted(Refused refused) {
    return works::checked("planted", {{output, sizeof output}}, [&] {
        void* const first = allocate(100);
        if (first == nullptr) return refused();
        void* const second = allocate(100);
        give_back(second);
        give_back(first);
        return second == nullptr ? refused() : WARPSEAL_OK;
    });
}

warpseal_status right() {
    return planted([] { return WARPSEAL_OUT_OF_MEMORY; });
}
warpseal_status ignored() {
    return works::checked("planted", {}, [] {
        auto* const memory = static_cast<volatile uint8_t*>(allocate(100));
        memory[0] = 1;
        give_back(const_cast<uint8_t*>(memory));
        return WARPSEAL_OK;
    });
}
[[gnu::noinline]] void throw_it() { throw std::runtime_error("planted"); }
warpseal_status thrown() {
    return planted([]() noexcept -> warpseal_status {
        throw_it();
        return WARPSEAL_OK;
    });
}
warpseal_status hanging() {
    return planted([] {
        (void)alarm(1);
        (void)pause();
        return WARPSEAL_OUT_OF_MEMORY;
    });
}
warpseal_status undocumented() {
    return planted([] { return WARPSEAL_NOT_AUTHENTIC; });
}
warpseal_status partly_written() {
    return planted([] {
        output[20] = 0;
        return WARPSEAL_OUT_OF_MEMORY;
    });
}
bool closed = false;
warpseal_status never_again() {
    return planted([] {
               closed = true;
               return WARPSEAL_OUT_OF_MEMORY;
           }) == WARPSEAL_OK &&
                   !closed
               ? WARPSEAL_OK
               : WARPSEAL_OUT_OF_MEMORY;
}
warpseal_status leaks_memory() {
    return works::checked("planted", {}, [] {
        void* const first = allocate(100);
        void* const second = allocate(100);
        give_back(second);
        if (second == nullptr) return WARPSEAL_OUT_OF_MEMORY;
        give_back(first);
        return first == nullptr ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_OK;
    });
}
warpseal_status leaks_pages() {
    return planted([] {
        (void)mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return WARPSEAL_OUT_OF_MEMORY;
    });
}
warpseal_status leaks_a_descriptor() {
    return planted([] {
        (void)open("/dev/null", O_RDONLY | O_CLOEXEC);
        return WARPSEAL_OUT_OF_MEMORY;
    });
}
warpseal_status leaks_a_thread() {
    return planted([] {
        try {
            std::thread([] { (void)pause(); }).detach();
        } catch (const std::exception&) {
        }
        return WARPSEAL_OUT_OF_MEMORY;
    });
}
warpseal_status fails_by_itself() {
    return works::checked("planted", {}, [] { return WARPSEAL_OUT_OF_MEMORY; });
}

struct Planted {
    const char* name;
    works::Work work;
    const char* found;  // in the complaint; null: there is none
};

class PlantedFaults : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFaults, IsFound) {
    const runner::Outcome outcome =
        runner::run({GetParam().name, GetParam().work, {injection::Fault::request}});
    if (GetParam().found == nullptr) {
        EXPECT_TRUE(outcome.complaints.empty()) << outcome.complaints[0];
        EXPECT_EQ(outcome.functions.at("planted").points, 2);
        EXPECT_EQ(outcome.functions.at("planted").statuses, 2);
        return;
    }
    ASSERT_FALSE(outcome.complaints.empty());
    EXPECT_NE(outcome.complaints[0].find(GetParam().found), std::string::npos)
        << outcome.complaints[0];
}

INSTANTIATE_TEST_SUITE_P(
    Works, PlantedFaults,
    testing::Values(Planted{"right", right, nullptr}, Planted{"ignored", ignored, "signal"},
                    Planted{"thrown", thrown, "signal"}, Planted{"hanging", hanging, "it hangs"},
                    Planted{"undocumented", undocumented, "see above"},
                    Planted{"partly_written", partly_written, "see above"},
                    Planted{"never_again", never_again, "afterwards"},
                    Planted{"leaks_memory", leaks_memory, "it leaks 1 blocks"},
                    Planted{"leaks_pages", leaks_pages, "4096 mapped bytes"},
                    Planted{"leaks_a_descriptor", leaks_a_descriptor, "1 descriptors"},
                    Planted{"leaks_a_thread", leaks_a_thread, "1 threads"},
                    Planted{"fails_by_itself", fails_by_itself, "see above"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
