#pragma once

// List<T>: a doubly linked list through a ListNode<Tag> base of its elements. It owns nothing and allocates nothing;
// an element removes itself in O(1) and its destructor asserts that it has left. One element can be in several lists
// through several tags.
//
//   struct Idle; struct Session : ListNode<Idle> { … };
//   List<Session, Idle> idle;   idle.push_back(session);   session.unlink();

#include "violet/base/check.h"

#include <cstddef>

namespace violet {

template <class Tag>
class ListNode {
 public:
  ListNode() noexcept = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  ~ListNode() { unlink(); }

  [[nodiscard]] bool is_linked() const noexcept { return next_ != nullptr; }
  // Leaves the list it is in; no effect outside a list.
  void unlink() noexcept {
    if (next_ == nullptr) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }

 private:
  template <class, class>
  friend class List;
  ListNode* next_ = nullptr;
  ListNode* previous_ = nullptr;
};

template <class T, class Tag>
class List {
  using Node = ListNode<Tag>;

 public:
  List() noexcept { head_.next_ = head_.previous_ = &head_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    clear();
    head_.next_ = head_.previous_ = nullptr;
  }

  [[nodiscard]] bool is_empty() const noexcept { return head_.next_ == &head_; }
  [[nodiscard]] T* front() const noexcept { return is_empty() ? nullptr : element(head_.next_); }
  [[nodiscard]] bool is_front(const T& item) const noexcept { return head_.next_ == static_cast<const Node*>(&item); }
  [[nodiscard]] T* back() const noexcept { return is_empty() ? nullptr : element(head_.previous_); }
  // The element after `item`, nullptr at the end.
  [[nodiscard]] T* next(const T& item) const noexcept {
    Node* node = static_cast<const Node&>(item).next_;
    return node == &head_ ? nullptr : element(node);
  }

  // REQUIRES: `item` is in no list of this tag.
  void push_back(T& item) noexcept { insert_before(head_, item); }
  void push_front(T& item) noexcept { insert_before(*head_.next_, item); }
  T* pop_front() noexcept {
    T* item = front();
    if (item != nullptr) static_cast<Node*>(item)->unlink();
    return item;
  }

  // Moves all elements of `other` to our end.
  void splice_back(List& other) noexcept {
    if (other.is_empty()) return;
    Node* first = other.head_.next_;
    Node* last = other.head_.previous_;
    first->previous_ = head_.previous_;
    head_.previous_->next_ = first;
    last->next_ = &head_;
    head_.previous_ = last;
    other.head_.next_ = other.head_.previous_ = &other.head_;
  }

  // Unlinks every element; destroys none.
  void clear() noexcept {
    while (!is_empty()) head_.next_->unlink();
  }

 private:
  static T* element(Node* node) noexcept { return static_cast<T*>(node); }
  static void insert_before(Node& where, T& item) noexcept {
    Node& node = item;
    VIOLET_ASSERT(!node.is_linked());
    node.next_ = &where;
    node.previous_ = where.previous_;
    where.previous_->next_ = &node;
    where.previous_ = &node;
  }

  mutable Node head_;
};

}  // namespace violet
