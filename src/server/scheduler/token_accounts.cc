#include "src/server/scheduler/token_accounts.h"

#include <algorithm>
#include <cmath>

namespace hyper::server {
namespace {

constexpr double kMinute_s = 60;

}  // namespace

int64_t PledgeOf(const ServedRun& request) {
  const int64_t most = request.client.tokens_per_minute;
  return most > 0 ? std::min(int64_t{WidthOf(request)} * request.plan.options.max_tokens, most) : 0;
}

TokenAccounts::Account& TokenAccounts::Of(const Client& client, double now_s) {
  const auto most = static_cast<double>(client.tokens_per_minute);
  const auto [entry, fresh] = accounts_.try_emplace(client.name, Account{most, now_s});
  Account& account = entry->second;
  account.balance = std::min(most, account.balance + (now_s - account.at_s) * most / kMinute_s);
  account.at_s = now_s;
  return account;
}

int TokenAccounts::WaitSeconds(const Client& client, double now_s) {
  if (client.tokens_per_minute <= 0) {
    return 0;
  }
  const double missing = 1 - Of(client, now_s).balance;
  const double seconds = missing * kMinute_s / static_cast<double>(client.tokens_per_minute);
  return missing > 0 ? std::max(1, static_cast<int>(std::ceil(seconds))) : 0;
}

void TokenAccounts::Pledge(const Client& client, int64_t tokens, double now_s) {
  Settle(client, 0, tokens, now_s);
}

void TokenAccounts::Settle(const Client& client, int64_t pledged, int64_t used, double now_s) {
  if (client.tokens_per_minute > 0) {
    Of(client, now_s).balance += static_cast<double>(pledged - used);
  }
}

}  // namespace hyper::server
