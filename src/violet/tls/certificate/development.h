#pragma once

// A certificate for the developer's own machine: localhost, 127.0.0.1 and ::1, self-signed, ECDSA P-256. Made once and
// kept in the user's state folder, so that a browser that was told to trust it need not be told again.

#include "violet/tls/settings.h"

#include <string>

namespace violet::tls {

struct DevelopmentCertificate {
  CertificateFiles files;  // one file with certificate and key, or, where none could be kept, its text
  std::string path;        // of that file, "" when it is kept nowhere
  bool is_new = false;
};

// The one in `folder`, or a new one: where there is none, or it ends within a week, or it cannot be used. `folder` ""
// is default_state_folder(). Files are readable by their user only.
Loaded<DevelopmentCertificate> development_certificate(std::string folder = {});

// $XDG_STATE_HOME/violet, ~/.local/state/violet; "" when the environment names neither.
std::string default_state_folder();

}  // namespace violet::tls
