// Known answers as batches, through the backends directly: rows with equal parameters in one batch,
// each with a key of its own, valid and broken.
#include <map>
#include <tuple>

#include "known_answer.h"
#include "support/paths.h"

namespace {

using vectors::Row;
using vectors::Text;
using warpseal::Direction;

using Parameters = std::tuple<std::string, warpseal_mode, size_t, size_t,
                              size_t>;  // cipher, mode, bytes of IV, AAD and tag

// Returns true if the mode's standard allows such parameters.
bool is_computable(const Row& row, warpseal_mode mode) {
    const size_t iv = row.iv.size(), tag = row.tag.size();
    if (mode == WARPSEAL_CCM) return iv >= 7 && iv <= 13 && tag >= 4 && tag <= 16 && tag % 2 == 0;
    return mode != WARPSEAL_GCM || iv != 0;
}

std::map<Parameters, std::vector<const Row*>> groups() {
    std::map<Parameters, std::vector<const Row*>> out;
    for (const Row& row : vectors::rows()) {
        const warpseal_mode mode = tests::mode_of(row.mode);
        if (row.mode == "cbc-pkcs7" || mode == WARPSEAL_ECB || mode == WARPSEAL_XTS ||
            !is_computable(row, mode))
            continue;
        out[{row.cipher, mode, row.iv.size(), row.aad.size(), row.tag.size()}].push_back(&row);
    }
    return out;
}

void append(Text& to, const Text& more) { to.insert(to.end(), more.begin(), more.end()); }

class KnownAnswersOfBackends : public tests::OnEachTarget {};

TEST_P(KnownAnswersOfBackends, Batches) {
    for (const auto& [parameters, rows] : groups()) {
        const auto& [cipher, mode, iv_bytes, aad_bytes, tag_bytes] = parameters;
        SCOPED_TRACE(cipher + "-" + warpseal_mode_name(mode) + ", " + rows[0]->id +
                     " and its like");
        const std::unique_ptr<tests::Path> path = tests::path(GetParam(), cipher, rows[0]->key);
        ASSERT_TRUE(path) << "no backend of this target";
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            const bool forward = direction == Direction::encrypt;
            Text keys, ivs, aad, tags, in;
            std::vector<uint64_t> lengths, offsets;
            std::vector<const Row*> used;
            for (const Row* row : rows) {
                if (forward && !row->valid) continue;
                used.push_back(row);
                append(keys, row->key);
                append(ivs, row->iv);
                append(aad, row->aad);
                append(tags, row->tag);
                const Text& text = forward || mode == WARPSEAL_CMAC ? row->pt : row->ct;
                offsets.push_back(in.size());
                lengths.push_back(text.size());
                append(in, text);
            }
            if (used.empty()) continue;
            in.push_back(0);  // a batch has pointers even if all its messages are empty
            for (const bool in_place : {false, true}) {
                Text out = in_place ? in : Text(in.size(), 0xa5),
                     written = forward ? Text(tags.size() + 1, 0x5a) : tags;
                std::vector<int32_t> statuses(used.size(), -1);
                warpseal_batch batch{};
                batch.struct_bytes = sizeof batch;
                batch.iv_bytes = static_cast<uint32_t>(iv_bytes);
                batch.tag_bytes = static_cast<uint32_t>(tag_bytes);
                batch.message_count = used.size();
                batch.lengths = lengths.data();
                batch.keys = keys.data();
                batch.ivs = ivs.data();
                batch.iv_stride = iv_bytes;
                batch.aad = aad.data();
                batch.aad_bytes = aad_bytes;
                batch.aad_stride = aad_bytes;
                batch.in = in_place ? out.data() : in.data();
                batch.in_offsets = offsets.data();
                batch.out = mode == WARPSEAL_CMAC ? nullptr : out.data();
                batch.out_offsets = offsets.data();
                batch.tags = written.data();
                batch.tag_stride = tag_bytes;
                batch.statuses = statuses.data();
                uint64_t broken = 0;
                for (const Row* row : used) broken += row->valid ? 0 : 1;
                ASSERT_EQ(path->batch(mode, direction, batch, 0, used.size()), broken);
                if (forward) {
                    ASSERT_EQ(written.back(), 0x5a) << "a byte after the last tag";
                    written.pop_back();
                    ASSERT_EQ(written, tags);
                }
                for (size_t i = 0; i < used.size(); ++i) {
                    const Row& row = *used[i];
                    ASSERT_EQ(statuses[i], row.valid ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC)
                        << row.id;
                    if (mode != WARPSEAL_CMAC) {
                        const auto begin = out.begin() + static_cast<long>(offsets[i]);
                        const Text got(begin, begin + static_cast<long>(lengths[i]));
                        ASSERT_EQ(got, forward     ? row.ct
                                       : row.valid ? row.pt
                                                   : Text(row.ct.size(), 0))
                            << row.id;
                    }
                    count(cipher, mode, direction);
                }
                if (mode == WARPSEAL_CMAC) break;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, KnownAnswersOfBackends, tests::every_target(),
                         tests::target_name);

}  // namespace
