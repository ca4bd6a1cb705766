// Parameters with extreme values, in each call that takes some: no access past their declared size,
// and keys and contexts remain usable.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "library.h"

namespace {

using namespace tests;

constexpr uint8_t filling = 0xA5;
constexpr size_t capacity = 8192;  // more than any value has
constexpr size_t sizes[] = {0, 1, 2, 4, 7, 8, 14, 16, 32, 65, 699, 731, 1230, capacity};
// Impossible sizes, declared for a null pointer, or for `room` bytes where nothing is written.
constexpr size_t huge_sizes[] = {std::numeric_limits<size_t>::max() / 2,
                                 std::numeric_limits<size_t>::max()};

// Memory of exactly the declared size: the start of a group's name, without a terminator.
class Exact {
public:
    explicit Exact(size_t bytes) : text_(new uint8_t[bytes]) {
        for (size_t i = 0; i < bytes; ++i)
            text_[i] = i < group_.size() ? static_cast<uint8_t>(group_[i]) : filling;
    }
    void* data() { return text_.get(); }

private:
    static constexpr std::string_view group_ = "ntru_hps2048509";
    std::unique_ptr<uint8_t[]> text_;
};

using Call = std::function<void(const OSSL_PARAM*)>;

void with(const char* name, unsigned type, void* data, size_t bytes, const Call& call) {
    const OSSL_PARAM params[] = {{name, type, data, bytes, OSSL_PARAM_UNMODIFIED}, OSSL_PARAM_END};
    call(params);
}

constexpr unsigned types[] = {OSSL_PARAM_INTEGER,
                              OSSL_PARAM_UNSIGNED_INTEGER,
                              OSSL_PARAM_REAL,
                              OSSL_PARAM_UTF8_STRING,
                              OSSL_PARAM_OCTET_STRING,
                              0,
                              255};
constexpr unsigned pointer_types[] = {OSSL_PARAM_UTF8_PTR, OSSL_PARAM_OCTET_PTR};

// Passes one parameter of that name, with every type and size.
void extremes(const char* name, const Call& call) {
    for (const size_t size : sizes) {
        Exact exact(size);
        void* pointer = exact.data();
        for (const unsigned type : types) with(name, type, exact.data(), size, call);
        for (const unsigned type : pointer_types)
            with(name, type, static_cast<void*>(&pointer), size, call);
    }
    for (const size_t size : huge_sizes) {
        for (const unsigned type : types) with(name, type, nullptr, size, call);
        for (const unsigned type : pointer_types) with(name, type, nullptr, size, call);
    }
    ERR_clear_error();
}

// The same for calls that read it: null data, and sizes beyond the data.
void extremes_to_read(const char* name, const Call& call) {
    extremes(name, call);
    Exact exact(capacity);
    static_cast<uint8_t*>(exact.data())[capacity - 1] = 0;
    for (const unsigned type : types) {
        for (const size_t size : sizes) with(name, type, nullptr, size, call);
        for (const size_t size : huge_sizes) with(name, type, exact.data(), size, call);
    }
    ERR_clear_error();
}

std::set<std::string> names_of(const OSSL_PARAM* described) {
    std::set<std::string> names = {OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY,
                                   OSSL_PKEY_PARAM_PUB_KEY,
                                   OSSL_PKEY_PARAM_PRIV_KEY,
                                   OSSL_PKEY_PARAM_GROUP_NAME,
                                   OSSL_PKEY_PARAM_PROPERTIES,
                                   "no-such-parameter",
                                   ""};
    for (; described != nullptr && described->key != nullptr; ++described)
        names.insert(described->key);
    return names;
}

class Parameters : public testing::TestWithParam<std::string> {
protected:
    Library library_;
};

TEST_P(Parameters, OfAKeyAreReadWithinTheirBounds) {
    const Key key = library_.generate(GetParam());
    ASSERT_TRUE(key);
    for (const std::string& name : names_of(EVP_PKEY_gettable_params(key.get())))
        extremes(name.c_str(), [&](const OSSL_PARAM* params) {
            EVP_PKEY_get_params(key.get(), const_cast<OSSL_PARAM*>(params));
        });
    EXPECT_TRUE(works(library_, key.get()));
}

TEST_P(Parameters, OfAKeyAreWrittenOrRefused) {
    const Key key = library_.generate(GetParam());
    ASSERT_TRUE(key);
    const size_t right = encoded_public_key(key.get()).size();
    for (const std::string& name : names_of(EVP_PKEY_settable_params(key.get())))
        extremes_to_read(name.c_str(), [&](const OSSL_PARAM* params) {
            const int result = EVP_PKEY_set_params(key.get(), const_cast<OSSL_PARAM*>(params));
            const bool share =
                params->data_type == OSSL_PARAM_OCTET_STRING && params->data_size == right;
            if (name == OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY && !share) {
                EXPECT_NE(result, 1) << params->data_type << ' ' << params->data_size;
            }
        });
}

TEST_P(Parameters, OfAWrongShareHaveNoEffect) {
    const Key key = library_.generate(GetParam());
    ASSERT_TRUE(key);
    const Bytes before = encoded_public_key(key.get());
    Bytes share = before;
    share.resize(before.size() + 64, filling);
    for (size_t bytes = 0; bytes <= share.size(); ++bytes) {
        if (bytes == before.size()) continue;
        const Bytes exact(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_NE(EVP_PKEY_set1_encoded_public_key(key.get(), exact.data(), exact.size()), 1)
            << bytes;
    }
    ERR_clear_error();
    EXPECT_EQ(encoded_public_key(key.get()), before);
    EXPECT_TRUE(works(library_, key.get()));
}

// Each spare bit of the sets whose public keys do not fill their last byte; the others have none.
TEST_P(Parameters, OfAShareWithSpareBitsSetAreRefused) {
    const Key key = library_.generate(GetParam());
    ASSERT_TRUE(key);
    const bool full = GetParam().ends_with("4096821") || GetParam().ends_with("40961229") ||
                      GetParam().ends_with("hrss1373") ||
                      GetParam().find("MLKEM") != std::string::npos;
    for (int bit = full ? 8 : 4; bit < 8; ++bit) {
        Bytes share = encoded_public_key(key.get());
        share.back() = static_cast<uint8_t>(share.back() | 1 << bit);
        EXPECT_NE(EVP_PKEY_set1_encoded_public_key(key.get(), share.data(), share.size()), 1)
            << bit;
    }
    ERR_clear_error();
    EXPECT_TRUE(works(library_, key.get()));
}

TEST_P(Parameters, OfGenerationNameThisGroupOrAreRefused) {
    const KeyContext context(
        EVP_PKEY_CTX_new_from_name(library_.context(), GetParam().c_str(), our_own));
    ASSERT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
    EXPECT_EQ(EVP_PKEY_CTX_set_group_name(context.get(), GetParam().c_str()), 1);
    for (const std::string& other : library_.groups()) {
        if (other == GetParam()) continue;
        EXPECT_NE(EVP_PKEY_CTX_set_group_name(context.get(), other.c_str()), 1) << other;
    }
    // libssl 3.5 names OpenSSL's own groups so.
    const bool has_mlkem = GetParam().find("MLKEM") != std::string::npos;
    EXPECT_EQ(EVP_PKEY_CTX_set_group_name(context.get(), "") == 1, has_mlkem);
    EXPECT_NE(EVP_PKEY_CTX_set_group_name(context.get(), std::string(1000, 'n').c_str()), 1);
    ERR_clear_error();
}

TEST_P(Parameters, OfAnotherKeysShareRemoveTheSecretKey) {
    const Key key = library_.generate(GetParam()), other = library_.generate(GetParam());
    const Bytes share = encoded_public_key(other.get());
    ASSERT_EQ(EVP_PKEY_set1_encoded_public_key(key.get(), share.data(), share.size()), 1);
    const Encapsulated made = encapsulate(library_, key.get());
    EXPECT_EQ(decapsulate(library_, other.get(), made.ciphertext), made.secret);
    EXPECT_TRUE(decapsulate(library_, key.get(), made.ciphertext).empty());
    ERR_clear_error();
}

Bytes octets(EVP_PKEY* key, const char* name) {
    size_t bytes = 0;
    EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &bytes);
    Bytes out(bytes);
    EVP_PKEY_get_octet_string_param(key, name, out.data(), bytes, &bytes);
    return out;
}

TEST_P(Parameters, OfSecretKeysOfEveryWrongLengthAreRefused) {
    const Key key = library_.generate(GetParam());
    ASSERT_TRUE(key);
    Bytes share = octets(key.get(), OSSL_PKEY_PARAM_PUB_KEY),
          secret = octets(key.get(), OSSL_PKEY_PARAM_PRIV_KEY);
    const size_t right = secret.size();
    ASSERT_GT(right, share.size());
    secret.resize(right + 64, filling);
    const KeyContext context(
        EVP_PKEY_CTX_new_from_name(library_.context(), GetParam().c_str(), our_own));
    ASSERT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
    for (size_t bytes = 0; bytes <= secret.size();
         bytes += bytes + 64 < right && bytes > 64 ? 7 : 1) {
        Bytes exact(secret.begin(), secret.begin() + static_cast<std::ptrdiff_t>(bytes));
        uint8_t none = 0;
        OSSL_PARAM params[] = {
            OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, share.data(), share.size()),
            OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY,
                                              bytes == 0 ? &none : exact.data(), bytes),
            OSSL_PARAM_END};
        EVP_PKEY* made = nullptr;
        EXPECT_EQ(EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, params) == 1,
                  bytes == right)
            << bytes;
        const Key freed(made);
        if (bytes == right) {
            EXPECT_TRUE(works(library_, made));
        }
    }
    ERR_clear_error();
}

