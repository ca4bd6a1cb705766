// Running out of memory anywhere in the library leaves the C interface as a status: no exception,
// no crash.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "warpseal/slots.h"
#include "warpseal/warpseal.hpp"

// Counts down every C++ allocation of this program.

namespace {
std::atomic<long> allocations_left{-1};  // negative: unlimited

void* counted(size_t bytes, size_t alignment) {
    if (allocations_left.load() >= 0 && allocations_left.fetch_sub(1) == 0) {
        allocations_left = 0;  // this one and all later ones fail
        return nullptr;
    }
    return std::aligned_alloc(alignment,
                              (bytes + alignment - 1) / alignment * alignment + alignment);
}

void* counted_or_throw(size_t bytes, size_t alignment) {
    void* memory = counted(bytes, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

// A separate function, so that the compiler does not pair this free with a new elsewhere.
__attribute__((noinline)) void give_back(void* memory) { std::free(memory); }

}  // namespace

void* operator new(size_t bytes) { return counted_or_throw(bytes, 16); }
void* operator new[](size_t bytes) { return counted_or_throw(bytes, 16); }
void* operator new(size_t bytes, std::align_val_t alignment) {
    return counted_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, 16); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, 16); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { give_back(memory); }

namespace {

// Fails the first allocations one by one, then a sample of the many in the self-tests. All later
// allocations fail too. Each run returns a clean status, never an exception, until the work
// succeeds.
TEST(Memory, EveryAllocationMayFail) {
    std::vector<uint8_t> text(3000000), iv(16), tag(32), secret(32), pair(64, 1);
    pair[0] = 2;
    int failures = 0;
    warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
    warpseal_engine_options cpu = {};
    cpu.struct_bytes = sizeof cpu;
    cpu.device = "cpu";
    cpu.threads = 3;
    for (long n = 0; n < 1000000 && status != WARPSEAL_OK; n += 1 + n / 32) {
        warpseal_engine* engine = nullptr;
        warpseal_key *key = nullptr, *units = nullptr;
        size_t written = 0;
        allocations_left = n;
        status = warpseal_engine_create(&cpu, &engine);
        if (status == WARPSEAL_OK)
            status = warpseal_key_create(engine, "aes-256", secret.data(), 32, &key);
        if (status == WARPSEAL_OK)
            status = warpseal_encrypt(key, WARPSEAL_CTR, iv.data(), 16, text.data(), text.data(),
                                      text.size());
        if (status == WARPSEAL_OK)
            status = warpseal_seal(key, WARPSEAL_GCM, iv.data(), nullptr, 0, text.data(),
                                   text.data(), text.size(), tag.data(), 16);
        if (status == WARPSEAL_OK)
            status = warpseal_open(key, WARPSEAL_GCM, iv.data(), 12, nullptr, 0, text.data(),
                                   text.data(), text.size(), tag.data(), 16);
        if (status == WARPSEAL_OK)
            status = warpseal_decrypt(key, WARPSEAL_CBC, iv.data(), 16, text.data(), text.data(),
                                      text.size());
        if (status == WARPSEAL_OK)
            status = warpseal_encrypt_padded(key, iv.data(), 16, text.data(), 1000, text.data(),
                                             text.size(), &written);
        if (status == WARPSEAL_OK)
            status = warpseal_mac(key, WARPSEAL_CMAC, text.data(), 1000, tag.data(), 16);
        if (status == WARPSEAL_OK)
            status = warpseal_key_create_xts(engine, "aes-256", pair.data(), 64, &units);
        if (status == WARPSEAL_OK)
            status =
                warpseal_xts_encrypt(units, iv.data(), 4096, text.data(), text.data(), text.size());
        allocations_left = -1;
        if (status != WARPSEAL_OK) {
            ASSERT_EQ(status, WARPSEAL_OUT_OF_MEMORY) << n;
            ++failures;
        }
        warpseal_key_destroy(units);
        warpseal_key_destroy(key);
        warpseal_engine_destroy(engine);
    }
    EXPECT_EQ(status, WARPSEAL_OK);
    EXPECT_GT(failures, 5);
}

// A change of key slots that runs out of memory leaves both header copies as they were.
TEST(Memory, NoHeaderCopyIsWrittenAlone) {
    const warpseal::Engine engine("cpu", 1);
    const uint8_t old_key[32] = {1}, new_key[32] = {2};
    const warpseal_secret secrets[] = {{WARPSEAL_SECRET_KEY, old_key, 32},
                                       {WARPSEAL_SECRET_KEY, new_key, 32}};
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.secrets = secrets;
    options.secret_count = 1;
    const int plain = memfd_create("plain", 0), file = memfd_create("sealed", 0);
    EXPECT_EQ(write(plain, "text", 4), 4);
    lseek(plain, 0, SEEK_SET);
    warpseal::seal_file(engine, plain, file, options);
    close(plain);
    std::vector<uint8_t> before(static_cast<size_t>(lseek(file, 0, SEEK_CUR))), now(before.size());
    lseek(file, 0, SEEK_SET);
    const auto read_file = [&](std::vector<uint8_t>& out) {
        ASSERT_EQ(pread(file, out.data(), out.size(), 0), static_cast<ssize_t>(out.size()));
    };
    read_file(before);
    warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
    int failures = 0;
    for (long n = 0; n < 1000 && status != WARPSEAL_OK; ++n) {
        warpseal_slots_change change = {};
        change.struct_bytes = sizeof change;
        change.add = secrets + 1;
        change.add_count = 1;
        warpseal_file_result result = {};
        result.struct_bytes = sizeof result;
        allocations_left = n;
        status = warpseal_file_slots_change(engine.get(), file, &options, &change, &result);
        allocations_left = -1;
        read_file(now);
        ASSERT_EQ(now == before, status == WARPSEAL_OUT_OF_MEMORY) << n;
        failures += status == WARPSEAL_OUT_OF_MEMORY ? 1 : 0;
    }
    close(file);
    EXPECT_EQ(status, WARPSEAL_OK);
    EXPECT_GT(failures, 2);
}

}  // namespace
