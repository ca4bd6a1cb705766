// The submission queue of a batcher's threads: chunks, slots, notifications.
#include "engine/kem/batcher/submission_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace warpseal;
using Put = KemSubmissionQueue::Put;

constexpr KemKind keypair{2, KemOperation::keypair}, encapsulate{2, KemOperation::encapsulate},
    other{11, KemOperation::encapsulate};
// Kinds have more than 32 bits in all. keypair's bit must not be other's.
static_assert(other.number() >= 32);

uint64_t bit(KemKind kind) { return uint64_t{1} << kind.number(); }

struct SubmissionQueue : testing::Test {
    KemSubmissionQueue submissions;
    uintptr_t next = 0;

    Put put(KemKind kind = encapsulate, bool its_caller_waits = false) {
        KemRequest request;
        request.user = reinterpret_cast<void*>(next++);
        return submissions.put(kind, request, BatcherClock::now(), its_caller_waits);
    }
    std::vector<KemChunk*> drain() {
        std::vector<KemChunk*> chunks;
        for (KemChunk* chunk = submissions.drain(); chunk != nullptr; chunk = chunk->next)
            chunks.push_back(chunk);
        return chunks;
    }
    void complete(const std::vector<KemChunk*>& chunks) {
        for (KemChunk* chunk : chunks) KemSubmissionQueue::completed(*chunk, chunk->filled);
    }
};

TEST_F(SubmissionQueue, NoRequestWithoutASlot) {
    EXPECT_EQ(put(), Put::no_capacity);
    EXPECT_TRUE(drain().empty());
    submissions.reserve(3);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_EQ(submissions.capacity(), 2u);
    EXPECT_EQ(submissions.release_capacity(), 2u);
    EXPECT_EQ(submissions.release_capacity(), 0u);
    EXPECT_EQ(put(), Put::no_capacity);
    complete(drain());
}

TEST_F(SubmissionQueue, EachKindHasItsOrderedChunks) {
    constexpr uint32_t count = 2 * KemChunk::capacity + 10;
    submissions.reserve(2 * count);
    for (uint32_t i = 0; i < count; ++i) {
        put(encapsulate, i % 3 == 0);
        put(keypair);
    }
    const std::vector<KemChunk*> chunks = drain();
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

// Requests after a take go to another chunk. A chunk is reused when its last request is completed,
// and not before.
TEST_F(SubmissionQueue, AChunkIsUsedAgainWhenItIsDone) {
    submissions.reserve(20);
    put();
    put();
    const std::vector<KemChunk*> first = drain();
    ASSERT_EQ(first.size(), 1u);
    KemSubmissionQueue::completed(*first[0], 1);
    put();
    const std::vector<KemChunk*> second = drain();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_NE(second[0], first[0]);
    EXPECT_EQ(second[0]->filled, 1u);
    KemSubmissionQueue::completed(*first[0], 1);
    put(other, true);
    const std::vector<KemChunk*> third = drain();
    ASSERT_EQ(third.size(), 1u);
    EXPECT_EQ(third[0], first[0]);
    EXPECT_EQ(third[0]->kind.number(), other.number());
    EXPECT_EQ(third[0]->filled, 1u);
    EXPECT_TRUE(third[0]->waits(0));
    complete(second);
    complete(third);
}

// Threads complete chunks of one queue at a time: none is lost.
TEST_F(SubmissionQueue, ChunksCompletedByTwoThreadsAreAllUsedAgain) {
    constexpr size_t chunks = 1000;
    constexpr uint32_t requests = chunks * KemChunk::capacity;
    const auto filled = [&] {
        submissions.reserve(requests);
        for (uint32_t i = 0; i < requests; ++i) put();
        std::vector<KemChunk*> all = drain();
        EXPECT_EQ(all.size(), chunks);
        return all;
    };
    std::vector<KemChunk*> first = filled(), now = first;
    std::sort(first.begin(), first.end());
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> ready{0};
        const auto complete_every_other = [&](size_t from) {
            ++ready;
            while (ready < 2) {
            }
            for (size_t i = from; i < chunks; i += 2)
                KemSubmissionQueue::completed(*now[i], now[i]->filled);
        };
        std::thread other([&] { complete_every_other(1); });
        complete_every_other(0);
        other.join();
        now = filled();
        std::vector<KemChunk*> same = now;
        std::sort(same.begin(), same.end());
        ASSERT_EQ(same, first) << round;
    }
    complete(now);
}

TEST_F(SubmissionQueue, NotifiesOnceByCount) {
    submissions.reserve(20);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_NE(submissions.arm(0, 3, false), KemSubmissionQueue::never);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_EQ(put(), Put::wake);
    EXPECT_EQ(put(), Put::quiet);
    EXPECT_EQ(submissions.arm(0, 4, false), KemSubmissionQueue::never);
    complete(drain());
    EXPECT_NE(submissions.arm(0, 1, false), KemSubmissionQueue::never);
    EXPECT_EQ(put(), Put::wake);
    complete(drain());
}

TEST_F(SubmissionQueue, NotifiesOnceByKind) {
    submissions.reserve(20);
    EXPECT_NE(submissions.arm(bit(keypair) | bit(other), KemSubmissionQueue::never, false),
              KemSubmissionQueue::never);
    EXPECT_EQ(put(encapsulate), Put::quiet);
    EXPECT_EQ(put(other), Put::wake);
    EXPECT_EQ(put(keypair), Put::quiet);
    EXPECT_EQ(submissions.arm(bit(keypair), KemSubmissionQueue::never, false),
              KemSubmissionQueue::never);
    complete(drain());
    EXPECT_NE(submissions.arm(bit(keypair), KemSubmissionQueue::never, false),
              KemSubmissionQueue::never);
    EXPECT_EQ(put(keypair), Put::wake);
    complete(drain());
}

TEST_F(SubmissionQueue, ReportsThatEachIsToBeCounted) {
    submissions.reserve(20);
    put();
    put();
    EXPECT_EQ(submissions.arm(bit(keypair), KemSubmissionQueue::never, true), 2u);
    EXPECT_EQ(put(), Put::counted);
    EXPECT_EQ(put(keypair), Put::wake);
    EXPECT_EQ(put(), Put::quiet);
    complete(drain());
}

}  // namespace
