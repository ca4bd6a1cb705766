// Messages of warpseal/cobblestone.h that are sealed or opened in updates, for its tests.
#pragma once

#include "readers.h"
#include "warpseal/cobblestone.h"

namespace tests {

class Message {
public:
    Message(Operation operation, const Data& key, const Data& context = {}, unsigned threads = 1) {
        const auto create = operation == Operation::seal ? warpseal_cobblestone_create_seal
                                                         : warpseal_cobblestone_create_open;
        status = create(c_engine(threads), key.data(), key.size(), context.data(), context.size(),
                        &message_);
    }
    ~Message() { warpseal_cobblestone_destroy(message_); }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    warpseal_cobblestone* get() const { return message_; }

    // Appends what an update or the end writes to `out`. Checks that it writes as much as it said,
    // or zeros after an error, and nothing after that.
    warpseal_status update(const uint8_t* in, size_t bytes) {
        const size_t room = warpseal_cobblestone_update_bytes(message_, bytes);
        return take(room, [&](uint8_t* to, size_t* wrote) {
            return warpseal_cobblestone_update(message_, in, bytes, to, room, wrote);
        });
    }
    warpseal_status update(const Data& in) { return update(in.data(), in.size()); }
    warpseal_status finish() {
        const size_t room = warpseal_cobblestone_finish_bytes(message_);
        return take(room, [&](uint8_t* to, size_t* wrote) {
            return warpseal_cobblestone_finish(message_, to, room, wrote);
        });
    }
    // Updates of `step` bytes, then the end.
    warpseal_status run(const Data& in, size_t step) {
        for (size_t at = 0; at < in.size() && status == WARPSEAL_OK;
             at += std::min(step, in.size()))
            status = update(in.data() + at, std::min(step, in.size() - at));
        if (status == WARPSEAL_OK) status = finish();
        return status;
    }

    warpseal_status status = WARPSEAL_OK;
    Data out;

private:
    template <class Call>
    warpseal_status take(size_t room, Call call) {
        constexpr size_t beyond = 64;
        Data to(room + beyond, 0xa5);
        size_t wrote = 1;
        const warpseal_status result = call(to.data(), &wrote);
        EXPECT_EQ(wrote, result == WARPSEAL_OK ? room : 0);
        EXPECT_TRUE(std::all_of(to.end() - beyond, to.end(), [](uint8_t b) { return b == 0xa5; }))
            << "written past what was announced";
        if (result == WARPSEAL_OK) {
            out.insert(out.end(), to.begin(), to.end() - beyond);
        } else if (result != WARPSEAL_INVALID_ARGUMENT) {
            EXPECT_TRUE(std::all_of(to.begin(), to.end() - beyond, [](uint8_t b) {
                return b == 0;
            })) << "text was released";
        }
        return result;
    }

    warpseal_cobblestone* message_ = nullptr;
};

}  // namespace tests
