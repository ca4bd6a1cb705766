// A libcrypto that has a version, FAKE_VERSION such as "3.4", and nothing else.
#include <stdlib.h>
#include <string.h>

static const char* version(void) {
    const char* const told = getenv("FAKE_VERSION");
    return told ? told : "3.4";
}
unsigned OPENSSL_version_major(void) { return (unsigned)atoi(version()); }
unsigned OPENSSL_version_minor(void) { return (unsigned)atoi(strchr(version(), '.') + 1); }
