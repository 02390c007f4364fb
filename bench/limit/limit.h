#pragma once

// What the limit servers share. A limit server does nothing but find where each request ends and answer it with the
// same 13 bytes: no server on the same system calls can be faster, so it is what others are measured against.
//
// Requests without a body only. One thread.

#include <stddef.h>

// The longest run of answers that one write sends.
enum { kBatchMax = 512, kReadBytes = 65536 };

// Raises the descriptor limit, ignores SIGPIPE, prepares the answers. REQUIRES: called first.
void limit_prepare(void);

// Writes the current second into the answers.
void limit_refresh(void);

// The next `*count` answers, at most kBatchMax of them: taken off `*count`, their bytes in `*bytes`.
const char* limit_answers(size_t* count, size_t* bytes);

// How many requests end in data[0, size). `*seen` carries how much of the final CRLF CRLF the last read ended with; 0
// for a new connection.
size_t limit_count_requests(const char* data, size_t size, unsigned char* seen);

// Listens on 127.0.0.1:`port` (0 takes a free one), not blocking, and prints the address. Exits when it cannot.
int limit_listen(int port);
