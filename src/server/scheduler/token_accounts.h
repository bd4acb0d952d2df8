// What clients use of the tokens a minute that they may have.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "src/server/api/client.h"
#include "src/server/api/served_run.h"

namespace hyper::server {

// The tokens that a run may take at most, by its own limits; of a client with a limit, no more than
// a minute's, so that a large run can start at all. Pure.
int64_t PledgeOf(const ServedRun& request);

// Each client has a minute's tokens to begin with and gets as many in each minute, up to that. A
// run pledges tokens as it is taken and pays for those that it took as it ends. Times are seconds
// of one clock. Clients without a limit have no account.
class TokenAccounts {
 public:
  // Seconds until the client has a token to spend, rounded up; 0: it has one.
  int WaitSeconds(const Client& client, double now_s);
  void Pledge(const Client& client, int64_t tokens, double now_s);
  // A run that pledged `pledged` tokens has ended and took `used`.
  void Settle(const Client& client, int64_t pledged, int64_t used, double now_s);

 private:
  struct Account {
    double balance = 0;
    double at_s = 0;
  };
  // As it is at that time.
  Account& Of(const Client& client, double now_s);

  std::map<std::string, Account> accounts_;
};

}  // namespace hyper::server
