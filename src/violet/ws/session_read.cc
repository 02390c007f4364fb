// ws::Session: what comes.

#include "violet/ws/session.h"
#include "violet/ws/socket.h"

#include <algorithm>
#include <cstring>

namespace violet::ws {

void Session::on_data(Slice data) {
  is_alive_ = true;
  if (is_deaf_) {
    stream_->credit(data.size());
    return;
  }
  if (input_.is_empty()) [[likely]] {
    begin_input(std::move(data).writable());
  } else {
    if (more_ == nullptr) more_ = std::make_unique<Chain>();
    more_->append(std::move(data).writable());
  }
  deliver();
}

// Gives messages to whoever takes them, and answers what needs no taking. Whoever calls it holds a count, or is the
// stream, which holds one until on_close().
void Session::deliver() {
  if (is_delivering_) return;
  if (is_ignoring_) {
    drop_messages();
  } else if (application_ != nullptr && application_->takes_messages) {
    push_messages();
  } else if (reader_ != nullptr && !reads_away()) {
    if (reader_->fetch()) std::exchange(reader_, nullptr)->resume();
  } else {
    advance(nullptr, nullptr);
  }
}

void Session::push_messages() {
  is_delivering_ = true;
  for (;;) {
    if (settings_.backlog == Backlog::Wait && is_full()) {
      is_drain_awaited_ = true;
      break;
    }
    if (const int size = find_usual(); size != kNotUsual) [[likely]] {
      application_->on_message(*this, take_usual_message(size));
      continue;
    }
    Message message;
    if (!next(message)) break;
    application_->on_message(*this, std::move(message));
  }
  is_delivering_ = false;
}

int Session::find_usual() {
  const std::size_t there = input_.size();
  if (there < kUsualHeadBytes || !is_quick_to_read() || stash_ != nullptr) return kNotUsual;
  char* frame = const_cast<char*>(input_.data());
  const auto first = static_cast<std::uint8_t>(frame[0]);
  const std::size_t size = static_cast<std::uint8_t>(frame[1]) ^ kMasked;
  if ((first != (kFin | kText) && first != (kFin | kBinary)) || size >= 126 || size > there - kUsualHeadBytes ||
      size > settings_.message_bytes_max) {
    return kNotUsual;
  }
  MaskKey key;
  std::memcpy(&key, frame + 2, sizeof key);
  char* payload = frame + kUsualHeadBytes;
  if (size > kMaskShortMax) return find_longer(payload, size, key);
  mask_short(payload, payload, size, key);
  if (first == (kFin | kText) && !detail::is_short_ascii(payload, size)) return find_text(payload, size);
  return static_cast<int>(size);
}

// Beside find_usual(), so that it calls nothing on its way.
[[gnu::noinline]] int Session::find_longer(char* payload, std::size_t size, MaskKey key) {
  apply_mask(payload, payload, size, key);
  const bool is_text = static_cast<std::uint8_t>(payload[-static_cast<int>(kUsualHeadBytes)]) == (kFin | kText);
  return is_text ? find_text(payload, size) : static_cast<int>(size);
}
[[gnu::noinline]] int Session::find_text(const char* payload, std::size_t size) {
  if (is_utf8({payload, size})) [[likely]]
    return static_cast<int>(size);
  fail(kInvalidText);
  return kNotUsual;
}

void Session::drop_messages() {
  Message message;
  while (advance(&message, nullptr)) message = Message();
}

// Works through what has come, until there is a whole message for `out`, or with `is_last` a part of one. Without `out`
// only as far as nobody needs to read.
bool Session::advance(Message* out, bool* is_last) {
  while (!is_deaf_) {
    if (is_in_payload_) {
      if (out == nullptr && !reads_away()) return false;
      if (left_ > 0 && input_.is_empty() && !refill()) return false;
      if (is_last != nullptr && !reads_away() ? take_part(*out, *is_last) : take_payload(out)) return true;
      continue;
    }
    if (input_.is_empty() && (stash_ == nullptr || stash_->size < 2) && !refill()) return false;
    FrameHead head;
    const Step step = next_head(head);
    if (step == Step::Failed) return false;
    if (step == Step::More) {
      if (!refill()) return false;
      continue;
    }
    if (out == nullptr && !reads_away()) return false;
    if (stash_ == nullptr && out != nullptr && !reads_away() && head.first >= (kFin | kText) &&
        head.size <= input_.size() - head.head_bytes && kind_ == 0 && head.size <= settings_.message_bytes_max &&
        !head.is_compressed()) [[likely]] {
      if (is_last != nullptr) *is_last = true;
      return take_whole(head, *out);
    }
    if (stash_ != nullptr) {
      drop_stash();
    } else {
      consume(head.head_bytes);
    }
    if (!begin_frame(head, is_last != nullptr)) return false;
  }
  return false;
}

// A message in one frame, all of it there: it stays where it is.
bool Session::take_whole(const FrameHead& head, Message& out) {
  const auto size = static_cast<std::size_t>(head.size);
  char* payload = const_cast<char*>(input_.data()) + head.head_bytes;
  if (is_server_) apply_mask(payload, payload, size, head.key);
  const auto kind = static_cast<Kind>(head.opcode());
  if (kind == Kind::Text && !is_utf8({payload, size})) [[unlikely]] {
    fail(kInvalidText);
    return false;
  }
  out = Message(kind, input_.part(head.head_bytes, size));
  ++taken_count_;
  consume(head.head_bytes + size);
  // The stream gets its bytes back once for all messages that came together.
  if (input_.is_empty()) give_credit();
  return true;
}

// The head of the next data frame, which stays at the front of the input or of the stash; control frames before it are
// answered.
Session::Step Session::next_head(FrameHead& head) {
  for (;;) {
    if (stash_ != nullptr) {
      const Step step = fill_stash(head);
      if (step != Step::Head || !head.is_control()) return step;
      char* payload = stash_->bytes + head.head_bytes;
      if (is_server_) apply_mask(payload, payload, static_cast<std::size_t>(head.size), head.key);
      take_control(head, {payload, static_cast<std::size_t>(head.size)});
      drop_stash();
    } else {
      switch (parse_frame_head(input_.data(), input_.size(), rules(), head)) {
        case FrameVerdict::Bad: fail(kProtocolError); return Step::Failed;
        case FrameVerdict::More: keep_in_stash(); return Step::More;
        case FrameVerdict::Done: break;
      }
      if (!head.is_control()) [[likely]]
        return Step::Head;
      const auto size = static_cast<std::size_t>(head.size);
      if (input_.size() - head.head_bytes < size) {
        keep_in_stash();
        return Step::More;
      }
      char* payload = const_cast<char*>(input_.data()) + head.head_bytes;
      if (is_server_) apply_mask(payload, payload, size, head.key);
      take_control(head, {payload, size});
      if (!is_deaf_) consume(head.head_bytes + size);
    }
    if (is_deaf_) return Step::Failed;
    if (input_.is_empty()) return Step::More;
  }
}

void Session::keep_in_stash() {
  if (stash_ == nullptr) stash_ = shared_.stashes.take();
  const std::size_t size = std::min(input_.size(), sizeof stash_->bytes);
  std::memcpy(stash_->bytes, input_.data(), size);
  stash_->size = size;
  consume(size);
}

// Completes what is kept of a head, or of a whole control frame, and nothing beyond it.
Session::Step Session::fill_stash(FrameHead& head) {
  for (;;) {
    const FrameVerdict verdict = parse_frame_head(stash_->bytes, stash_->size, rules(), head);
    if (verdict == FrameVerdict::Bad) {
      fail(kProtocolError);
      return Step::Failed;
    }
    std::size_t wanted = 2;
    if (verdict == FrameVerdict::Done) {
      wanted = head.head_bytes + (head.is_control() ? static_cast<std::size_t>(head.size) : 0);
    } else if (stash_->size >= 2) {
      wanted = frame_head_bytes(static_cast<std::uint8_t>(stash_->bytes[1]));
    }
    if (verdict == FrameVerdict::Done && stash_->size >= wanted) return Step::Head;
    if (input_.is_empty()) return Step::More;
    const std::size_t size = std::min(wanted - stash_->size, input_.size());
    std::memcpy(stash_->bytes + stash_->size, input_.data(), size);
    stash_->size += size;
    consume(size);
  }
}

// A data frame that takes its time: in pieces, or part of a message.
bool Session::begin_frame(const FrameHead& head, bool is_in_parts) {
  const std::uint8_t opcode = head.opcode();
  // RFC 6455 §5.4: a message's frames are not mixed with another's.
  if ((opcode == kContinuation) != (kind_ != 0)) {
    fail(kProtocolError);
    return false;
  }
  if (opcode != kContinuation) {
    kind_ = opcode;
    is_deflated_ = head.is_compressed();
  }
  if (!reads_away()) {
    if (assembly_ == nullptr) assembly_ = shared_.assemblies.take();
    // As it comes a compressed message may be a little longer than it is: what does not shrink is stored.
    const std::uint64_t most =
        settings_.message_bytes_max + (is_deflated_ ? 64 + settings_.message_bytes_max / 1024 : 0);
    const std::uint64_t there = is_deflated_ ? assembly_->wire_bytes : assembly_->size;
    if (!is_in_parts && (there > most || head.size > most - there)) {
      fail(kMessageTooBig);
      return false;
    }
  }
  is_in_payload_ = true;
  is_final_ = head.is_final();
  left_ = head.size;
  key_ = head.key;
  return true;
}

// Takes what there is of a payload. True when that completes a message for `out`.
bool Session::take_payload(Message* out) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input_.size()));
  if (size > 0 && !reads_away() && !gather(const_cast<char*>(input_.data()), size, caps())) return false;
  consume(size);
  left_ -= size;
  key_ = rotate_key(key_, size);
  if (left_ > 0) return false;
  is_in_payload_ = false;
  if (!is_final_) return false;
  if (reads_away()) {
    kind_ = 0;
    drop_assembly();
    return false;
  }
  return finish_message(*out);
}

