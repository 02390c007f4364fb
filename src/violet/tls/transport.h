#pragma once

// tls::Transport: TLS over another transport, itself a net::Transport.
//
// OpenSSL shakes hands. On a server a connection of TLS 1.3 leaves it then: its traffic secrets go to a RecordLayer,
// and OpenSSL's object, which takes 14 KB, is freed. Records are read into the loop's Shared, as much as there is in
// one read, and opened from there to where their content is wanted. Connections of TLS 1.2, those with the extension
// max_fragment_length, and clients stay with OpenSSL, which reads straight from the transport below.
//
// What a write seals is gathered in Shared and leaves in one write below; pieces are joined to full records first. Only
// what is left over in a direction is copied, and kept here. Between turns no buffer is held.
//
//   handshake --(step(): done)--> open --(close_notify read)--> read() answers 0
//       |                           |
//       +--(refuse())--> failed     +--(error, end without close_notify)--> read() and write() fail
//
// During the handshake the Handshake hears; from on_secure() on, the Owner, as of every transport. What write() has
// taken has been taken below; the rest it will be offered again, see net::Transport.
//
// Owns the transport below. Frees itself after close(). The loop's thread.

#include "violet/event/loop.h"
#include "violet/memory/buffer.h"
#include "violet/memory/ref.h"
#include "violet/net/transport.h"
#include "violet/tls/client_context.h"
#include "violet/tls/record/input.h"
#include "violet/tls/record/layer.h"
#include "violet/tls/record/secrets.h"
#include "violet/tls/server_context.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct ssl_st;

namespace violet::tls {

// What the TLS transports of one loop share: room to join, to gather and to read in, empty between calls, and ciphers.
struct Shared {
  static constexpr std::size_t kRecordBytes = 16 * 1024;                     // of plaintext (RFC 8446 §5.1)
  static constexpr std::size_t kBatchBytes = 4 * kRecordBytes;               // of plaintext that leaves in one write
  static constexpr std::size_t kGatherBytes = kBatchBytes + 4 * 256 + 1024;  // the same sealed, and an alert

  explicit Shared(Loop& on) : loop(on), join(new char[kRecordBytes]), gather(new char[kGatherBytes]) {}

  Loop& loop;
  std::unique_ptr<char[]> join;
  std::unique_ptr<char[]> gather;
  std::size_t gathered_bytes = 0;
  std::size_t sealed_bytes = 0;  // of the batch at hand
  Input input;
  CipherPool ciphers;
};

// A certificate that the peer has shown and that was verified.
struct PeerCertificate {
  std::string subject;             // RFC 4514: "CN=client,O=Example"
  std::vector<std::string> names;  // subject alternative names, "DNS:a.example", "URI:…", "IP:…", "email:…"
};

class Transport final : public net::Transport, private net::Transport::Owner {
 public:
  class Handshake {
   public:
    // The transport is ready for an owner: set_owner(), want(). Closing it is legal.
    virtual void on_secure(Transport& transport) noexcept = 0;
    // It is not, and has to be closed; an alert has left where there is one for it.
    virtual void on_refused(Transport& transport, Error why) noexcept = 0;

   protected:
    ~Handshake() = default;
  };

  // Takes `below` over and starts the handshake; `handshake` hears of its end, once, from the loop. nullptr when there
  // is no memory (or no such host), and then `below` stays the caller's.
  static Transport* accept(Shared& shared, ServerContext& context, net::Transport& below, Handshake& handshake);
  static Transport* connect(Shared& shared, ClientContext& context, std::string_view host, net::Transport& below,
                            Handshake& handshake);

  [[nodiscard]] ssize_t read(char* to, std::size_t size) noexcept override;
  [[nodiscard]] ssize_t peek(char* to, std::size_t size) noexcept override;
  [[nodiscard]] ssize_t write(const iovec* pieces, int count) noexcept override;
  [[nodiscard]] ssize_t send_file(int descriptor, std::uint64_t offset, std::size_t size) noexcept override;
  void want(bool read, bool write) noexcept override;
  void shutdown() noexcept override;
  void close() noexcept override;
  void close_by_reset() noexcept override;
  [[nodiscard]] std::uint64_t unread_bytes_max() const noexcept override;
  [[nodiscard]] Address local() const noexcept override { return below_.local(); }
  [[nodiscard]] bool is_secure() const noexcept override { return true; }

  // --- what the handshake has brought
  [[nodiscard]] std::string_view version() const noexcept;  // "TLSv1.3"; lives for ever
  [[nodiscard]] std::string_view cipher() const noexcept;   // "TLS_AES_128_GCM_SHA256", as long
  // --- the same; a server knows it inside on_secure() and forgets it then, a client keeps it until close()
  // The ALPN name that was selected, "" when none was.
  [[nodiscard]] std::string_view protocol() const noexcept;
  // The name that the client asked for (SNI), "" when none.
  [[nodiscard]] std::string_view server_name() const noexcept;
  [[nodiscard]] bool is_resumed() const noexcept;
  // The peer's verified certificate; false when it has shown none.
  bool peer_certificate(PeerCertificate& certificate) const;
  // Sends `text` as it is, to a peer that has turned out to speak no TLS.
  void answer_plainly(std::string_view text) noexcept;
  // Why read() or write() failed.
  [[nodiscard]] Error error() const noexcept { return error_; }
  // nullptr when the connection has left OpenSSL.
  [[nodiscard]] ssl_st* ssl() noexcept { return ssl_; }