TEST_P(Parameters, MakeNoUnusableKey) {
    const KeyContext context(
        EVP_PKEY_CTX_new_from_name(library_.context(), GetParam().c_str(), our_own));
    ASSERT_TRUE(context);
    for (const int selection : {EVP_PKEY_PUBLIC_KEY, EVP_PKEY_KEYPAIR, EVP_PKEY_KEY_PARAMETERS}) {
        ASSERT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
        for (const std::string& name :
             names_of(EVP_PKEY_fromdata_settable(context.get(), selection)))
            extremes_to_read(name.c_str(), [&](const OSSL_PARAM* params) {
                EVP_PKEY* made = nullptr;
                if (EVP_PKEY_fromdata(context.get(), &made, selection,
                                      const_cast<OSSL_PARAM*>(params)) == 1)
                    encapsulate(library_, made);
                EVP_PKEY_free(made);
            });
    }
}

TEST_P(Parameters, OfGenerationAreAcceptedOrRefused) {
    const KeyContext context(
        EVP_PKEY_CTX_new_from_name(library_.context(), GetParam().c_str(), our_own));
    ASSERT_TRUE(context);
    ASSERT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
    for (const std::string& name : names_of(EVP_PKEY_CTX_settable_params(context.get())))
        extremes_to_read(name.c_str(), [&](const OSSL_PARAM* params) {
            EVP_PKEY_CTX_set_params(context.get(), params);
        });
    EXPECT_TRUE(works(library_, library_.generate(GetParam()).get()));
}

