// Second stack for threads that run on fibres, entered by makecontext(3).
#include "provider/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace warpseal::provider {

constinit thread_local StackBounds stack_bounds{0, 0, 0, 0};

namespace {

constexpr size_t second_stack_bytes = 2 * stack_wanted;

// Second stack of a thread, above an inaccessible guard page. A fibre with too little stack
// switches to it for a call.
class SecondStack {
public:
    SecondStack() {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        void* const mapped = mmap(nullptr, second_stack_bytes + page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (mapped == MAP_FAILED) return;
        memory_ = mapped;
        bytes_ = second_stack_bytes + page;
        if (mprotect(memory_, page, PROT_NONE) != 0) return;
        usable_ = static_cast<char*>(memory_) + page;
        stack_bounds.second_low = reinterpret_cast<uintptr_t>(usable_);
        stack_bounds.second_high = stack_bounds.second_low + second_stack_bytes;
    }
    ~SecondStack() {
        stack_bounds.second_low = stack_bounds.second_high = 0;
        if (memory_ != nullptr) munmap(memory_, bytes_);
    }
    SecondStack(const SecondStack&) = delete;
    SecondStack& operator=(const SecondStack&) = delete;
    void* usable() const { return usable_; }

private:
    void* memory_ = nullptr;
    size_t bytes_ = 0;
    void* usable_ = nullptr;
};

void read_stack_bounds() {
    pthread_attr_t about;
    void* low = nullptr;
    size_t bytes = 0;
    stack_bounds.high = 1;  // Empty range until the bounds are known.
    if (pthread_getattr_np(pthread_self(), &about) != 0) return;
    if (pthread_attr_getstack(&about, &low, &bytes) == 0) {
        stack_bounds.low = reinterpret_cast<uintptr_t>(low);
        stack_bounds.high = stack_bounds.low + bytes;
    }
    pthread_attr_destroy(&about);
}

struct Call {
    void (*work)(const void*);
    const void* argument;
};

// makecontext passes 32-bit arguments.
void enter(unsigned high, unsigned low) {
    const Call& call = *reinterpret_cast<const Call*>(uintptr_t{high} << 32 | low);
    call.work(call.argument);
}

}  // namespace

bool call_with_stack(void (*work)(const void*), const void* argument) noexcept {
    Call call{work, argument};
    if (stack_bounds.high == 0) {
        read_stack_bounds();
        return with_stack([&]() noexcept { call.work(call.argument); });
    }
    static thread_local const SecondStack second;
    ucontext_t there, back;
    if (second.usable() == nullptr || getcontext(&there) != 0) return false;
    there.uc_stack.ss_sp = second.usable();
    there.uc_stack.ss_size = second_stack_bytes;
    there.uc_link = &back;
    const auto address = reinterpret_cast<uintptr_t>(&call);
    makecontext(&there, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
    return swapcontext(&back, &there) == 0;
}

}  // namespace warpseal::provider
