// A child process that holds secrets, and the search for them in its memory and in its core file.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bitset>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "library.h"

namespace tests {

using Patterns = std::vector<Bytes>;  // of at least four bytes

// Returns how often they occur in that memory, at any address.
inline size_t occurrences(const Patterns& patterns, const Bytes& memory) {
    std::unordered_map<uint32_t, std::vector<const Bytes*>> by_head;
    std::bitset<65536> likely;
    uint32_t head = 0;
    for (const Bytes& pattern : patterns) {
        std::memcpy(&head, pattern.data(), sizeof head);
        by_head[head].push_back(&pattern);
        likely.set(head & 0xffff);
    }
    size_t hits = 0;
    for (size_t at = 0; at + sizeof head <= memory.size(); ++at) {
        std::memcpy(&head, &memory[at], sizeof head);
        if (!likely[head & 0xffff]) continue;
        const auto found = by_head.find(head);
        if (found == by_head.end()) continue;
        for (const Bytes* pattern : found->second)
            hits += at + pattern->size() <= memory.size() &&
                    std::memcmp(&memory[at], pattern->data(), pattern->size()) == 0;
    }
    return hits;
}

// Memory for the test's own secrets: excluded from cores, and zeroized before all memory is
// searched.
class UndumpedMemory {
public:
    static constexpr size_t bytes = 16384;
    UndumpedMemory() {
        void* const mapped =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED || madvise(mapped, bytes, MADV_DONTDUMP) != 0)
            throw std::runtime_error("no memory that no core has");
        data_ = static_cast<uint8_t*>(mapped);
    }
    UndumpedMemory(const UndumpedMemory&) = delete;
    UndumpedMemory& operator=(const UndumpedMemory&) = delete;
    ~UndumpedMemory() { munmap(data_, bytes); }
    uint8_t* data() { return data_; }
    uint8_t* random(size_t count) {
        if (getrandom(data_, count, 0) != static_cast<ssize_t>(count))
            throw std::runtime_error("no random bytes");
        return data_;
    }
    void wipe() { explicit_bzero(data_, bytes); }

private:
    uint8_t* data_ = nullptr;
};

// The child's side of the pipes.
class ChildSide {
public:
    ChildSide(int out, int in) : out_(out), in_(in) {}
    void report(const std::string& name, const uint8_t* secret, size_t bytes) {
        write_all(name.data(), name.size());
        write_all(secret, bytes);
    }
    // Waits here until the parent has searched.
    void pause() {
        write_all(nullptr, 0);
        char go = 0;
        if (read(in_, &go, 1) != 1) _exit(3);
    }

private:
    void write_all(const void* data, size_t bytes) {
        if (write(out_, &bytes, sizeof bytes) != sizeof bytes) _exit(3);
        for (size_t done = 0; done < bytes;) {
            const ssize_t n = write(out_, static_cast<const char*>(data) + done, bytes - done);
            if (n <= 0) _exit(3);
            done += static_cast<size_t>(n);
        }
    }
    int out_, in_;
};

class Child {
public:
    // work: sends its secrets, and pauses as often as the parent calls go_on() and once more.
    explicit Child(const std::function<void(ChildSide&)>& work) {
        char name[] = "/tmp/warpseal-core-XXXXXX";
        if (mkdtemp(name) == nullptr) throw std::runtime_error("no folder");
        folder_ = name;
        int up[2], down[2];
        if (pipe(up) != 0 || pipe(down) != 0) throw std::runtime_error("no pipe");
        pid_ = fork();
        if (pid_ == 0) {
            close(up[0]), close(down[1]);
            run(work, up[1], down[0]);
        }
        close(up[1]), close(down[0]);
        in_ = up[0], out_ = down[1];
        listen();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        end(SIGKILL);
        close(in_), close(out_);
        std::filesystem::remove_all(folder_);
    }

    const std::vector<std::pair<std::string, Bytes>>& secrets() const { return secrets_; }
    void go_on() {
        if (write(out_, "", 1) != 1) throw std::runtime_error("the child has ended");
        listen();
    }

    // Searches its writable memory: all of it, the dumped part, or the part that may be swapped
    // out.
    enum class Which { all, dumped, unlocked };
    size_t find(const Patterns& patterns, Which which) const {
        size_t hits = 0;
        for (const Mapping& mapping : mappings()) {
            if ((which == Which::dumped && !mapping.dumped) ||
                (which == Which::unlocked && mapping.locked))
                continue;
            const size_t here = occurrences(patterns, read_memory(mapping));
            if (here != 0) std::printf("%zu in %s\n", here, mapping.line.c_str());
            hits += here;
        }
        return hits;
    }

