// The independent reader in Python: it opens our files, we open its files, and it agrees with every
// vector.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "files.h"

namespace tests {
namespace {

const std::string reader = std::string(WARPSEAL_SOURCE) + "/tests/container/reader/";

// Returns an interpreter with scripts/requirements.txt installed: WARPSEAL_TEST_PYTHON, the
// project's environment, or the system's.
std::string python() {
    if (const char* given = std::getenv("WARPSEAL_TEST_PYTHON")) return given;
    const std::string project = std::string(WARPSEAL_SOURCE) + "/.venv/bin/python3";
    return access(project.c_str(), X_OK) == 0 ? project : "python3";
}

int shell(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class SecondReader : public testing::Test {
protected:
    void SetUp() override {
        if (shell(python() + " -c 'import cryptography.cobblestone' 2>/dev/null") != 0) {
            GTEST_SKIP() << "NOT RUN: " << python()
                         << " has no cryptography 50 (scripts/requirements.txt; "
                            "WARPSEAL_TEST_PYTHON names another)";
        }
        char name[] = "/tmp/warpseal-reader-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder = name;
    }
    void TearDown() override {
        if (!folder.empty()) std::filesystem::remove_all(folder);
    }
    void write(const std::string& name, const Data& data) const {
        std::ofstream(folder + "/" + name, std::ios::binary)
            .write(reinterpret_cast<const char*>(data.data()),
                   static_cast<std::streamsize>(data.size()));
    }
    Data read(const std::string& name) const {
        std::ifstream in(folder + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    int python_reader(const std::string& arguments) const {
        return shell("cd " + folder + " && PYTHONDONTWRITEBYTECODE=1 " + python() + " " + reader +
                     "warpseal_reader.py " + arguments + " 2>said");
    }

    std::string folder;
};

TEST_F(SecondReader, OpensOurFiles) {
    for (const char* suite : {"aes-256-gcm", "aes-128-gcm", "aria-256-gcm", "camellia-256-gcm"}) {
        Options options;
        options.key(1).passphrase("correct horse").suite = suite;
        for (const size_t size :
             {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 70 * chunk + 3}) {
            const Data text = Random(size).text(size);
            const Data file = sealed(text, options);
            write("file", file);
            write("key", Data(32, 1));
            ASSERT_EQ(python_reader("open --key key file out"), 0) << size;
            EXPECT_TRUE(read("out") == text) << size;
            for (const char* end :
                 {"\n", "\r\n", ""}) {  // a trailing newline in a passphrase file is not part of it
                std::string line = std::string("correct horse") + end;
                write("passphrase", Data(line.begin(), line.end()));
                ASSERT_EQ(python_reader("open --passphrase-file passphrase file out"), 0) << size;
                EXPECT_TRUE(read("out") == text) << size;
            }
            write("passphrase",
                  {'c', 'o', 'r', 'r', 'e', 'c', 't', ' ', 'h', 'o', 'r', 's', 'e', '\n', '\n'});
            ASSERT_NE(python_reader("open --passphrase-file passphrase file out"), 0) << size;
            Data changed = file;
            changed.back() ^= 1;
            write("file", changed);
            EXPECT_NE(python_reader("open --key key file out"), 0) << size;
        }
    }
}

TEST_F(SecondReader, BareFilesInBothDirections) {
    for (const size_t key_bytes : {16, 32}) {
        Options options;
        options.bare(key_bytes);
        options.context = "ctx";
        options.context_bytes = 3;
        write("key", Data(key_bytes, 7));
        for (const size_t size :
             {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 70 * chunk + 3}) {
            const Data text = Random(size).text(size);
            write("file", sealed(text, options));
            ASSERT_EQ(python_reader("open-bare --context 637478 --key key file out"), 0) << size;
            EXPECT_TRUE(read("out") == text) << size;
            write("text", text);
            ASSERT_EQ(python_reader("seal-bare --context 637478 --key key text file"), 0) << size;
            const Outcome back = run(Operation::open, read("file"), options);
            EXPECT_EQ(back.status, WARPSEAL_OK) << back.result.message;
            EXPECT_TRUE(back.out == text) << size;
        }
    }
}

TEST_F(SecondReader, AgreesWithEveryVector) {
    EXPECT_EQ(shell("PYTHONDONTWRITEBYTECODE=1 " + python() + " " + reader + "check_vectors.py"),
              0);
}

}  // namespace
}  // namespace tests
