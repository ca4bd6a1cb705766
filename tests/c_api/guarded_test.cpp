// Exceptions that end a call of the C interface, and their statuses.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "c_api/handles.h"
#include "warpseal/error.h"

namespace {

using namespace warpseal;

template <class Exception>
warpseal_status status_of(const Exception& thrown) {
    return c_api::guarded([&]() -> warpseal_status { throw thrown; });
}

TEST(Guarded, ExceptionsBecomeStatuses) {
    EXPECT_EQ(status_of(std::bad_alloc()), WARPSEAL_OUT_OF_MEMORY);
    const auto no_thread = std::make_error_code(std::errc::resource_unavailable_try_again);
    EXPECT_EQ(status_of(std::system_error(no_thread)), WARPSEAL_OUT_OF_MEMORY);
    EXPECT_STREQ(warpseal_last_error_message(), warpseal_status_text(WARPSEAL_OUT_OF_MEMORY));
    EXPECT_EQ(status_of(std::length_error("a vector")), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(warpseal_last_error_message(), "a length is out of range");
    EXPECT_EQ(c_api::guarded([] { return WARPSEAL_NOT_AUTHENTIC; }), WARPSEAL_NOT_AUTHENTIC);
}

}  // namespace
