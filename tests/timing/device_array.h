// Device memory of a case of warpseal-counters.
#pragma once

#include "backends/gpu_backend.h"
#include "reference/cipher.h"
#include "timing/counting.h"

namespace counting {

class DeviceArray {
public:
    explicit DeviceArray(size_t bytes) : bytes_(bytes) {
        expect(warpseal::gpu_backend()->device_alloc(0, bytes, &data_) == WARPSEAL_OK,
               "device memory");
    }
    ~DeviceArray() { warpseal::gpu_backend()->device_free(0, data_, bytes_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(data_); }
    reference::Text get() const {
        reference::Text out(bytes_);
        expect(warpseal::gpu_backend()->download(0, out.data(), data_, bytes_) == WARPSEAL_OK,
               "download");
        return out;
    }
    void put(const reference::Text& text) const {
        expect(text.size() <= bytes_ && warpseal::gpu_backend()->upload(0, data_, text.data(),
                                                                        text.size()) == WARPSEAL_OK,
               "upload");
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
};

}  // namespace counting