TEST_P(Parameters, OfEncapsulationAreAcceptedOrRefused) {
    const Key key = library_.generate(GetParam());
    ASSERT_TRUE(key);
    const KeyContext context = library_.on(key.get());
    for (const auto init : {EVP_PKEY_encapsulate_init, EVP_PKEY_decapsulate_init}) {
        for (const char* name : {OSSL_KEM_PARAM_OPERATION, "ikme", "no-such-parameter", ""}) {
            extremes_to_read(name, [&](const OSSL_PARAM* params) { init(context.get(), params); });
            ASSERT_EQ(init(context.get(), nullptr), 1);
            extremes_to_read(name, [&](const OSSL_PARAM* params) {
                EVP_PKEY_CTX_set_params(context.get(), params);
            });
            extremes(name, [&](const OSSL_PARAM* params) {
                EVP_PKEY_CTX_get_params(context.get(), const_cast<OSSL_PARAM*>(params));
            });
        }
    }
    EXPECT_TRUE(works(library_, key.get()));
}

TEST(ProviderParameters, AreReadWithinTheirBounds) {
    const Library library;
    for (const std::string& name : names_of(OSSL_PROVIDER_gettable_params(library.provider())))
        extremes(name.c_str(), [&](const OSSL_PARAM* params) {
            OSSL_PROVIDER_get_params(library.provider(), const_cast<OSSL_PARAM*>(params));
        });
}

