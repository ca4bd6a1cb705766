// The C interface in children forked while threads of their parent are inside its calls.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "calls.h"
#include "children.h"
#include "support/public_functions.h"

namespace {

using namespace forks;

// Fails until every new function is called here.
TEST(Forks, EveryFunctionIsCalled) {
    std::string sources;
    for (const auto& source : std::filesystem::directory_iterator(WARPSEAL_SOURCE "/tests/forks"))
        if (source.path().filename().string().starts_with("calls"))
            sources += tests::text_of(source.path());
    std::set<std::string> listed;
    for (const Calls& calls : every_call())
        listed.insert(calls.functions.begin(), calls.functions.end());
    const std::set<std::string> declared = tests::public_functions();
    EXPECT_GT(declared.size(), 60u);
    for (const std::string& name : declared) {
        EXPECT_TRUE(listed.contains(name))
            << name << " is not in the table of tests/forks/calls.cpp";
        const bool called = std::regex_search(sources, std::regex("\\b" + name + "\\(")) ||
                            name.ends_with("_destroy");
        EXPECT_TRUE(called) << name << " is not called";
    }
    for (const std::string& name : listed)
        EXPECT_TRUE(declared.contains(name)) << name << " is not declared";
}

class LibraryWork : public Work {
public:
    bool load(size_t thread) override {
        if (thread == 0 && parent_ == nullptr) {
            made_ = std::make_unique<Parent>();
            RIGHT(made_->make());
            parent_ = made_.get();
        }
        Parent* const parent = parent_;
        if (parent == nullptr && own_[thread] == nullptr) own_[thread] = engine_with(2);
        const auto calls = every_call();
        const Scene scene{parent != nullptr ? parent->engine.get() : own_[thread].get(), parent,
                          false};
        if (thread % 2 == 1 && turns_[thread] % 4 != 0) {
            ++turns_[thread];
            return acquire_and_release(scene.engine);
        }
        const bool right = calls[(3 * thread + turns_[thread]++) % calls.size()].right(scene);
        return right && (parent == nullptr || use_fresh_key(*parent, thread));
    }

    // Runs with an engine of its own, then with all of its parent's objects, and then destroys
    // those.
    bool child(uint64_t) override {
        Parent* const parent = parent_;
        const Owned<warpseal_engine> own = engine_with(2);
        RIGHT(own != nullptr);
        for (const Calls& calls : every_call()) RIGHT(calls.right({own.get(), nullptr, true}));
        if (parent == nullptr) return true;
        for (const Calls& calls : every_call())
            RIGHT(calls.right({parent->engine.get(), parent, true}));
        for (const auto& one : parent->fresh)
            if (const Keyed* const fresh = one.load(std::memory_order_acquire))
                const_cast<Keyed*>(fresh)->key.reset();
        made_.reset();
        return true;
    }

private:
    // Operations of under a microsecond under a lock, so frequent that some forks interrupt them.
    static bool acquire_and_release(warpseal_engine* engine) {
        warpseal_cipher_info cipher{};
        RIGHT(cipher_called("aes-256", cipher));
        for (int i = 0; i < 200; ++i) {
            void* memory = nullptr;
            RIGHT(warpseal_host_alloc(engine, 64, &memory) == WARPSEAL_OK &&
                  key_of(engine, cipher) != nullptr);
            warpseal_host_free(engine, memory);
        }
        return true;
    }

    // Uses the next of all ciphers, in all its modes.
    bool use_fresh_key(Parent& parent, size_t thread) {
        Keyed& fresh = fresh_[thread];
        fresh.key.reset();
        if (warpseal_cipher_at(ciphers_.fetch_add(1, std::memory_order_relaxed), &fresh.cipher) !=
            WARPSEAL_OK) {
            ciphers_ = 0;
            return true;
        }
        fresh.key = key_of(parent.engine.get(), fresh.cipher);
        RIGHT(fresh.key != nullptr);
        parent.fresh[thread].store(&fresh, std::memory_order_release);
        const bool right = works(fresh.key.get(), fresh.cipher);
        parent.fresh[thread].store(nullptr, std::memory_order_release);
        fresh.key.reset();
        return right;
    }

    std::unique_ptr<Parent> made_;
    std::atomic<Parent*> parent_{nullptr};
    std::array<Owned<warpseal_engine>, threads> own_;
    std::array<Keyed, threads>
        fresh_;  // not on a stack: a child inherits the stacks of its parent's threads
    std::array<size_t, threads> turns_{};
    std::atomic<size_t> ciphers_{0};
};
static_assert(Parent::threads == Work::threads);

TEST(Forks, ChildrenOfABusyParentUseTheLibrary) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP()
        << "NOT RUN: a sanitizer's own locks may be held in children of programs with threads";
#endif
    const Outcome outcome =
        children_of([]() -> std::unique_ptr<Work> { return std::make_unique<LibraryWork>(); }, 200);
    std::printf("%llu children\n", static_cast<unsigned long long>(outcome.children));
    EXPECT_GT(outcome.children, 0u);
    EXPECT_EQ(outcome.hung, 0u);
    EXPECT_EQ(outcome.wrong, 0u);
}

}  // namespace