// The same for those who take a message as it comes. What is not compressed stays where it is.
bool Session::take_part(Message& out, bool& is_last) {
  // Compressed bytes grow: a few at a time bound what one part can be.
  constexpr std::size_t kDeflatedMax = 4096;
  auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input_.size()));
  if (is_deflated_) size = std::min(size, kDeflatedMax);
  out = Message(static_cast<Kind>(kind_), Slice());
  is_last = false;
  if (size > 0) {
    char* bytes = const_cast<char*>(input_.data());
    if (is_deflated_) {
      if (!gather(bytes, size, {.bytes_max = ~std::uint64_t{0}, .ratio_max = settings_.inflate_ratio_max}))
        return false;
      out = gathered();
    } else {
      if (is_server_) apply_mask(bytes, bytes, size, key_);
      if (kind_ == kText && !assembly_->utf8.add({bytes, size})) {
        fail(kInvalidText);
        return false;
      }
      out = Message(out.kind(), input_.part(0, size));
    }
    consume(size);
    left_ -= size;
    key_ = rotate_key(key_, size);
  }
  if (left_ == 0) {
    is_in_payload_ = false;
    is_last = is_final_;
    if (is_final_ && !end_parts(out)) return false;
  }
  return is_last || out.size() > 0;
}

// What has been gathered so far, which then begins anew.
Message Session::gathered() {
  const auto kind = static_cast<Kind>(kind_);
  if (assembly_->size == 0) return {kind, Slice()};
  const Ref<MessageBuffer> buffer = std::move(assembly_->buffer);
  return {kind, Slice(*buffer, buffer->data(), std::exchange(assembly_->size, std::size_t{0}))};
}

