#include "violet/json/block_writer.h"

#include <utility>

namespace violet::json {

void BlockWriter::take_block() {
  block_ = pool_.take();
  first_ = block_->data();
  begin(first_, first_ + Block::capacity());
}

char* BlockWriter::make_room(char* at, char*& end) {
  chain_.append(Slice(*block_, first_, static_cast<std::size_t>(at - first_)));
  take_block();
  end = first_ + Block::capacity();
  return first_;
}

Chain BlockWriter::take() {
  chain_.append(Slice(*block_, first_, static_cast<std::size_t>(at() - first_)));
  first_ = at();
  return std::move(chain_);
}

}  // namespace violet::json
