// Generates text, MP3, MP4, DOCX and HWP files: each format's structure around text or noise.
#include "bench/papers/kinds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cli/support/command.h"

namespace warpseal::papers {
namespace {

using Bytes = std::vector<uint8_t>;

class Noise {
public:
    uint64_t next() {  // splitmix64
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    void append(Bytes& to, uint64_t bytes) {
        for (uint64_t i = 0; i < bytes; ++i) to.push_back(static_cast<uint8_t>(next()));
    }

private:
    uint64_t state_ = 5;
};

void append(Bytes& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }

template <class Number>
void append_little(Bytes& to, Number value) {
    for (size_t i = 0; i < sizeof value; ++i) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void append_big(Bytes& to, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<uint8_t>(value >> shift));
}

// An ID3v2.3 tag without frames, then MPEG-1 layer III frames of 128 kbit/s at 44.1 kHz: 144 *
// 128000 / 44100 = 417 bytes each.
Bytes made_mp3(uint64_t bytes) {
    Bytes file;
    append(file, std::string_view("ID3\x03\0\0\0\0\0\0", 10));
    Noise noise;
    while (file.size() < bytes) {
        append(file, "\xff\xfb\x90\x64");
        noise.append(file, 417 - 4);
    }
    return file;
}

// ISO 14496-12: a file type box and a media data box.
Bytes made_mp4(uint64_t bytes) {
    Bytes file;
    append_big(file, 24);
    append(file, std::string_view("ftypisom\0\0\2\0isommp41", 20));
    append_big(file, static_cast<uint32_t>(bytes + 8));
    append(file, "mdat");
    Noise().append(file, bytes);
    return file;
}

uint32_t crc32(const Bytes& data) {  // CRC-32 of ZIP: ISO 3309, reflected.
    uint32_t crc = 0xffffffff;
    for (const uint8_t byte : data) {
        crc ^= byte;
        for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) * 0xedb88320u);
    }
    return ~crc;
}

// A ZIP archive (APPNOTE 4.3) of stored members.
class Zip {
public:
    void add(std::string_view name, const Bytes& content) {
        const auto offset = static_cast<uint32_t>(file_.size());
        Bytes about;  // fields shared by local header and directory
        append_little<uint16_t>(about, 20);
        append_little<uint32_t>(about, 0);           // no flags, stored
        append_little<uint32_t>(about, 0x00210000);  // 1980-01-01
        append_little<uint32_t>(about, crc32(content));
        append_little(about, static_cast<uint32_t>(content.size()));
        append_little(about, static_cast<uint32_t>(content.size()));
        append_little(about, static_cast<uint16_t>(name.size()));
        append_little<uint16_t>(about, 0);
        append(file_, "PK\3\4");
        file_.insert(file_.end(), about.begin(), about.end());
        append(file_, name);
        file_.insert(file_.end(), content.begin(), content.end());
        append(directory_, "PK\1\2");
        append_little<uint16_t>(directory_, 20);
        directory_.insert(directory_.end(), about.begin(), about.end());
        directory_.insert(directory_.end(), 10, uint8_t{0});  // no comment, disk 0, no attributes
        append_little(directory_, offset);
        append(directory_, name);
        ++members_;
    }
    Bytes finish() {
        const auto offset = static_cast<uint32_t>(file_.size());
        file_.insert(file_.end(), directory_.begin(), directory_.end());
        append(file_, std::string_view("PK\5\6\0\0\0\0", 8));
        append_little(file_, members_);
        append_little(file_, members_);
        append_little(file_, static_cast<uint32_t>(directory_.size()));
        append_little(file_, offset);
        append_little<uint16_t>(file_, 0);
        return file_;
    }

private:
    Bytes file_, directory_;
    uint16_t members_ = 0;
};

// ECMA-376: the three mandatory parts of a document.
Bytes made_docx(uint64_t bytes) {
    const auto part = [](std::string_view text) { return Bytes(text.begin(), text.end()); };
    Zip zip;
    zip.add(
        "[Content_Types].xml",
        part(R"(<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/)"
             R"(package/2006/content-types">)"
             R"(<Default Extension="rels" ContentType="application/)"
             R"(vnd.openxmlformats-package.relationships+xml"/>)"
             R"(<Override PartName="/word/document.xml" ContentType=)"
             R"("application/)"
             R"(vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>)"));
    zip.add("_rels/.rels", part(R"(<?xml version="1.0"?><Relationships xmlns="http://)"
                                R"(schemas.openxmlformats.org/package/2006/relationships">)"
                                R"(<Relationship Id="r1" Type="http://schemas.openxmlformats.org/)"
                                R"(officeDocument/2006/relationships/)"
                                R"(officeDocument" Target="word/document.xml"/></Relationships>)"));
    Bytes document = part(R"(<?xml version="1.0"?><w:document xmlns:w="http://)"
                          R"(schemas.openxmlformats.org/wordprocessingml/2006/main">)"
                          "<w:body><w:p><w:r><w:t>");
    const Bytes text = made_text(bytes);
    document.insert(document.end(), text.begin(), text.end());
    append(document, "</w:t></w:r></w:p></w:body></w:document>");
    zip.add("word/document.xml", document);
    return zip.finish();
}

// HWP 5.0 uses a compound file ([MS-CFB] 2.2): a header of 512 bytes, then sectors.
Bytes made_hwp(uint64_t bytes) {
    Bytes file;
    append(file, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
    file.resize(24);
    // version 3, little-endian, sectors of 2^9 and 2^6
    for (const uint16_t field : {0x3e, 3, 0xfffe, 9, 6}) append_little(file, field);
    file.resize(512);
    append(file, "HWP Document File");
    Noise().append(file, bytes);
    file.resize((file.size() + 511) / 512 * 512);
    return file;
}

Bytes read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw cli::Failure(cli::ExitCode::input_output, "cannot read " + path.string() + ".");
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Bytes made_text(uint64_t bytes) {
    static constexpr std::string_view words[] = {"block", "cipher", "the", "thread", "and",
                                                 "core",  "state",  "row", "of",     "column"};
    Bytes text;
    text.reserve(bytes + 16);
    Noise noise;
    for (int on_line = 0; text.size() < bytes; ++on_line) {
        append(text, words[noise.next() % std::size(words)]);
        text.push_back(on_line % 12 == 11 ? '\n' : ' ');
    }
    text.resize(bytes);
    return text;
}

std::vector<KindOfFile> made_files(uint64_t bytes) {
    return {{"Text", made_text(bytes)},
            {"MP3", made_mp3(bytes)},
            {"MP4", made_mp4(bytes)},
            {"Docx", made_docx(bytes)},
            {"Hwp", made_hwp(bytes)}};
}

namespace {

std::vector<std::filesystem::path> paths_in(const std::string& folder) {
    std::error_code error;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.is_regular_file()) paths.push_back(entry.path());
    if (error)
        throw cli::Failure(cli::ExitCode::input_missing, "--files: cannot read the folder " +
                                                             folder + ": " + error.message() + ".");
    if (paths.empty())
        throw cli::Failure(cli::ExitCode::input_missing,
                           "--files: there are no files in " + folder + ".");
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace

void require_files_in(const std::string& folder) { paths_in(folder); }

std::vector<KindOfFile> files_in(const std::string& folder) {
    const auto paths = paths_in(folder);
    std::vector<KindOfFile> files;
    files.reserve(paths.size());
    for (const auto& path : paths) files.push_back({path.filename().string(), read_file(path)});
    return files;
}

}  // namespace warpseal::papers
