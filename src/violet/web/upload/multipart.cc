#include "violet/web/upload/multipart.h"

#include "violet/core/limits.h"
#include "violet/data/findings.h"
#include "violet/web/input/body.h"
#include "violet/web/upload/parser.h"

namespace violet {
namespace {

using Step = web::MultipartParser::Step;

// What one write takes: enough to be worth the two hops, little enough for many at once.
constexpr std::size_t kWriteBytes = 128 * 1024;

}  // namespace

// In the exchange's arena, so that it stays where it is while the Multipart is moved into the coroutine's frame.
class web::MultipartState {
 public:
  MultipartState(Exchange& exchange, std::string_view boundary)
      : exchange_(exchange), body_(exchange), parser_(boundary, exchange.limits()) {}

  // The next step that says something; End and Bad for ever.
  Task<Step> step() {
    while (!has_ended_) {
      const Step step = parser_.next(rest_);
      if (step == Step::Bad) refuse();
      if (step != Step::More) co_return step;
      Result<Slice> piece = co_await body_.read();
      if (!piece) {
        fail_with(piece.error());
      } else if (piece->is_empty()) {
        has_ended_ = true;
        if (parser_.finish() == Step::Bad) refuse();
      } else {
        piece_ = std::move(*piece);
        rest_ = piece_.text();
      }
    }
    co_return error_ ? Step::Bad : Step::End;
  }

  // The data of the step before, kept as long as anybody wants it.
  [[nodiscard]] Slice data() const {
    const std::string_view data = parser_.data();
    const bool is_of_piece = data.data() >= piece_.data() && data.data() < piece_.data() + piece_.size();
    if (!is_of_piece) return Slice::of(std::string(data));
    return piece_.part(static_cast<std::size_t>(data.data() - piece_.data()), data.size());
  }
  [[nodiscard]] const web::PartHead& head() const noexcept { return parser_.head(); }
  [[nodiscard]] Error error() const noexcept { return error_; }
  [[nodiscard]] std::uint64_t field_bytes_max() const noexcept { return exchange_.limits().multipart_field_bytes_max; }
  Error exceed_field() {
    fail_with(Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::multipart_field_bytes_max)));
    answer_problem({});
    return error_;
  }

  std::uint64_t part_number = 0;  // of the part that is being read
  bool is_in_part = false;

 private:
  void fail_with(Error why) noexcept {
    has_ended_ = true;
    error_ = why;
  }
  // A problem, as for what other parameters refuse; see Fetch::answer().
  void answer_problem(std::string_view detail) {
    exchange_.findings = exchange_.arena().make<data::Findings>(exchange_.arena());
    exchange_.refuse(error_, detail);
  }
  void refuse() {
    fail_with(parser_.error());
    answer_problem(parser_.defect());
  }

  Exchange& exchange_;
  BodyStream body_;
  web::MultipartParser parser_;
  Slice piece_;
  std::string_view rest_;  // of piece_
  Error error_;
  bool has_ended_ = false;
};

Multipart::Multipart(Fetch& fetch) {
  Exchange& exchange = fetch.exchange();
  const std::string_view type = exchange.request().fields.get(http::FieldId::ContentType);
  if (!web::is_form_data(type)) {
    fetch.refuse(Error(ErrorKind::Unsupported, 0, 415), "the body has to be multipart/form-data");
  } else if (const auto boundary = web::boundary_of(type); !boundary) {
    fetch.refuse(Error(ErrorKind::Invalid), "the Content-Type has no boundary, or a malformed one");
  } else {
    state_ = exchange.arena().make<web::MultipartState>(exchange, *boundary);
  }
}

Multipart::~Multipart() {
  if (state_ != nullptr) state_->~MultipartState();
}

Error Multipart::error() const noexcept { return state_->error(); }

Task<std::optional<Part>> Multipart::next() {
  for (;;) {
    const Step step = co_await state_->step();
    state_->is_in_part = step == Step::Data || step == Step::Part;
    if (step == Step::End || step == Step::Bad) co_return std::nullopt;
    if (step != Step::Part) continue;  // the rest of a part that nobody has read
    Part part;
    part.name_ = state_->head().name;
    part.is_file_ = state_->head().file_name.has_value();
    part.file_name_ = state_->head().file_name.value_or("");
    part.content_type_ = state_->head().content_type;
    part.state_ = state_;
    part.number_ = ++state_->part_number;
    co_return part;
  }
}

Task<Result<Slice>> Part::read() {
  web::MultipartState& state = *state_;
  if (state.part_number != number_ || !state.is_in_part) {
    if (state.error()) co_return fail(state.error());
    co_return Slice();
  }
  const Step step = co_await state.step();
  if (step == Step::Data) co_return state.data();
  state.is_in_part = false;
  if (step == Step::Bad) co_return fail(state.error());
  co_return Slice();
}

Task<Result<std::string>> Part::text() {
  web::MultipartState& state = *state_;
  std::string text;
  for (;;) {
    Result<Slice> piece = co_await read();
    if (!piece) co_return fail(piece.error());
    if (piece->is_empty()) co_return text;
    if (text.size() + piece->size() > state.field_bytes_max()) co_return fail(state.exceed_field());
    text.append(piece->text());
  }
}

Task<Result<SavedFile>> Part::save(std::string folder) {
  Result<SavedFile> file = co_await SavedFile::create(std::move(folder));
  if (!file) co_return fail(file.error());
  std::string gathered;
  for (;;) {
    Result<Slice> piece = co_await read();
    if (!piece) co_return fail(piece.error());
    const bool has_ended = piece->is_empty();
    if (!has_ended) gathered.append(piece->text());
    if (gathered.size() >= kWriteBytes || (has_ended && !gathered.empty())) {
      Result<std::string> memory = co_await file->write(std::move(gathered));
      if (!memory) co_return fail(memory.error());
      gathered = std::move(*memory);
    }
    if (has_ended) co_return std::move(*file);
  }
}

}  // namespace violet
