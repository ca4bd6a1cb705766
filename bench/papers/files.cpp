// P5's text file in two unnamed files of a folder.
#include "bench/papers/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/papers/kinds.h"
#include "bench/report/figures.h"

namespace warpseal::papers {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw cli::Failure(cli::ExitCode::input_output, what + ": " + std::strerror(errno) + ".");
}

int unnamed_file(const std::string& directory) {
    const int file = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) fail("cannot make a file in " + directory + " (--directory says where)");
    return file;
}

void write_all(int file, const std::vector<uint8_t>& bytes) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t wrote =
            pwrite(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (wrote < 0 && errno != EINTR) fail("cannot write the text file");
        done += static_cast<size_t>(std::max<ssize_t>(wrote, 0));
    }
}

void read_all(int file, std::vector<uint8_t>& bytes) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t got =
            pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (got == 0 || (got < 0 && errno != EINTR)) fail("cannot read the text file");
        done += static_cast<size_t>(std::max<ssize_t>(got, 0));
    }
}

}  // namespace

std::vector<uint8_t> padded(std::vector<uint8_t> bytes) {
    const size_t padding = 16 - bytes.size() % 16;
    bytes.insert(bytes.end(), padding, static_cast<uint8_t>(padding));
    return bytes;
}

void require_file_directory(const std::string& directory) { close(unnamed_file(directory)); }

TextFile::TextFile(const std::string& directory, uint64_t bytes)
    : bytes_(bytes), in_(unnamed_file(directory)), out_(unnamed_file(directory)) {
    write_all(in_, padded(made_text(bytes)));
}

TextFile::~TextFile() {
    close(in_);
    close(out_);
}

FileTimes TextFile::time(const Method& method, bool encrypts, const Study& study) const {
    std::vector<double> cipher;
    const Timed whole = study.seconds_of([&] {
        std::vector<uint8_t> in((bytes_ / 16 + 1) * 16), out(in.size());
        read_all(in_, in);
        const auto begin = std::chrono::steady_clock::now();
        method(encrypts, in.data(), out.data(), in.size() / 16);
        cipher.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        write_all(out_, out);
    });
    return {whole, {bench::median(cipher), spread_of(cipher)}};
}

}  // namespace warpseal::papers
