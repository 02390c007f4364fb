// HTTPS: tls [PORT [CERTIFICATE KEY [CLIENT_CA]]]. Without a certificate there is one for localhost, made by itself;
// with a CA clients have to show certificates of it. Files are read again when they change.
//
//   curl -k https://127.0.0.1:8443/
//   curl --cacert c.pem --cert me.pem --key me.key https://localhost:8443/me
#include <violet/violet.h>

#include <cstdio>
#include <string>
#include <vector>

using namespace violet;

namespace {

std::string hello(Request request) {
  const Security* security = request.security();
  std::string text = "hello over " + std::string(security->version) + ", " + std::string(security->cipher) + "\n";
  if (security->is_resumed) text += "you have been here before\n";
  return text;
}

Reply me(Request request) {
  const Security* security = request.security();
  if (!security->has_client_certificate) return Reply(Status::Forbidden).body("you have shown no certificate\n");
  std::string text = "you are " + security->client_subject + "\n";
  for (const std::string& name : security->client_names) text += "also " + name + "\n";
  return Reply(std::move(text));
}

}  // namespace

int main(int argc, char** argv) {
  ListenOptions options;
  if (argc > 3) {
    options.certificate = argv[2];
    options.key = argv[3];
  }
  if (argc > 4) {
    options.client_certificate = ClientCertificate::Required;
    options.client_ca = argv[4];
  }
  App app;
  app.get("/", hello);
  app.get("/me", me);
  app.post("/echo", [](Text text) { return text; });
  app.on_listen([](const std::vector<std::string>& urls) {
    std::printf("%s\n", urls.front().c_str());
    std::fflush(stdout);
  });
  return app.listen("https://127.0.0.1:" + std::string(argc > 1 ? argv[1] : "8443"), options).run();
}
