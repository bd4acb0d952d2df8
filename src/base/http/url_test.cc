#include "src/base/http/url.h"

#include <gtest/gtest.h>

namespace hyper::base {
namespace {

TEST(IsPlainHttpUrl, TakesHostPortAndPathOnly) {
  for (const char* url : {"http://h:8000/v1", "https://example.org", "http://[::1]:80/v1",
                          "http://127.0.0.1:1", "http://h/a/b"}) {
    EXPECT_TRUE(IsPlainHttpUrl(url)) << url;
  }
  for (const char* url :
       {"", "h:8000/v1", "ftp://h", "http://", "http://user:secret@h/v1", "http://user@h/v1",
        "http://h/v1?key=secret", "http://h/v1?", "http://h/v1#a", "http://h /v1", "http://h/v 1",
        "http:///v1", "http://h/a,b", "http://h:port/v1", "http://h:99999/v1", "http://h\n/v1"}) {
    EXPECT_FALSE(IsPlainHttpUrl(url)) << url;
  }
}

TEST(QueryEscaped, LeavesWhatIsUnreserved) {
  EXPECT_EQ(QueryEscaped("aZ09-_.~"), "aZ09-_.~");
  EXPECT_EQ(QueryEscaped("a/b c&d=\xC3\xA8"), "a%2Fb%20c%26d%3D%C3%A8");
  EXPECT_EQ(QueryEscaped(""), "");
}

TEST(WithoutKey, CutsTheKeyOutWhereverItStands) {
  EXPECT_EQ(WithoutKey("bad key sk-1, sk-1", "sk-1"), "bad key (key), (key)");
  EXPECT_EQ(WithoutKey("a key", "key"), "a (key)");
  EXPECT_EQ(WithoutKey("nothing to hide", ""), "nothing to hide");
}

}  // namespace
}  // namespace hyper::base
