#include "violet/web/endpoint.h"

namespace violet::web {

Providers::~Providers() {
  while (!entries_.empty()) {
    const Entry entry = entries_.back();
    entries_.pop_back();
    entry.destroy(entry.object);
  }
}

bool Providers::add(const void* type, void* object, void (*destroy)(void*) noexcept) {
  if (find(type) != nullptr) {
    destroy(object);
    return false;
  }
  entries_.push_back({type, object, destroy});
  return true;
}

void* Providers::find(const void* type) const noexcept {
  for (const Entry& entry : entries_) {
    if (entry.type == type) return entry.object;
  }
  return nullptr;
}

void Binding::fail(std::string_view sentence) {
  errors.push_back(to_string(where) + ": " + std::string(what) + ": " + std::string(sentence));
}

std::string to_string(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

}  // namespace violet::web
