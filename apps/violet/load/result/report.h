#pragma once

// What a run found out, for people, for programs and for spreadsheets.

#include "load/engine/run.h"

#include <string>

namespace violet::load {

// What was asked of the server, in one line: "64 connections, 1 thread, 16 pipelined, closed loop, 10 s".
std::string describe(const Options& options);
// Several lines.
std::string summary(const Options& options, const Result& result);
std::string as_json(const Options& options, const Result& result);
// A head line and one for each second.
std::string as_csv(const Result& result);

}  // namespace violet::load
