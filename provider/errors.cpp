// Raises errors on libcrypto's error stack (provider-base(7)).
#include "provider/errors.h"

#include <cstdarg>

#include "provider/context.h"

namespace warpseal::provider {
namespace {

constexpr uint32_t number(Reason reason) { return static_cast<uint32_t>(reason); }

// The core takes only a va_list.
void set(const Context& context, Reason reason, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void set(const Context& context, Reason reason, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    context.calls().set_error(context.core(), number(reason), format, arguments);
    va_end(arguments);
}

}  // namespace

const OSSL_ITEM* reason_strings() {
    static constinit const OSSL_ITEM items[] = {
        {number(Reason::no_engine), const_cast<char*>("the engine cannot be made")},
        {number(Reason::operation_failed), const_cast<char*>("operation failed")},
        {number(Reason::wrong_length), const_cast<char*>("wrong length")},
        {number(Reason::bad_share), const_cast<char*>("not a share of this group")},
        {number(Reason::no_key), const_cast<char*>("no key")},
        {number(Reason::no_public_key), const_cast<char*>("no public key")},
        {number(Reason::no_secret_key), const_cast<char*>("no secret key")},
        {number(Reason::wrong_parameter), const_cast<char*>("wrong parameter")},
        {number(Reason::wrong_group), const_cast<char*>("another group")},
        {number(Reason::classical_failed), const_cast<char*>("the classical half failed")},
        {number(Reason::out_of_memory), const_cast<char*>("out of memory")},
        {number(Reason::bad_encoding), const_cast<char*>("not an encoding of such a key")},
        {number(Reason::not_initialised), const_cast<char*>("not initialised")},
        {number(Reason::wrong_iv), const_cast<char*>("wrong IV")},
        {number(Reason::not_authentic), const_cast<char*>("not authentic")},
        {number(Reason::unsupported), const_cast<char*>("unsupported")},
        {0, nullptr},
    };
    return items;
}

void raise(const Context& context, Reason reason, const char* detail, SourceLocation where) {
    const CoreCalls& calls = context.calls();
    calls.new_error(context.core());
    calls.set_error_debug(context.core(), where.file, where.line, where.function);
    if (detail == nullptr) {
        calls.set_error(context.core(), number(reason), nullptr, {});
    } else {
        set(context, reason, "%s", detail);
    }
}

void raise(const Context& context, warpseal_status status, SourceLocation where) {
    raise(context,
          status == WARPSEAL_OUT_OF_MEMORY ? Reason::out_of_memory : Reason::operation_failed,
          warpseal_status_text(status), where);
}

}  // namespace warpseal::provider
