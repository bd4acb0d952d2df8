#include "src/base/http/download.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/recording_server.h"
#include "tests/support/temporary_folder.h"

namespace hyper::base {
namespace {

using test::RecordingServer;
using test::ServerReply;
using test::ServerRequest;

constexpr const char* kContent = "0123456789abcdefghijklmnopqrstuvwxyz";

// The first byte that a request asks for.
size_t FirstByte(const ServerRequest& request) {
  const size_t at = request.head.find("Range: bytes=");
  return at == std::string::npos ? 0 : static_cast<size_t>(std::atoll(&request.head[at + 13]));
}

// The rest of the content, of which the first `cut_at` bytes arrive.
ServerReply Rest(const ServerRequest& request, size_t cut_at = std::string::npos) {
  const size_t first = FirstByte(request);
  return {first > 0 ? 206 : 200, std::string(kContent).substr(first), {}, cut_at};
}

class DownloadTest : public ::testing::Test {
 protected:
  DownloadRequest Request(const std::string& address) {
    DownloadRequest request;
    request.url = address + "/file";
    request.path = folder_.File("file.part");
    request.progress = [this](int64_t bytes) { bytes_.push_back(bytes); };
    request.wait = [this](double seconds) { waits_.push_back(seconds); };
    return request;
  }
  std::string Content() const {
    std::ifstream file(folder_.File("file.part"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryFolder folder_;
  std::vector<int64_t> bytes_;
  std::vector<double> waits_;
};

TEST_F(DownloadTest, AddsWhatIsMissing) {
  std::ofstream(folder_.File("file.part")) << "0123456789";
  const RecordingServer server([](const ServerRequest& request) { return Rest(request); });
  EXPECT_EQ(*Download(Request(server.address())), 206);
  EXPECT_EQ(FirstByte(server.requests()[0]), 10U);
  EXPECT_EQ(Content(), kContent);
  EXPECT_EQ(bytes_.back(), 36);
  EXPECT_TRUE(waits_.empty());
}

TEST_F(DownloadTest, StartsAnewWhereTheServerKnowsNoRanges) {
  std::ofstream(folder_.File("file.part")) << "another file, and a longer one than what is sent";
  const RecordingServer server([](const ServerRequest&) { return ServerReply{200, kContent}; });
  EXPECT_EQ(*Download(Request(server.address())), 200);
  EXPECT_EQ(Content(), kContent);
  EXPECT_EQ(bytes_.back(), 36);
}

TEST_F(DownloadTest, TakesUpATransferThatBrokeOff) {
  int calls = 0;
  const RecordingServer server([&calls](const ServerRequest& request) {
    return Rest(request, ++calls == 3 ? 0 : calls < 6 ? 7 : std::string::npos);
  });
  DownloadRequest request = Request(server.address());
  request.most_resumes = 2;
  EXPECT_EQ(*Download(request), 206);
  EXPECT_EQ(Content(), kContent);
  std::vector<size_t> firsts;
  for (const ServerRequest& one : server.requests()) {
    firsts.push_back(FirstByte(one));
  }
  EXPECT_EQ(firsts, (std::vector<size_t>{0, 7, 14, 14, 21, 28}));
  EXPECT_EQ(waits_, (std::vector<double>{1, 1, 2, 1, 1}));
}

TEST_F(DownloadTest, GivesUpWhereNothingComesAnyMore) {
  int calls = 0;
  const RecordingServer server(
      [&calls](const ServerRequest& request) { return Rest(request, ++calls == 1 ? 5 : 0); });
  DownloadRequest request = Request(server.address());
  request.most_resumes = 2;
  EXPECT_EQ(Download(request).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(server.requests().size(), 3U);
  EXPECT_EQ(Content(), "01234") << "the next call goes on from here";
}

TEST_F(DownloadTest, DoesNotWaitForAServerThatIsNotThere) {
  std::ofstream(folder_.File("file.part")) << "0123";
  std::string address;
  {
    address = RecordingServer([](const ServerRequest&) { return ServerReply(); }).address();
  }
  const RecordingServer other([](const ServerRequest&) { return ServerReply(); });
  DownloadRequest request = Request(address);
  request.most_resumes = 5;
  EXPECT_EQ(Download(request).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(waits_.empty());
  EXPECT_EQ(Content(), "0123");
}

TEST_F(DownloadTest, ARefusalLeavesTheFileAlone) {
  std::ofstream(folder_.File("file.part")) << "0123";
  const RecordingServer server([](const ServerRequest&) { return ServerReply{404, "not here"}; });
  EXPECT_EQ(*Download(Request(server.address())), 404);
  EXPECT_EQ(Content(), "0123");
}

TEST_F(DownloadTest, AFileThatCannotBeWrittenIsAnError) {
  const RecordingServer server([](const ServerRequest& request) { return Rest(request); });
  DownloadRequest request = Request(server.address());
  request.path = folder_.File("none/file.part");
  EXPECT_EQ(Download(request).error().code, ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace hyper::base
