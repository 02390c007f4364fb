#pragma once

// Wrong on purpose: uses std::string without including it. Compiling this alone must fail; see CMakeLists.txt.

inline std::string leaning() { return "on others"; }
