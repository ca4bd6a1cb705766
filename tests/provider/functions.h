// The functions of one algorithm, called without EVP between.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/provider.h>

#include <map>
#include <string>

namespace tests {

// The functions of one algorithm, as the provider passes them to libcrypto.
class Functions {
public:
    Functions(const OSSL_PROVIDER* provider, int operation, const std::string& name) {
        int no_cache = 0;
        const OSSL_ALGORITHM* one = OSSL_PROVIDER_query_operation(provider, operation, &no_cache);
        for (; one != nullptr && one->algorithm_names != nullptr; ++one) {
            const std::string names = one->algorithm_names;
            if (names.substr(0, names.find(':')) != name) continue;
            for (const OSSL_DISPATCH* entry = one->implementation; entry->function_id != 0; ++entry)
                found_[entry->function_id] = entry->function;
        }
    }
    template <class Function>
    Function* get(int id) const {
        const auto at = found_.find(id);
        return at == found_.end() ? nullptr : reinterpret_cast<Function*>(at->second);
    }

private:
    std::map<int, void (*)()> found_;
};

}  // namespace tests
