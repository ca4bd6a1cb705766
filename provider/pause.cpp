// Pauses fibres and wakes the programs that wait for them (ASYNC_WAIT_CTX_new(3)).
#include "provider/pause.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "provider/secret.h"

namespace warpseal::provider {
namespace {

class Pause;

// Descriptor of a wait context, used by all its fibres in turn and kept until the context is freed.
// If it were closed and its number reused, a program that still polls it would react to another
// connection.
class WakeEvent {
public:
    explicit WakeEvent(int descriptor) : descriptor_(descriptor) {}
    WakeEvent(const WakeEvent&) = delete;
    WakeEvent& operator=(const WakeEvent&) = delete;
    ~WakeEvent() { close(descriptor_); }
    void signal() const { (void)!eventfd_write(descriptor_, 1); }
    void reset() const {
        eventfd_t count;
        (void)!eventfd_read(descriptor_, &count);
    }

    // The waiting operation. It is owned here instead of by the fibre, because a fibre never ends
    // if its connection is freed while it is paused.
    std::shared_ptr<Pause> pause;

private:
    const int descriptor_;
};

constexpr char wake_event_key = 0;  // Its address is a unique key.

void free_wake_event(ASYNC_WAIT_CTX*, const void*, int, void* data) {
    const std::unique_ptr<std::shared_ptr<WakeEvent>> event(
        static_cast<std::shared_ptr<WakeEvent>*>(data));
    (*event)->pause.reset();
}

std::shared_ptr<WakeEvent> wake_event_of(ASYNC_WAIT_CTX* wait) {
    int descriptor = -1;
    void* data = nullptr;
    if (ASYNC_WAIT_CTX_get_fd(wait, &wake_event_key, &descriptor, &data) != 0)
        return *static_cast<std::shared_ptr<WakeEvent>*>(data);
    descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) return nullptr;
    auto event = std::make_shared<WakeEvent>(descriptor);
    auto held = std::make_unique<std::shared_ptr<WakeEvent>>(event);
    if (ASYNC_WAIT_CTX_set_wait_fd(wait, &wake_event_key, descriptor, held.get(),
                                   free_wake_event) == 0)
        return nullptr;
    (void)held.release();
    return event;
}

// Buffer that an operation reads or writes.
struct Operand {
    uint8_t* warpseal_kem_request::*field;
    size_t bytes;
    bool written;
};

// Copy of a request with its own memory, because the fibre's memory may be gone when the batch
// completes.
class Pause {
public:
    Pause(const Set& set, const warpseal_kem_request& request)
        : original_(request), request_(request) {
        const int32_t operation = request.operation;
        operands_[0] = {&warpseal_kem_request::public_key, set.public_key_bytes(),
                        operation == WARPSEAL_KEM_KEYPAIR};
        operands_[1] = {&warpseal_kem_request::secret_key, set.secret_key_bytes(),
                        operation == WARPSEAL_KEM_KEYPAIR};
        operands_[2] = {&warpseal_kem_request::ciphertext, set.ciphertext_bytes(),
                        operation == WARPSEAL_KEM_ENCAPSULATE};
        operands_[3] = {&warpseal_kem_request::shared_secret, set.shared_secret_bytes(), true};
        size_t bytes = 0;
        for (const Operand& operand : operands_) bytes += named(operand) ? operand.bytes : 0;
        memory_ = SecretBytes(bytes);
        if (memory_.empty()) throw std::bad_alloc();
        uint8_t* next = memory_.data();
        for (const Operand& operand : operands_) {
            if (!named(operand)) continue;
            request_.*operand.field = next;
            if (!operand.written) std::memcpy(next, original_.*operand.field, operand.bytes);
            next += operand.bytes;
        }
    }

    warpseal_kem_request& request() { return request_; }
    std::shared_ptr<WakeEvent> event;
    ASYNC_callback_fn callback = nullptr;
    void* callback_argument = nullptr;

    // Called on a thread of the batcher.
    void end(warpseal_status status) {
        status_ = status;
        state_.store(State::done, std::memory_order_release);
        if (callback != nullptr) {
            callback(callback_argument);
        } else {
            event->signal();
        }
        state_.store(State::notified, std::memory_order_release);
    }

    // Called on the fibre, which may be resumed for other reasons or not be allowed to pause. In a
    // forked child nobody completes queued requests, so it returns WARPSEAL_LIMIT_EXCEEDED.
    warpseal_status wait() {
        while (state_.load(std::memory_order_acquire) == State::queued) {
            if (!in_its_process()) return WARPSEAL_LIMIT_EXCEEDED;
            if (ASYNC_pause_job() == 0 || state_.load(std::memory_order_acquire) == State::queued)
                std::this_thread::yield();
        }
        while (state_.load(std::memory_order_acquire) != State::notified && in_its_process())
            std::this_thread::yield();
        // Both processes share the descriptor, so a forked child leaves it to its parent.
        if (event != nullptr && in_its_process()) event->reset();
        for (const Operand& operand : operands_)
            if (named(operand) && operand.written)
                std::memcpy(original_.*operand.field, request_.*operand.field, operand.bytes);
        return status_;
    }

private:
    enum class State { queued, done, notified };

    bool in_its_process() const { return getpid() == process_; }
    bool named(const Operand& operand) const { return original_.*operand.field != nullptr; }

    const pid_t process_ = getpid();
    const warpseal_kem_request original_;
    warpseal_kem_request request_;
    Operand operands_[4];
    SecretBytes memory_;
    std::atomic<State> state_{State::queued};
    warpseal_status status_ = WARPSEAL_OK;
};

void end(void* data, warpseal_status status) {
    const std::unique_ptr<std::shared_ptr<Pause>> pause(static_cast<std::shared_ptr<Pause>*>(data));
    (*pause)->end(status);
}

warpseal_status submit(warpseal_kem_batcher* batcher, const std::shared_ptr<Pause>& pause) {
    auto held = std::make_unique<std::shared_ptr<Pause>>(pause);
    pause->request().done = end;
    pause->request().user = held.get();
    const warpseal_status status = warpseal_kem_batcher_submit(batcher, &pause->request());
    if (status == WARPSEAL_OK) (void)held.release();
    return status;
}

}  // namespace

warpseal_status run_paused(warpseal_kem_batcher* batcher, const Set& set,
                           const warpseal_kem_request& request, ASYNC_WAIT_CTX* wait) try {
    auto pause = std::make_shared<Pause>(set, request);
    if (ASYNC_WAIT_CTX_get_callback(wait, &pause->callback, &pause->callback_argument) == 0 ||
        pause->callback == nullptr) {
        pause->callback = nullptr;
        pause->event = wake_event_of(wait);
        if (pause->event == nullptr) return WARPSEAL_LIMIT_EXCEEDED;
    } else {
        ASYNC_WAIT_CTX_set_status(wait, ASYNC_STATUS_OK);
    }
    const warpseal_status status = submit(batcher, pause);
    if (status != WARPSEAL_OK) return status;
    if (pause->event == nullptr) return pause->wait();
    Pause& waiting = *pause;
    const std::shared_ptr<WakeEvent>& event = waiting.event;
    event->pause = std::move(pause);
    const warpseal_status result = waiting.wait();
    const std::shared_ptr<Pause> last = std::move(event->pause);
    return result;
} catch (const std::bad_alloc&) {
    return WARPSEAL_LIMIT_EXCEEDED;  // The caller proceeds without pausing.
}

}  // namespace warpseal::provider
