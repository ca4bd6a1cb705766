// Where requests are left for a batcher's threads: chunks, places, rings.
#include "engine/kem_inbox.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace warpseal;
using Put = KemInbox::Put;

constexpr KemKind keypair{2, KemOperation::keypair}, encapsulate{2, KemOperation::encapsulate},
    other{3, KemOperation::encapsulate};

uint32_t bit(KemKind kind) { return 1u << kind.number(); }

struct Inbox : testing::Test {
    KemInbox inbox;
    uintptr_t next = 0;

    Put put(KemKind kind = encapsulate, bool its_caller_waits = false) {
        KemRequest request;
        request.user = reinterpret_cast<void*>(next++);
        return inbox.put(kind, request, BatcherClock::now(), its_caller_waits);
    }
    std::vector<KemChunk*> take() {
        std::vector<KemChunk*> chunks;
        for (KemChunk* chunk = inbox.take(); chunk != nullptr; chunk = chunk->next)
            chunks.push_back(chunk);
        return chunks;
    }
    void complete(const std::vector<KemChunk*>& chunks) {
        for (KemChunk* chunk : chunks) KemInbox::completed(*chunk, chunk->filled);
    }
};

TEST_F(Inbox, NothingWithoutAPlace) {
    EXPECT_EQ(put(), Put::no_place);
    EXPECT_TRUE(take().empty());
    inbox.lend(3);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_EQ(inbox.places(), 2u);
    EXPECT_EQ(inbox.take_places(), 2u);
    EXPECT_EQ(inbox.take_places(), 0u);
    EXPECT_EQ(put(), Put::no_place);
    complete(take());
}

TEST_F(Inbox, EachKindHasItsChunksAndEachChunkItsOrder) {
    constexpr uint32_t count = 2 * KemChunk::room + 10;
    inbox.lend(2 * count);
    for (uint32_t i = 0; i < count; ++i) {
        put(encapsulate, i % 3 == 0);
        put(keypair);
    }
    const std::vector<KemChunk*> chunks = take();
    ASSERT_EQ(chunks.size(), 6u);
    uintptr_t seen[2] = {0, 0};
    for (const KemChunk* chunk : chunks) {
        const bool second = chunk->kind.operation == KemOperation::keypair;
        EXPECT_EQ(chunk->left, chunk->filled);
        for (uint32_t i = 0; i < chunk->filled; ++i, ++seen[second]) {
            EXPECT_EQ(reinterpret_cast<uintptr_t>(chunk->requests[i].user),
                      2 * seen[second] + second);
            EXPECT_EQ(chunk->waits(i), !second && seen[second] % 3 == 0);
        }
    }
    EXPECT_EQ(seen[0], count);
    EXPECT_EQ(seen[1], count);
    complete(chunks);
}

// What comes after it was taken is in another chunk; it is used again when its last request is
// completed, and not before.
TEST_F(Inbox, AChunkIsUsedAgainWhenItIsDone) {
    inbox.lend(20);
    put();
    put();
    const std::vector<KemChunk*> first = take();
    ASSERT_EQ(first.size(), 1u);
    KemInbox::completed(*first[0], 1);
    put();
    const std::vector<KemChunk*> second = take();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_NE(second[0], first[0]);
    EXPECT_EQ(second[0]->filled, 1u);
    KemInbox::completed(*first[0], 1);
    put(other, true);
    const std::vector<KemChunk*> third = take();
    ASSERT_EQ(third.size(), 1u);
    EXPECT_EQ(third[0], first[0]);
    EXPECT_EQ(third[0]->kind.number(), other.number());
    EXPECT_EQ(third[0]->filled, 1u);
    EXPECT_TRUE(third[0]->waits(0));
    complete(second);
    complete(third);
}

TEST_F(Inbox, RingsOnceByCount) {
    inbox.lend(20);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_NE(inbox.arm(0, 3, false), KemInbox::never);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_EQ(put(), Put::ring);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_EQ(inbox.arm(0, 4, false), KemInbox::never);
    complete(take());
    EXPECT_NE(inbox.arm(0, 1, false), KemInbox::never);
    EXPECT_EQ(put(), Put::ring);
    complete(take());
}

TEST_F(Inbox, RingsOnceByKind) {
    inbox.lend(20);
    EXPECT_NE(inbox.arm(bit(keypair) | bit(other), KemInbox::never, false), KemInbox::never);
    EXPECT_EQ(put(encapsulate), Put::quiet);
    EXPECT_EQ(put(other), Put::ring);
    EXPECT_EQ(put(keypair), Put::quiet);
    EXPECT_EQ(inbox.arm(bit(keypair), KemInbox::never, false), KemInbox::never);
    complete(take());
    EXPECT_NE(inbox.arm(bit(keypair), KemInbox::never, false), KemInbox::never);
    EXPECT_EQ(put(keypair), Put::ring);
    complete(take());
}

TEST_F(Inbox, SaysThatEachIsToBeCounted) {
    inbox.lend(20);
    put();
    put();
    EXPECT_EQ(inbox.arm(bit(keypair), KemInbox::never, true), 2u);
    EXPECT_EQ(put(), Put::counted);
    EXPECT_EQ(put(keypair), Put::ring);
    EXPECT_EQ(put(), Put::quiet);
    complete(take());
}

}  // namespace
