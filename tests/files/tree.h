#pragma once

// Tree: a folder of a test's own, with everything that can lie in one; gone with the object.

#include <cstdint>
#include <string>
#include <string_view>

namespace violet::files {

class Tree {
 public:
  Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Creates or overwrites in place; folders on the way are made.
  void write(std::string_view name, std::string_view text) const;
  // As editors and deployments do it: another file takes the name.
  void replace(std::string_view name, std::string_view text) const;
  void folder(std::string_view name) const;
  void link(std::string_view name, std::string_view target) const;
  void fifo(std::string_view name) const;
  void socket(std::string_view name) const;
  void remove(std::string_view name) const;
  void rename(std::string_view from, std::string_view to) const;
  void truncate(std::string_view name, std::uint64_t size) const;
  // The time of the last change of its data, in seconds since 1970.
  void set_time(std::string_view name, std::int64_t seconds, std::int64_t nanoseconds = 0) const;
  [[nodiscard]] std::string read(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace violet::files
