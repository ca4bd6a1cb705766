// Event sources of a loop: epoll(7), and a list with a lock and an eventfd.
#include "examples/tls_exchange/event_poll.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <iterator>
#include <stdexcept>

namespace warpseal::tls {
namespace {

// Kind of an event, stored above the connection number.
constexpr uint64_t of_list = uint64_t{1} << 32, of_wakeup = uint64_t{2} << 32;

}  // namespace

Poll::Poll()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!epoll_ || !event_) throw std::runtime_error("no descriptors for an event loop.");
    add(event_.get(), of_list, EPOLLIN);
}

void Poll::add(int descriptor, uint64_t tag, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = tag;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
        throw std::runtime_error("a descriptor cannot be watched.");
}

void Poll::watch(int descriptor, uint32_t id, bool shared) {
    add(descriptor, id, shared ? EPOLLIN | EPOLLEXCLUSIVE : EPOLLIN | EPOLLOUT | EPOLLET);
}

void Poll::wake_when_readable(int descriptor, uint32_t id) {
    add(descriptor, of_wakeup | id, EPOLLIN | EPOLLET);
}

void Poll::wake(uint32_t id) {
    bool first = false;
    {
        std::lock_guard lock(mutex_);
        first = woken_.empty();
        woken_.push_back(id);
    }
    if (first) eventfd_write(event_.get(), 1);
}

void Poll::wait(int milliseconds, std::vector<uint32_t>& ready, std::vector<uint32_t>& woken) {
    ready.clear();
    woken.clear();
    epoll_event events[256];
    const int count = epoll_wait(epoll_.get(), events, std::size(events), milliseconds);
    if (count < 0 && errno != EINTR) throw std::runtime_error("an event loop cannot wait.");
    for (int i = 0; i < count; ++i) {
        const auto id = static_cast<uint32_t>(events[i].data.u64);
        if (events[i].data.u64 & of_wakeup) woken.push_back(id);
        if (events[i].data.u64 <= UINT32_MAX) ready.push_back(id);
    }
    eventfd_t seen = 0;
    eventfd_read(event_.get(), &seen);
    std::lock_guard lock(mutex_);
    woken.insert(woken.end(), woken_.begin(), woken_.end());
    woken_.clear();
}

}  // namespace warpseal::tls
