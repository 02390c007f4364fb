#pragma once

// Credentials: the certificates of one listener, shared by its loops: what was read from the files, the keys of session
// tickets, and when there is something new.
//
// reload() reads everything again, on any thread. What cannot serve is refused and the old stays; what is new raises
// generation(), which each loop compares at each accept and then makes a ServerContext of its own from a snapshot().

#include "violet/tls/certificate/identity.h"
#include "violet/tls/settings.h"
#include "violet/tls/tickets.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace violet::tls {

// The text of a PEM file, or `where` itself when that is a text.
Loaded<std::string> read_pem(const std::string& where);
Loaded<CertificateTexts> read_texts(const CertificateFiles& files);

class Credentials {
 public:
  // Texts of everything that a listener serves with.
  struct Texts {
    std::vector<CertificateTexts> certificates;
    std::string client_ca;

    friend bool operator==(const Texts&, const Texts&) = default;
  };

  // Reads and checks; the sentence names the file.
  static Loaded<std::shared_ptr<Credentials>> load(ServerSettings settings);
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // True when there is something new, false when the files are as before.
  Loaded<bool> reload();

  // Rises with each reload that brought something new.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  struct Snapshot {
    std::shared_ptr<const Texts> texts;
    std::uint64_t generation = 0;
  };
  [[nodiscard]] Snapshot snapshot() const;

  [[nodiscard]] const ServerSettings& settings() const noexcept { return settings_; }
  // The files it was read from, to be watched.
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] TicketKeys& tickets() noexcept { return tickets_; }

 private:
  explicit Credentials(ServerSettings settings) : settings_(std::move(settings)) {}
  [[nodiscard]] Loaded<std::shared_ptr<const Texts>> read() const;

  const ServerSettings settings_;
  TicketKeys tickets_;
  std::atomic<std::uint64_t> generation_ = 0;
  mutable std::mutex mutex_;  // of texts_
  std::shared_ptr<const Texts> texts_;
};

}  // namespace violet::tls