// The last part has come: whether the message was whole. A valid end inflates to nothing.
bool Session::end_parts(Message& out) {
  if (is_deflated_ && !check(inflater().finish(caps(), shared_, *assembly_))) return false;
  if (kind_ == kText && !assembly_->utf8.is_complete()) {
    out = Message();
    fail(kInvalidText);
    return false;
  }
  kind_ = 0;
  ++taken_count_;
  drop_assembly();
  return true;
}

bool Session::gather(char* bytes, std::size_t size, Inflater::Caps caps) {
  const std::size_t before = assembly_->size;
  if (is_deflated_) {
    if (is_server_) apply_mask(bytes, bytes, size, key_);
    if (!check(inflater().add({bytes, size}, caps, shared_, *assembly_))) return false;
  } else {
    shared_.make_room(*assembly_, size);
    if (is_server_) {
      apply_mask(assembly_->end(), bytes, size, key_);
    } else {
      std::memcpy(assembly_->end(), bytes, size);
    }
    assembly_->size += size;
  }
  return check_text(before);
}

// What has been gathered from `before` on.
bool Session::check_text(std::size_t before) {
  if (kind_ != kText || assembly_->size == before) return true;
  if (assembly_->utf8.add({assembly_->buffer->data() + before, assembly_->size - before})) return true;
  fail(kInvalidText);
  return false;
}

