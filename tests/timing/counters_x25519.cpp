// X25519 for warpseal-counters: scalars of many kinds, with points of both curves.
#include <algorithm>
#include <memory>

#include "backends/gpu_backend.h"
#include "backends/kem_catalogue.h"
#include "support/random.h"
#include "timing/counting.h"

namespace {

using counting::expect;
using counting::Input;
using warpseal::KemOperation;
using Text = std::vector<uint8_t>;

constexpr size_t items = 256, bytes = 32;  // of each call, and of each of its strings

// The arrays of a call, in one allocation.
class X25519 {
public:
    explicit X25519(const warpseal::CudaKem& kem) : kem_(kem) {
        size_t work_bytes = 0;
        for (const KemOperation operation : operations)
            work_bytes = std::max(work_bytes, kem.work_bytes(operation, items));
        expect(warpseal::gpu_backend()->device_alloc(0, array_count * items * bytes + work_bytes,
                                                     &memory_) == WARPSEAL_OK,
               "device memory");
        memory_bytes_ = array_count * items * bytes + work_bytes;
    }
    ~X25519() { warpseal::gpu_backend()->device_free(0, memory_, memory_bytes_); }
    X25519(const X25519&) = delete;
    X25519& operator=(const X25519&) = delete;

    static constexpr KemOperation operations[] = {KemOperation::keypair, KemOperation::encapsulate,
                                                  KemOperation::decapsulate};

    void count(KemOperation operation) {
        const auto scalars = [&](const char* what, auto byte_at) {
            return Input{what, [=, this] {
                             Text all(items * bytes);
                             for (size_t i = 0; i < all.size(); ++i)
                                 all[i] = static_cast<uint8_t>(byte_at(i));
                             put(scalar_array, all);
                             put(point_array, tests::Random(2).text(items * bytes));
                         }};
        };
        std::vector<Input> inputs = {
            scalars("zeros", [](size_t) { return 0; }),
            scalars("ones", [](size_t) { return 0xff; }),
            scalars("0x55", [](size_t) { return 0x55; }),
            scalars("0xaa", [](size_t) { return 0xaa; }),
            scalars("0x88, digits of 8", [](size_t) { return 0x88; }),
            scalars("0x77, digits of 7", [](size_t) { return 0x77; }),
            scalars("counting bytes", [](size_t i) { return i; }),
            scalars("one bit", [](size_t i) { return i % 64 == 3 ? 1 : 0; }),
        };
        for (int i = 0; i < counting::random_inputs; ++i)
            inputs.push_back(drawn("random " + std::to_string(i), 100 + static_cast<uint64_t>(i)));
        counting::count(name(operation), inputs, drawn("equal", 4), [=, this] { run(operation); });
    }
    static std::string name(KemOperation operation) {
        static constexpr const char* names[] = {"key generation", "encapsulation", "decapsulation"};
        return std::string("x25519 ") + names[static_cast<int>(operation)];
    }

private:
    // Public keys and ciphertexts are points; secret keys and coins are scalars.
    enum Array { scalar_array, point_array, product_array, secret_array, array_count };
    uint8_t* at(Array array) const {
        return static_cast<uint8_t*>(memory_) + static_cast<size_t>(array) * items * bytes;
    }
    void put(Array array, const Text& text) const {
        expect(
            warpseal::gpu_backend()->upload(0, at(array), text.data(), text.size()) == WARPSEAL_OK,
            "upload");
    }
    Input drawn(const std::string& what, uint64_t number) {
        return {what, [=, this] {
                    tests::Random random(number);
                    put(scalar_array, random.text(items * bytes));
                    put(point_array, random.text(items * bytes));
                }};
    }
    void run(KemOperation operation) {
        const bool decapsulate = operation == KemOperation::decapsulate,
                   keypair = operation == KemOperation::keypair;
        warpseal_kem_batch b{};
        b.struct_bytes = sizeof b;
        b.count = items;
        b.coins = at(scalar_array);
        b.public_keys = at(keypair ? product_array : point_array);
        b.secret_keys = at(decapsulate ? scalar_array : secret_array);
        b.ciphertexts = at(decapsulate ? point_array : product_array);
        b.shared_secrets = at(secret_array);
        b.coins_stride = b.public_key_stride = b.secret_key_stride = b.ciphertext_stride =
            b.shared_secret_stride = bytes;
        expect(kem_.run[static_cast<int>(operation)](b, items, at(array_count), nullptr) ==
                   WARPSEAL_OK,
               name(operation));
    }

    const warpseal::CudaKem& kem_;
    void* memory_ = nullptr;
    size_t memory_bytes_ = 0;
};

}  // namespace

std::vector<counting::TestCase> counting::x25519_test_cases() {
    std::vector<TestCase> all;
    for (const KemOperation operation : X25519::operations)
        all.push_back({X25519::name(operation),
                       [=] { X25519(*warpseal::cuda_kem("x25519")).count(operation); }});
    return all;
}
