// 07, T15: TLS. Certificates are made by the openssl command, in a folder of the test's own.

#include "server/transport_world.h"
#include "support/temp_folder.h"

#include <cstdlib>
#include <fstream>

namespace ff::test {
namespace {

class TransportTls : public TransportTest {
 protected:
  void SetUp() override { make_authority("ca"); }

  void openssl(const std::string& arguments) const {
    const std::string command = fmt::format("cd '{}' && openssl {} >openssl.log 2>&1", folder_.path().string(), arguments);
    ASSERT_EQ(std::system(command.c_str()), 0) << arguments;
  }
  void make_authority(const std::string& name) const {
    openssl(fmt::format("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {0}.key -out {0}.pem "
                        "-days 2 -subj /CN={0}",
                        name));
  }
  /// `name.pem` and `name.key`, signed by the authority.
  void make_certificate(const std::string& name, const std::string& authority = "ca") const {
    openssl(fmt::format("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {0}.key -out {0}.csr -subj /CN={0}",
                        name));
    openssl(fmt::format("x509 -req -in {0}.csr -CA {1}.pem -CAkey {1}.key -CAcreateserial -out {0}.pem -days 2", name, authority));
  }
  void serve_with(const std::string& name, bool demands_certificates = false) {
    server::TlsFiles files{file(name + ".pem"), file(name + ".key"), std::nullopt};
    if (demands_certificates) files.client_ca = file("ca.pem");
    serve({.tls = files});
  }
  void copy(const std::string& from, const std::string& to) const {
    std::filesystem::copy_file(file(from), file(to), std::filesystem::copy_options::overwrite_existing);
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  HttpClient secure(const std::string& authority = "ca", const std::string& certificate = "") const {
    ClientTls tls{file(authority + ".pem"), {}, {}};
    if (!certificate.empty()) tls = {tls.ca, file(certificate + ".pem"), file(certificate + ".key")};
    return HttpClient(url(), tls);
  }

  TempFolder folder_;
};

TEST_F(TransportTls, T15_requests_over_tls) {
  make_certificate("server");
  serve_with("server");
  EXPECT_TRUE(url().starts_with("https://127.0.0.1:"));
  HttpClient http = secure();
  ASSERT_TRUE(http.is_open());
  const std::string large = R"({"execution_kind":"job","payload":")" + std::string(900'000, 'x') + "\"}";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(http.call("POST", "/v1/executions", large).status, 201);
  const std::string id(json::parse(http.call("GET", "/v1/executions?limit=1").body).at("items").at(0).at("execution_id").as_string());
  EXPECT_EQ(http.call("GET", path(id, "/payload")).body.size(), 900'002U);
  EXPECT_EQ(http.call("GET", "/livez", "", {{"Connection", "close"}}).header("connection"), "close");
  EXPECT_TRUE(http.is_at_end());
}

TEST_F(TransportTls, T15_plain_requests_are_refused) {
  make_certificate("server");
  serve_with("server");
  HttpClient plain("http" + url().substr(5));
  ASSERT_TRUE(plain.send(HttpClient::request_text("GET", "/livez")));
  EXPECT_EQ(plain.read_answer().status, 0);
  EXPECT_TRUE(connections_are(0));
}

TEST_F(TransportTls, a_handshake_that_does_not_come_is_not_waited_for) {
  make_certificate("server");
  serve({.header_timeout_ms = 200, .tls = server::TlsFiles{file("server.pem"), file("server.key"), std::nullopt}});
  HttpClient silent("http" + url().substr(5));
  EXPECT_TRUE(silent.is_at_end());
}

TEST_F(TransportTls, T15_certificates_of_clients_are_demanded) {
  make_certificate("server");
  make_certificate("friend");
  make_authority("stranger_ca");
  make_certificate("stranger", "stranger_ca");
  serve_with("server", true);
  EXPECT_EQ(secure("ca", "friend").call("GET", "/livez").status, 200);
  // With TLS 1.3 a client learns only from the first answer that it was not let in.
  EXPECT_EQ(secure().call("GET", "/livez").status, 0);
  EXPECT_EQ(secure("ca", "stranger").call("GET", "/livez").status, 0);
}

TEST_F(TransportTls, T15_renewed_files_are_used_without_a_restart) {
  make_certificate("server");
  serve_with("server");
  HttpClient before = secure();
  EXPECT_EQ(before.call("GET", "/livez").status, 200);
  make_authority("new_ca");
  make_certificate("renewed", "new_ca");
  EXPECT_FALSE(secure("new_ca").is_open());
  copy("renewed.pem", "server.pem");
  copy("renewed.key", "server.key");
  transport->reload_changed_certificates();
  EXPECT_EQ(secure("new_ca").call("GET", "/livez").status, 200);
  EXPECT_FALSE(secure("ca").is_open());
  EXPECT_EQ(before.call("GET", "/livez").status, 200) << "who is connected stays so";
  EXPECT_TRUE(was_logged("certificates were read again"));
}

TEST_F(TransportTls, T15_files_that_cannot_be_used_leave_the_old_ones) {
  make_certificate("server");
  make_certificate("other");
  serve_with("server");
  copy("other.key", "server.key");  // half of a renewal: it does not belong to the certificate
  transport->reload_changed_certificates();
  EXPECT_EQ(secure().call("GET", "/livez").status, 200);
  EXPECT_TRUE(was_logged("the old ones stay"));
  std::ofstream(file("server.pem")) << "nonsense";
  transport->reload_certificates();
  EXPECT_EQ(secure().call("GET", "/livez").status, 200);
}

TEST_F(TransportTls, files_that_cannot_be_used_at_the_start) {
  make_certificate("server");
  auto why_not = [&](server::TlsFiles files) {
    auto started = server::Transport::start(*api, {.listen = {"127.0.0.1:0"}, .tls = std::move(files)});
    return started ? "" : started.error();
  };
  EXPECT_THAT(why_not({file("none.pem"), file("server.key"), {}}), HasSubstr("tls_cert"));
  EXPECT_THAT(why_not({file("server.pem"), file("ca.key"), {}}), HasSubstr("tls_key"));
  EXPECT_THAT(why_not({file("server.pem"), file("server.key"), file("none.pem")}), HasSubstr("tls_client_ca"));
}

TEST_F(TransportTls, claims_wait_and_whoever_leaves_is_noticed) {
  make_certificate("server");
  serve_with("server");
  HttpClient http = secure();
  ASSERT_TRUE(http.send(HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":60000)"))));
  EXPECT_TRUE(claims_wait(1));
  http.close();
  EXPECT_TRUE(claims_wait(0));
  EXPECT_TRUE(connections_are(0));
}

TEST_F(TransportTls, a_shutdown_says_goodbye) {
  make_certificate("server");
  serve_with("server");
  std::vector<HttpClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(secure());
    ASSERT_TRUE(clients.back().send(HttpClient::request_text("POST", "/v1/worker/claim", claim_body(R"(,"wait_ms":60000)"))));
  }
  EXPECT_TRUE(claims_wait(20));
  transport->drain(std::chrono::seconds(60), [] { return true; });
  for (HttpClient& http : clients) EXPECT_EQ(http.read_answer().body, R"({"tasks":[]})");
}

}  // namespace
}  // namespace ff::test