class Setting {
public:
    Setting(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;
    ~Setting() { unsetenv(name_); }

private:
    const char* name_;
};

// For any environment the module is loaded and works, or is not loaded.
TEST(Settings, OfAnyValueWorkOrAreRefused) {
    const std::string numbers[] = {"",
                                   "0",
                                   "1",
                                   "2",
                                   "-1",
                                   "4096",
                                   "1048576",
                                   "1073741824",
                                   "4294967295",
                                   "4294967296",
                                   "18446744073709551616",
                                   "0x10",
                                   "0x",
                                   "1e9",
                                   " 1",
                                   "1 ",
                                   "NaN",
                                   std::string(100000, '9')};
    size_t loaded = 0;
    for (const char* name :
         {"WARPSEAL_THREADS", "WARPSEAL_MAX_BATCH", "WARPSEAL_MAX_DELAY_US", "WARPSEAL_MAX_WAITING",
          "WARPSEAL_NUMBER_ntru_hps2048509", "WARPSEAL_NUMBER_NTRU_HPS2048509", "WARPSEAL_DEVICE",
          "WARPSEAL_GROUPS", "WARPSEAL_METRICS_DIRECTORY"})
        for (const std::string& value : numbers) {
            const Setting setting(name, value);
            try {
                const Library library;
                ++loaded;
                if (const Key key = library.generate("ntru_hps2048509")) {
                    EXPECT_TRUE(works(library, key.get())) << name << '=' << value.substr(0, 40);
                }
            } catch (const std::runtime_error&) {
                EXPECT_NE(ERR_peek_error(), 0u) << name << '=' << value.substr(0, 40);
            }
            ERR_clear_error();
        }
    EXPECT_GT(loaded, 20u);
}

TEST(Settings, OutOfBoundsAreRefused) {
    const auto loads = [](const char* name, const char* value) {
        const Setting setting(name, value);
        try {
            const Library library;
            return true;
        } catch (const std::runtime_error&) {
            EXPECT_NE(ERR_peek_error(), 0u) << name;
            ERR_clear_error();
            return false;
        }
    };
    struct {
        const char *name, *most, *more;
    } const bounds[] = {{"WARPSEAL_THREADS", "4096", "4097"},
                        {"WARPSEAL_MAX_BATCH", "1048576", "1048577"},
                        {"WARPSEAL_MAX_DELAY_US", "1000000", "1000001"},
                        {"WARPSEAL_MAX_WAITING", "1073741824", "1073741825"},
                        {"WARPSEAL_NUMBER_NTRU_HPS2048509", "0xffff", "0x10000"}};
    for (const auto& [name, most, more] : bounds) {
        EXPECT_TRUE(loads(name, most)) << name;
        EXPECT_FALSE(loads(name, more)) << name;
    }
    // Other groups of TLS have these numbers, or clients send them to test servers (RFC 8701).
    for (const char* taken : {"0x11EB", "0x11EC", "0x11EE", "0x0A0A", "0x2A2A", "0xFAFA"})
        EXPECT_FALSE(loads("WARPSEAL_NUMBER_NTRU_HPS2048509", taken)) << taken;
    for (const char* free : {"0x11EF", "0x0A0B", "0xFBFA"})
        EXPECT_TRUE(loads("WARPSEAL_NUMBER_NTRU_HPS2048509", free)) << free;
}

INSTANTIATE_TEST_SUITE_P(Groups, Parameters, testing::ValuesIn(Library().groups()),
                         [](const auto& one) { return one.param; });

}  // namespace
