#pragma once

// Service: turns an exchange into an answer. The router is one; middleware that has to wait is a Service around a
// Service.

namespace violet {

class Exchange;

class Service {
 public:
  Service() noexcept = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // Called when the head has arrived, on the exchange's loop. Answers at once, asks for the body, starts a task, or
  // holds the exchange to answer later. What it throws becomes a 500.
  virtual void serve(Exchange& exchange) = 0;
};

}  // namespace violet