bool Session::check(Inflater::Verdict verdict) {
  if (verdict == Inflater::Verdict::Good) return true;
  // RFC 7692 does not say how to refuse what is no deflate stream; RFC 6455 §7.4.1 has 1007 for it.
  fail(verdict == Inflater::Verdict::TooLarge ? kMessageTooBig : kInvalidText);
  return false;
}

Inflater& Session::inflater() {
  std::unique_ptr<Inflater>& place = deflate_.keeps_peer ? extras().contexts.inflater : assembly_->inflater;
  if (place == nullptr) {
    place = deflate_.keeps_peer ? std::make_unique<Inflater>(int{deflate_.peer_bits})
                                : shared_.deflates.take_inflater(deflate_.peer_bits);
  }
  return *place;
}

bool Session::finish_message(Message& out) {
  if (is_deflated_) {
    const std::size_t before = assembly_->size;
    if (!check(inflater().finish(caps(), shared_, *assembly_)) || !check_text(before)) return false;
  }
  if (kind_ == kText && !assembly_->utf8.is_complete()) {
    fail(kInvalidText);
    return false;
  }
  out = gathered();
  ++taken_count_;
  kind_ = 0;
  drop_assembly();
  if (input_.is_empty()) give_credit();
  return true;
}

// Everything of the input was used.
void Session::give_credit() noexcept {
  shared_.counters.received += std::exchange(taken_count_, 0u);
  input_ = Slice();
  if (owed_bytes_ > 0 && stream_ != nullptr) stream_->credit(std::exchange(owed_bytes_, 0));
}

// The next bytes that have come; those before are given back to the stream.
bool Session::refill() {
  if (!input_.is_empty()) return true;
  give_credit();
  if (more_ == nullptr) {
    // Without a Close that is no ending (RFC 6455 §7.1.5).
    if (is_peer_done_) abort(Error(ErrorKind::Closed));
    return false;
  }
  begin_input(more_->pop_front());
  if (more_->is_empty()) more_.reset();
  return true;
}

void Session::drop_input() noexcept {
  if (more_ != nullptr) owed_bytes_ += static_cast<std::uint32_t>(more_->size());
  input_ = Slice();
  more_.reset();
  drop_stash();
  drop_assembly();
  if (owed_bytes_ > 0 && stream_ != nullptr) stream_->credit(std::exchange(owed_bytes_, 0));
}
void Session::drop_assembly() noexcept {
  if (assembly_ == nullptr) return;
  if (assembly_->inflater != nullptr) shared_.deflates.give(std::move(assembly_->inflater));
  shared_.assemblies.give(std::exchange(assembly_, nullptr));
}
void Session::drop_stash() noexcept {
  if (stash_ != nullptr) shared_.stashes.give(std::exchange(stash_, nullptr));
}

void Session::ignore_messages() {
  is_ignoring_ = true;
  deliver();
}

// --- control frames

void Session::take_control(const FrameHead& head, std::string_view payload) {
  switch (head.opcode()) {
    case kPing:
      // A peer that asks and does not read is answered when it has read (RFC 6455 §5.5.3 lets pongs be left out).
      if (!is_close_sent_ && !is_full()) add_control(kPong, payload);
      break;
    case kPong: is_ping_out_ = false; break;
    default: take_close(payload); break;
  }
}

void Session::take_close(std::string_view payload) {
  if (payload.empty()) {
    note_end(kNoCode, {});
    if (!is_close_sent_) send_close(kNoCode, {});
    end();
    return;
  }
  const unsigned code = payload.size() < 2 ? 0u
                                           : static_cast<unsigned>(static_cast<unsigned char>(payload[0])) << 8 |
                                                 static_cast<unsigned char>(payload[1]);
  // RFC 6455 §5.5.1, §7.4: a code, and only one that may be there; the reason is UTF-8.
  if (!is_wire_close_code(code)) return fail(kProtocolError);
  const std::string_view reason = payload.substr(2);
  if (!is_utf8(reason)) return fail(kInvalidText);
  note_end(static_cast<std::uint16_t>(code), reason);
  if (!is_close_sent_) send_close(static_cast<std::uint16_t>(code), reason);
  end();
}

void Session::on_end(const http::Fields*) {
  // What came before the peer's end is still read.
  is_peer_done_ = true;
  if (!is_ending_ && input_.is_empty()) abort(Error(ErrorKind::Closed));
}

}  // namespace violet::ws
