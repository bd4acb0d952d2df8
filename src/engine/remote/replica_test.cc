#include "src/engine/remote/replica.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/engine/remote/wire/endpoint.h"
#include "src/engine/remote/wire/request.h"
#include "src/engine/remote/wire/token_table.h"

namespace hyper::remote {
namespace {

Replica Of(int capacity, int streams, double dead_until = 0) {
  Replica replica;
  replica.probed = true;
  replica.capacity = capacity;
  replica.streams = streams;
  replica.dead_until = dead_until;
  return replica;
}

TEST(Replica, NewLanesGoWhereMostIsFreeForksStayUnlessFull) {
  const std::vector<Replica> replicas = {Of(8, 6), Of(8, 2), Of(4, 0), Of(8, 8)};
  EXPECT_EQ(ChooseReplica(replicas, kNoReplica, 0), 1);
  EXPECT_EQ(ChooseReplica(replicas, 0, 0), 0);
  EXPECT_EQ(ChooseReplica(replicas, 3, 0), 1) << "the parent's is full";
}

TEST(Replica, UnknownCapacitiesShareByStreams) {
  EXPECT_EQ(ChooseReplica(std::vector{Of(0, 5), Of(0, 4), Of(0, 4)}, kNoReplica, 0), 1);
}

TEST(Replica, TheDeadAreLeftAloneUntilTheirTime) {
  const std::vector<Replica> replicas = {Of(0, 0, 10), Of(0, 9)};
  EXPECT_EQ(ChooseReplica(replicas, 0, 9.9), 1);
  EXPECT_EQ(ChooseReplica(replicas, 0, 10.0), 0);
  EXPECT_EQ(ChooseReplica(std::vector{Of(2, 2), Of(0, 0, 10)}, kNoReplica, 0), kNoReplica);
}

TEST(Replica, ManyBrokenStreamsAreOneFailure) {
  Replica replica = Of(0, 0);
  NoteFailure(replica, 100);
  NoteFailure(replica, 100.5);
  EXPECT_DOUBLE_EQ(replica.dead_until, 101);
  NoteFailure(replica, 101);
  EXPECT_DOUBLE_EQ(replica.dead_until, 103);
  for (int i = 0; i < 10; ++i) {
    NoteFailure(replica, replica.dead_until);
  }
  const double before = replica.dead_until;
  NoteFailure(replica, before);
  EXPECT_DOUBLE_EQ(replica.dead_until - before, 30);
  NoteSuccess(replica);
  EXPECT_TRUE(replica.Alive(0));
}

TEST(TokenTable, PairsOfNumberAndBytes) {
  TokenTable table;
  const Token first = table.Intern(5, "ab");
  EXPECT_EQ(table.Intern(5, "ab"), first);
  EXPECT_NE(table.Intern(5, ""), first);
  EXPECT_NE(table.Intern(kNoWireId, "ab"), first);
  EXPECT_EQ(table.Bytes(first), "ab");
  EXPECT_EQ(table.WireId(first), 5);
  EXPECT_EQ(table.Bytes(kNoToken), "");
  EXPECT_EQ(table.Bytes(99), "");
  EXPECT_EQ(table.Join(std::vector<Token>{first, first}), "abab");
  const Token named = table.Intern(kNoWireId, "ab");
  table.NoteWireId(named, 5);
  EXPECT_EQ(table.WireId(named), 5);
  EXPECT_EQ(table.Intern(kNoWireId, "ab"), named) << "and stays what it was";
}

TEST(Urls, OnlyPlainOnesAreTaken) {
  for (const char* url : {"http://h:8000/v1", "https://example.org", "http://[::1]:80/v1"}) {
    EXPECT_TRUE(CheckUrl(url).ok()) << url;
  }
  for (const char* url : {"h:8000/v1", "ftp://h", "http://", "http://user:secret@h/v1",
                          "http://h/v1?key=secret", "http://h /v1", "http:///v1"}) {
    const Status status = CheckUrl(url);
    ASSERT_FALSE(status.ok()) << url;
    EXPECT_EQ(status.error().message.find("secret"), std::string::npos);
  }
  EXPECT_EQ(RootUrl(BaseUrl("http://h:1/v1/")), "http://h:1");
  EXPECT_EQ(RootUrl("http://h:1/api"), "http://h:1/api");
}

TEST(Requests, SeedsDifferByLanePositionAndTry) {
  const uint32_t seed = RequestSeed(7, 10, 0);
  EXPECT_EQ(RequestSeed(7, 10, 0), seed);
  EXPECT_NE(RequestSeed(8, 10, 0), seed);
  EXPECT_NE(RequestSeed(7, 11, 0), seed);
  EXPECT_NE(RequestSeed(7, 10, 1), seed);
  EXPECT_LE(seed, 0x7FFFFFFFU);
}

}  // namespace
}  // namespace hyper::remote
