#include "violet/features/files/cache/content.h"

#include <new>

namespace violet::files {

Ref<Content> Content::make(const Version& version, std::shared_ptr<ByteCount> resident) {
  void* memory = ::operator new(sizeof(Content) + static_cast<std::size_t>(version.size) + kScanPadding);
  return Ref<Content>::adopt(::new (memory) Content(version, std::move(resident)));
}

Content::Content(const Version& version, std::shared_ptr<ByteCount> resident) noexcept
    : Buffer(Kind::Shared, &Content::destroy), version_(version), resident_(std::move(resident)) {
  resident_->fetch_add(cost(), std::memory_order_relaxed);
}

void Content::destroy(Buffer* self) noexcept {
  auto* content = static_cast<Content*>(self);
  content->resident_->fetch_sub(content->cost(), std::memory_order_relaxed);
  content->~Content();
  ::operator delete(static_cast<void*>(content));
}

}  // namespace violet::files