    // Ends it and returns its core; empty if the kernel made none.
    Bytes core() {
        end(SIGABRT);
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            std::ifstream file(entry.path(), std::ios::binary);
            Bytes all(entry.file_size());
            file.read(reinterpret_cast<char*>(all.data()),
                      static_cast<std::streamsize>(all.size()));
            if (file) return all;
        }
        return {};
    }

private:
    struct Mapping {
        uintptr_t begin, end;
        bool dumped, locked;
        std::string line;
    };

    [[noreturn]] void run(const std::function<void(ChildSide&)>& work, int out, int in) const {
        alarm(300);
        const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
        (void)setrlimit(RLIMIT_CORE, &unlimited);
        (void)prctl(PR_SET_DUMPABLE, 1);
        if (chdir(folder_.c_str()) != 0) _exit(3);
        try {
            ChildSide side(out, in);
            work(side);
        } catch (const std::exception& problem) {
            std::fprintf(stderr, "the child: %s\n", problem.what());
            _exit(2);
        }
        _exit(0);
    }

    void end(int signal) {
        if (pid_ <= 0) return;
        int status = 0;
        kill(pid_, signal);
        waitpid(pid_, &status, 0);
        pid_ = -1;
    }

    bool take(void* to, size_t bytes) const {
        for (size_t done = 0; done < bytes;) {
            const ssize_t n = read(in_, static_cast<char*>(to) + done, bytes - done);
            if (n <= 0) return false;
            done += static_cast<size_t>(n);
        }
        return true;
    }

    // Receives secrets until the child pauses.
    void listen() {
        for (size_t bytes = 0; take(&bytes, sizeof bytes);) {
            if (bytes == 0) return;
            std::string name(bytes, 0);
            if (!take(name.data(), bytes) || !take(&bytes, sizeof bytes)) break;
            secrets_.emplace_back(name, Bytes(bytes));
            if (!take(secrets_.back().second.data(), bytes)) break;
        }
        throw std::runtime_error("the child has ended");
    }

    std::vector<Mapping> mappings() const {
        std::ifstream maps("/proc/" + std::to_string(pid_) + "/smaps");
        std::vector<Mapping> all;
        bool ours = false;
        for (std::string line; std::getline(maps, line);) {
            uintptr_t begin = 0, end = 0;
            char access[8] = {};
            if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, access) ==
                3) {
                ours = std::strcmp(access, "rw-p") == 0;
                if (ours) all.push_back({begin, end, true, false, line});
            } else if (ours && line.starts_with("VmFlags:")) {
                all.back().dumped = line.find(" dd") == std::string::npos;
                all.back().locked = line.find(" lo") != std::string::npos;
            }
        }
        if (all.empty()) throw std::runtime_error("no smaps");
        return all;
    }

    Bytes read_memory(const Mapping& mapping) const {
        Bytes all(mapping.end - mapping.begin);
        std::ifstream memory("/proc/" + std::to_string(pid_) + "/mem", std::ios::binary);
        memory.seekg(static_cast<std::streamoff>(mapping.begin));
        memory.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size()));
        if (!memory) throw std::runtime_error("cannot read " + mapping.line);
        return all;
    }

    std::string folder_;
    pid_t pid_ = -1;
    int in_ = -1, out_ = -1;
    std::vector<std::pair<std::string, Bytes>> secrets_;
};

inline bool may_read_children() {
    std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
    int scope = 0;
    return !(file >> scope) || scope < 2;
}

// Returns true if this much memory can be locked.
inline bool may_lock(size_t bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    const bool locked = mlock(memory, bytes) == 0;
    (void)munmap(memory, bytes);
    return locked;
}

// Returns null if the kernel writes cores to the process's folder; otherwise the reason why not.
inline const char* no_core_files() {
    std::ifstream file("/proc/sys/kernel/core_pattern");
    std::string pattern;
    if (!std::getline(file, pattern) || pattern.empty()) return "NOT RUN: there is no core_pattern";
    if (pattern[0] == '|') return "NOT RUN: core_pattern is a pipe";
    if (pattern.find('/') != std::string::npos) return "NOT RUN: core_pattern names a folder";
    rlimit limit{};
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return "NOT RUN: there is no limit on core files";
    const rlimit raised{limit.rlim_cur, RLIM_INFINITY};
    if (limit.rlim_max != RLIM_INFINITY && setrlimit(RLIMIT_CORE, &raised) != 0)
        return "NOT RUN: the limit on core files cannot be raised";
    return nullptr;
}

}  // namespace tests