 private:
  friend struct RecordBio;
  // Keeps a transport that is closed inside one of its events until the event is over.
  class Event;

  Transport(Shared& shared, Ref<ServerContext> context, ssl_st* ssl, net::Transport& below, Handshake& handshake);
  ~Transport();
  static Transport* open(Shared& shared, Ref<ServerContext> context, ssl_st* ssl, net::Transport& below,
                         Handshake& handshake);

  // --- events of the transport below
  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_peer_closed() noexcept override;
  void on_broken() noexcept override;

  void step() noexcept;
  void listen_for_secrets(bool is_on) noexcept;
  void take_over() noexcept;
  void leave_openssl() noexcept;
  void refuse(Error why) noexcept;
  void on_ready() noexcept;
  void update_interest() noexcept;

  // --- content on its way up
  ssize_t read_openssl(char* to, std::size_t size, std::size_t& total) noexcept;
  ssize_t open_records(char* to, std::size_t size, std::size_t& total) noexcept;
  ssize_t peek_openssl(char* to, std::size_t size, std::size_t& total) noexcept;
  ssize_t peek_records(char* to, std::size_t size, std::size_t& total) noexcept;
  ssize_t why_not_read() noexcept;
  ssize_t refuse_record() noexcept;
  void do_upkeep() noexcept;
  void send_message(const char* record, std::size_t size) noexcept;
  [[nodiscard]] bool has_unread() const noexcept;

  // --- records on their way up
  ssize_t feed_openssl(char* to, std::size_t size) noexcept;
  void restore_input() noexcept;
  void keep_input();

  // --- sealing
  template <class Source>
  ssize_t send(Source& source) noexcept;
  template <class Source>
  std::size_t seal_batch(Source& source) noexcept;
  [[nodiscard]] std::size_t record_bytes_max() const noexcept;
  void seal(std::string_view record, bool is_last) noexcept;

  // --- records on their way below
  [[nodiscard]] bool has_pending() const noexcept { return pending_begin_ < pending_end_; }
  void count_upkeep() noexcept;
  ssize_t read_below(char* to, std::size_t size) noexcept;
  void take_records(const char* data, std::size_t size) noexcept;
  void send_gathered(const char* more, std::size_t more_bytes) noexcept;
  void flush_gathered() noexcept;
  std::size_t flush_pending() noexcept;
  void keep(const char* data, std::size_t size);
  void say_goodbye() noexcept;
  void release(void (net::Transport::*close_below)() noexcept) noexcept;

  Shared& shared_;
  Ref<ServerContext> context_;
  ssl_st* ssl_;  // nullptr once the connection has left OpenSSL
  net::Transport& below_;
  Handshake* handshake_;  // nullptr once it is over

  std::unique_ptr<RecordLayer> layer_;  // of a connection that has left OpenSSL
  std::unique_ptr<Secrets> secrets_;    // while a handshake of TLS 1.3 lasts
  Ref<HeapBuffer> kept_;                // records, or part of one, that have been read below
  std::uint32_t kept_bytes_ = 0;
  Ref<HeapBuffer> pending_;  // sealed, and not taken below yet
  std::uint32_t pending_begin_ = 0;
  std::uint32_t pending_end_ = 0;
  std::uint32_t owed_ = 0;           // bytes of plaintext in pending_ that write() has not said it took
  std::uint32_t burst_bytes_ = 0;    // sent without a pause
  std::uint64_t last_sent_ms_ = 0;   // the pause begins here
  std::uint64_t upkeep_due_ms_ = 0;  // when the peer's upkeep so far is paid for
  std::int32_t below_error_ = 0;     // errno of the transport below
  Error error_;
  std::int32_t end_ = kOpen;  // what read() answers for ever: 0 or a negated errno
  std::uint16_t depth_ = 0;   // events that are being handled
  bool is_open_ = false;      // the handshake is done
  bool is_closed_ = false;
  bool is_drained_ = false;     // the transport below had less than was asked for
  bool is_blocked_ = false;     // and OpenSSL was told so
  bool sends_at_once_ = false;  // the next record is the last one of its batch
  bool has_said_goodbye_ = false;
  bool is_ending_ = false;  // the end of our direction follows what is pending
  bool wants_read_ = false;
  bool wants_write_ = false;
  DeferredTo<&Transport::on_ready> ready_{*this};

  static constexpr std::int32_t kOpen = 1;
};

}  // namespace violet::tls
