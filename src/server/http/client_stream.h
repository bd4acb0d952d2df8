// One client's connection: the bytes that httplib reads and writes, with a time limit for the whole
// of a request, and the server that uses it. docs/choices.md says what httplib lacks for that.
#pragma once

#include <cpp-httplib/httplib.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace hyper::server {

// What is left to a client for a request of which `bytes` came in `elapsed`: `patience`, and a
// second more for each 16 KiB, so that a byte now and then does not hold a connection for hours
// and 4 MiB over a slow line still come. Negative when the time is over. Pure.
std::chrono::milliseconds RequestTimeLeft(std::chrono::milliseconds patience,
                                          std::chrono::milliseconds elapsed, int64_t bytes);

// Whether the other end has hung up or will send nothing more, whatever it sent before. httplib
// looks at the next byte instead, and takes one that nobody has read for a sign of life.
bool HasLeft(socket_t socket);

// Whether the client has left whose request this thread answers; for handlers of a PatientServer.
bool ClientHasLeft();

// Of the request that this thread answers: the seconds since its first byte, and the address that
// it came from (AddressOf); for handlers of a PatientServer.
double RequestSeconds();
std::string ClientAddress();

// Thread rule: one thread at a time.
class ClientStream final : public httplib::Stream {
 public:
  // `socket` stays its owner's. A single read or write waits for `patience` at most.
  //   ending  a descriptor that can be read once the server ends, which ends all reading; -1: none
  ClientStream(socket_t socket, std::chrono::milliseconds patience, int ending);

  // The time of the next request starts. What was read beyond the last one is kept.
  void BeginRequest();
  // Whether bytes are there, or come within `limit` and before the ending; also when the client
  // has hung up.
  bool Wait(std::chrono::milliseconds limit) const;

  bool is_readable() const override { return at_ < end_; }
  bool wait_readable() const override;
  bool wait_writable() const override;
  bool is_peer_alive() const override { return !HasLeft(socket_); }
  // Bytes read; 0 at the end of the stream; -1 on an error or when the time is over.
  ssize_t read(char* bytes, size_t size) override;
  // Bytes written, possibly fewer than given; -1 on an error or when the client takes nothing.
  ssize_t write(const char* bytes, size_t size) override;
  // No address is told: nothing here depends on who asks.
  void get_remote_ip_and_port(std::string& /*address*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*address*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }
  time_t duration() const override { return Elapsed().count(); }  // of this request, in ms
  const char* buffered_data(size_t& size) const override;
  void consume_buffered(size_t size) override { at_ += size; }

 private:
  std::chrono::milliseconds Elapsed() const;

  const socket_t socket_;
  const std::chrono::milliseconds patience_;
  const int ending_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int64_t received_ = 0;  // bytes of this request
  std::array<char, 16384> buffer_{};
  size_t at_ = 0;
  size_t end_ = 0;
};

// The connections that each address has now. Any thread.
class AddressCount {
 public:
  // False, and nothing is counted, where the address has `most` already.
  bool Enter(const std::string& address, int most);
  void Leave(const std::string& address);

 private:
  std::mutex mutex_;
  std::map<std::string, int> counts_;  // by mutex_; none 0
};

// The address at the other end, without port; of IPv6 its first 64 bits, which one customer has for
// all machines. Empty: not known.
std::string AddressOf(const sockaddr_storage& peer);

// httplib's server on such streams. Its read and write timeouts are the patience.
class PatientServer final : public httplib::Server {
 public:
  PatientServer();
  ~PatientServer() override;
  PatientServer(const PatientServer&) = delete;
  PatientServer& operator=(const PatientServer&) = delete;

  // Takes no more requests, gives up those that are being read, waits up to `limit` for the replies
  // under way, and stops. Any thread.
  void End(std::chrono::milliseconds limit);
  // From now on an address that has `most` connections is answered 429 on further ones; 0: none is.
  // Call before the server listens.
  void LimitAddresses(int most) { most_per_address_ = most; }

 private:
  bool process_and_close_socket(socket_t socket) override;
  bool Serve(socket_t socket, const std::string& address);
  // Answers one request; false: the connection is done with.
  bool Answer(ClientStream& client, bool last);
  void Count(int more);

  const int ending_;
  int most_per_address_ = 0;
  AddressCount addresses_;
  std::mutex mutex_;
  std::condition_variable answered_;
  int answering_ = 0;  // by mutex_: requests that are read and not answered yet
};

}  // namespace hyper::server
