#include "apps/hyper/models/model_fetch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/recording_server.h"
#include "tests/support/temporary_folder.h"

namespace hyper::app {
namespace {

using test::RecordingServer;
using test::ServerReply;
using test::ServerRequest;

// "GGUF and some weights", by sha256sum.
constexpr const char* kContent = "GGUF and some weights";
constexpr ModelSource kSource{"made-1b",
                              "a made-up model",
                              "none",
                              "maker/made-1b-GGUF",
                              "made-1b.gguf",
                              21,
                              "48db5a66810bdd264cd556f452c54e9567f3a2f893b0eadbecc30c908b3affa4",
                              1};

ServerReply Whole(const ServerRequest&) { return {200, kContent}; }

class FetchModelTest : public ::testing::Test {
 protected:
  ModelFetch Fetch(const std::string& hub) {
    ModelFetch fetch;
    fetch.hub = hub;
    fetch.folder = folder_.File("models");
    fetch.progress = [this](int64_t bytes) { bytes_.push_back(bytes); };
    fetch.wait = [this](double seconds) { waits_.push_back(seconds); };
    return fetch;
  }
  std::string File() const { return folder_.File("models/made-1b.gguf"); }
  std::string Content() const {
    std::ifstream file(File(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Leave(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_.File("models"));
    std::ofstream(folder_.File("models/" + name)) << text;
  }

  test::TemporaryFolder folder_;
  std::vector<int64_t> bytes_;
  std::vector<double> waits_;
};

TEST_F(FetchModelTest, TheFileComesFromTheRepositoryOnce) {
  const RecordingServer hub(Whole);
  const Result<FetchedModel> first = FetchModel(kSource, Fetch(hub.address()));
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->path, File());
  EXPECT_FALSE(first->present);
  EXPECT_EQ(Content(), kContent);
  EXPECT_EQ(bytes_.back(), 21);
  EXPECT_EQ(hub.requests()[0].target, "/maker/made-1b-GGUF/resolve/main/made-1b.gguf");
  EXPECT_EQ(hub.requests()[0].head.find("Authorization"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(File() + ".part"));
  EXPECT_TRUE(FetchModel(kSource, Fetch(hub.address()))->present);
  EXPECT_EQ(hub.requests().size(), 1U);
}

TEST_F(FetchModelTest, RedirectsToWhereTheFilesLieAreFollowed) {
  const RecordingServer store(Whole);
  const RecordingServer hub([&store](const ServerRequest&) {
    return ServerReply{302, "", {"Location: " + store.address() + "/blob"}};
  });
  ModelFetch fetch = Fetch(hub.address());
  fetch.token = "secret";
  ASSERT_TRUE(FetchModel(kSource, fetch).has_value());
  EXPECT_NE(hub.requests()[0].head.find("Authorization: Bearer secret"), std::string::npos);
  EXPECT_EQ(store.requests()[0].head.find("secret"), std::string::npos);
}

TEST_F(FetchModelTest, ABrokenFetchGoesOnWhereItWas) {
  Leave("made-1b.gguf.part", "GGUF and ");
  const RecordingServer hub([](const ServerRequest& request) {
    EXPECT_NE(request.head.find("Range: bytes=9-"), std::string::npos) << request.head;
    return ServerReply{206, std::string(kContent).substr(9)};
  });
  ASSERT_TRUE(FetchModel(kSource, Fetch(hub.address())).has_value());
  EXPECT_EQ(Content(), kContent);
}

TEST_F(FetchModelTest, AWholeRestOfAnEarlierFetchIsTaken) {
  Leave("made-1b.gguf.part", kContent);
  const RecordingServer hub([](const ServerRequest&) { return ServerReply{416, "nothing left"}; });
  ASSERT_TRUE(FetchModel(kSource, Fetch(hub.address())).has_value());
  EXPECT_EQ(Content(), kContent);
}

TEST_F(FetchModelTest, AnotherFileIsRemoved) {
  const RecordingServer hub([](const ServerRequest&) { return ServerReply{200, "<html>"}; });
  const Error error = FetchModel(kSource, Fetch(hub.address())).error();
  EXPECT_EQ(error.code, ErrorCode::kDataLoss);
  EXPECT_NE(error.message.find(kSource.sha256), std::string::npos) << error.message;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.File("models")));
}

TEST_F(FetchModelTest, AnotherFileOfThatNameIsLeftAlone) {
  Leave("made-1b.gguf", "mine");
  const RecordingServer hub(Whole);
  EXPECT_EQ(FetchModel(kSource, Fetch(hub.address())).error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(Content(), "mine");
  EXPECT_TRUE(hub.requests().empty());
}

TEST_F(FetchModelTest, RefusalsSayWhatHelps) {
  const struct {
    int status;
    const char* token;
    ErrorCode code;
    const char* words;
  } cases[] = {
      {401, "", ErrorCode::kInvalidArgument, "give one in HF_TOKEN"},
      {403, "secret", ErrorCode::kInvalidArgument, "has no access to maker/made-1b-GGUF"},
      {404, "", ErrorCode::kNotFound, "no file made-1b.gguf in maker/made-1b-GGUF"},
      {410, "", ErrorCode::kUnavailable, "HTTP status 410"},
  };
  for (const auto& one : cases) {
    const RecordingServer hub([&one](const ServerRequest&) {
      return ServerReply{one.status, "no"};
    });
    ModelFetch fetch = Fetch(hub.address());
    fetch.token = one.token;
    const Error error = FetchModel(kSource, fetch).error();
    EXPECT_EQ(error.code, one.code) << one.status;
    EXPECT_NE(error.message.find(one.words), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("127.0.0.1:"), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find("secret"), std::string::npos) << error.message;
  }
}

TEST_F(FetchModelTest, OfflineSaysWhichHostAndWhatElseWorks) {
  std::string address;
  { address = RecordingServer(Whole).address(); }  // nobody listens there any more
  const RecordingServer other(Whole);
  const Error error = FetchModel(kSource, Fetch(address)).error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  for (const std::string& part : {address.substr(7) + " cannot be reached: ", std::string("--hub"),
                                  "put made-1b.gguf into " + folder_.File("models")}) {
    EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
  }
  EXPECT_TRUE(waits_.empty());
}

TEST_F(FetchModelTest, AFileWithoutRoomIsNotBegun) {
  ModelSource large = kSource;
  large.bytes = int64_t{1} << 60;
  const RecordingServer hub(Whole);
  const Error error = FetchModel(large, Fetch(hub.address())).error();
  EXPECT_EQ(error.code, ErrorCode::kResourceExhausted);
  EXPECT_NE(error.message.find("needs 1152921504.6 GB"), std::string::npos) << error.message;
  EXPECT_TRUE(hub.requests().empty());
}

TEST(HubAddress, ComesFromTheFlagOrTheEnvironment) {
  unsetenv("HYPER_HUB");
  EXPECT_EQ(HubAddress("", kPublicHub), kPublicHub);
  setenv("HYPER_HUB", "https://b.example/", 1);
  EXPECT_EQ(HubAddress("", kPublicHub), "https://b.example");
  EXPECT_EQ(HubAddress("https://a.example//", kPublicHub), "https://a.example");
  unsetenv("HYPER_HUB");
}

}  // namespace
}  // namespace hyper::app
