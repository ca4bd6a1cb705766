// The search for secrets in the writable memory of this process.
#pragma once

#include <bitset>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

namespace residue {

using Text = std::vector<uint8_t>;

// Secrets are kept XORed with this mask, so that the search finds only the library's copies.
constexpr uint8_t mask = 0x5a;

using Patterns = std::vector<Text>;  // masked

inline Text masked(const uint8_t* bytes, size_t n) {
    Text out(bytes, bytes + n);
    for (uint8_t& x : out) x = static_cast<uint8_t>(x ^ mask);
    return out;
}

inline bool matches(const uint8_t* at, const Text& pattern) {
    for (size_t i = 0; i < pattern.size(); ++i)
        if ((at[i] ^ mask) != pattern[i]) return false;
    return true;
}

// Counts the patterns in the writable memory of this process. Shared mappings are skipped: with a
// GPU they are windows of its driver, which must not be read. The heap and unnamed mappings belong
// to the driver as well as to us.
inline size_t occurrences(const Patterns& patterns) {
    std::map<uint32_t, std::vector<const Text*>> by_head;  // the first four bytes, masked
    for (const Text& pattern : patterns) {
        uint32_t head;
        std::memcpy(&head, pattern.data(), 4);
        by_head[head].push_back(&pattern);
    }
    std::bitset<65536> likely;
    for (const auto& [head, with_it] : by_head) likely.set(head & 0xffff);
    size_t hits = 0;
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    if (maps == nullptr) return SIZE_MAX;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        uintptr_t begin = 0, end = 0;
        char access[8] = {};
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, access) != 3 ||
            std::strcmp(access, "rw-p") != 0)
            continue;
        if (end - begin > (size_t{1} << 30) || std::strstr(line, "[v") != nullptr) continue;
        const size_t hits_before = hits;
        for (uintptr_t at = begin; at + 16 <= end; at += 4) {
            uint32_t head;
            std::memcpy(&head, reinterpret_cast<const void*>(at), 4);
            head ^= 0x01010101u * mask;
            if (!likely[head & 0xffff]) continue;
            const auto found = by_head.find(head);
            if (found == by_head.end()) continue;
            for (const Text* pattern : found->second)
                if (at + pattern->size() <= end &&
                    matches(reinterpret_cast<const uint8_t*>(at), *pattern))
                    ++hits;
        }
        if (hits != hits_before) std::printf("%zu in %s", hits - hits_before, line);
    }
    std::fclose(maps);
    return hits;
}

}  // namespace residue
