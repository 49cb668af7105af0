// What ff::open says of servers: those that are none, tokens, certificates.

#include "client/client_world.h"

#include <cstdlib>
#include <fstream>

namespace ff::test {
namespace {

class ClientOpening : public ClientTest {
 protected:
  /// What opening somebody says who answers so.
  Result<Fabric> open_fake(const std::string& bytes) const {
    FakeServer fake([&](int fd, int) {
      FakeServer::read_request(fd);
      FakeServer::write(fd, bytes);
    });
    return open_client({}, fake.url());
  }
};

TEST_F(ClientOpening, a_url_opens_the_same_fabric) {
  OpenOptions options;
  options.log = [](LogLevel, std::string_view, std::span<const LogField>) {};
  const Fabric opened = must(ff::open(url, options));
  const FabricInfo info = must(opened.info());
  EXPECT_EQ(info.store, "memory");
  EXPECT_EQ(info.data_set_id, must(fabric.info()).data_set_id);
  options.namespace_ = "mine";
  const auto id = must(must(ff::open(url, options)).submit(plain())).execution_id;
  EXPECT_EQ(get(id).namespace_, "mine");
  EXPECT_THAT(ff::open("http://", options), RefusedWith(ErrorCode::store_refused, "reason", "invalid_url"));
}

TEST_F(ClientOpening, somebody_else_at_that_address) {
  for (const std::string& bytes :
       {FakeServer::answer(200, "<html>hello</html>"), FakeServer::answer(200, "{}"), FakeServer::answer(404, "<html>"),
        FakeServer::answer(301, "", "Location: /\r\n"), FakeServer::answer(200, R"({"version":"1.0"})"),
        FakeServer::answer(200, "[]")})
    EXPECT_THAT(open_fake(bytes), RefusedWith(ErrorCode::store_refused, "reason", "not_flowfabric")) << bytes;
  for (const std::string& bytes : {std::string("SSH-2.0-OpenSSH\r\n\r\n"), std::string("\0\1\2\r\n\r\n", 7), std::string()}) {
    const auto refused = open_fake(bytes);
    ASSERT_THAT(refused, Refused(ErrorCode::store_unavailable)) << bytes;
    EXPECT_THAT(refused.error().message, HasSubstr("http://127.0.0.1:"));
  }
  const std::string other = R"({"version":"77.0.0","data_set_id":"018f0000-0000-7000-8000-000000000001","durability":"full"})";
  EXPECT_THAT(open_fake(FakeServer::answer(200, other)), RefusedWith(ErrorCode::store_refused, "reason", "version_unsupported"));
}

TEST_F(ClientOpening, garbage_later_on_is_an_error_of_the_call) {
  const std::string info = core::to_json_text(must(fabric.info()));
  FakeServer fake([&](int fd, int) {
    for (std::string request = FakeServer::read_request(fd); !request.empty(); request = FakeServer::read_request(fd))
      FakeServer::write(fd, FakeServer::answer(200, request.starts_with("GET /v1/info") ? info : "{\"items\":[7]}"));
  });
  Fabric client = must(open_client({}, fake.url()));
  EXPECT_THAT(client.get(next_id()), Refused(ErrorCode::store_refused));
  EXPECT_THAT(client.cancel(next_id()), Refused(ErrorCode::store_refused));
  EXPECT_THAT(client.list({}), Refused(ErrorCode::store_refused));
  EXPECT_THAT(client.claim(request()), Refused(ErrorCode::store_refused));
  EXPECT_THAT(client.submit_all(std::vector<Submission>(3, plain())), ::testing::Each(Refused(ErrorCode::store_refused)));
  client.close();
}

TEST_F(ClientOpening, tokens) {
  ServedOptions guarded;
  guarded.server.authenticate = [](const server::Request& request, server::Authenticated done) {
    const std::string* header = server::find_header(request.headers, "Authorization");
    std::optional<server::Principal> known;
    if (header && *header == "Bearer all") known.emplace();
    if (header && *header == "Bearer work") known.emplace().scopes = server::Scopes().with(server::Scope::worker);
    if (header && *header == "Bearer submit") known.emplace().scopes = server::Scopes().with(server::Scope::submit);
    done(std::move(known));
  };
  serve(std::move(guarded), {.token = "all"});
  const auto missing = open_client();
  ASSERT_THAT(missing, Refused(ErrorCode::unauthorized));
  EXPECT_THAT(missing.error().message, HasSubstr("asks for a token"));
  const auto wrong = open_client({.token = "s3cret"});
  ASSERT_THAT(wrong, Refused(ErrorCode::unauthorized));
  EXPECT_THAT(wrong.error().to_string(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(open_client({.token = "all\n"}), RefusedWith(ErrorCode::store_refused, "reason", "invalid_token"));
  EXPECT_THAT(open_client({.token = ""}), RefusedWith(ErrorCode::store_refused, "reason", "invalid_token"));
  EXPECT_THAT(remote.info(), Succeeds());

  // Who may not read still works, or submits.
  Fabric submitter = must(open_client({.token = "submit"}));
  EXPECT_THAT(submitter.info(), Refused(ErrorCode::forbidden));
  EXPECT_THAT(submitter.claim(request()), Refused(ErrorCode::forbidden));
  EXPECT_FALSE(must(submitter.submit(plain())).duplicate);
  Fabric worker = must(open_client({.token = "work"}));
  EXPECT_THAT(must(worker.claim(request())), SizeIs(1));
  EXPECT_THAT(worker.submit(plain()), Refused(ErrorCode::forbidden));
  submitter.close();
  worker.close();
}

/// Certificates are made by the openssl command, in a folder of the test's own.
class ClientTls : public ClientTest {
 protected:
  void openssl(const std::string& arguments) const {
    const std::string command = fmt::format("cd '{}' && openssl {} >openssl.log 2>&1", folder_.path().string(), arguments);
    ASSERT_EQ(std::system(command.c_str()), 0) << arguments;
  }
  void make_authority(const std::string& name) const {
    openssl(fmt::format("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {0}.key -out {0}.pem "
                        "-days 2 -subj /CN={0}",
                        name));
  }
  /// A server whose certificate, signed by `ca`, is for this: `IP:127.0.0.1`, `DNS:localhost`.
  ServedOptions secure(const std::string& names) const {
    openssl("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.csr -subj /CN=server");
    std::ofstream(file("names")) << "subjectAltName=" << names << "\n";
    openssl("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names");
    ServedOptions options;
    options.transport.tls = server::TlsFiles{file("server.pem"), file("server.key"), std::nullopt};
    return options;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  TempFolder folder_;
};

TEST_F(ClientTls, calls_over_tls) {
  make_authority("ca");
  serve(secure("IP:127.0.0.1"), {.ca_file = file("ca.pem")});
  ASSERT_TRUE(url.starts_with("https://127.0.0.1:"));
  Submission large = plain();
  large.payload = std::string(900'000, '7');
  const auto id = must(remote.submit(large)).execution_id;
  EXPECT_EQ(must(remote.payload(id))->bytes, *large.payload);
  for (const auto& answer : remote.submit_all(std::vector<Submission>(500, plain()))) EXPECT_TRUE(answer);
  EXPECT_THAT(must(remote.claim(request("w", 100))), SizeIs(100));

  ClaimRequest waiting = request();
  waiting.lanes = {"empty"};
  waiting.wait_ms = 60'000;
  std::atomic<bool> answered = false;
  ClaimCall call = remote.claim(waiting, [&](const auto& tasks) { answered = tasks && tasks->empty(); });
  ASSERT_TRUE(claims_wait(1));
  call.cancel();
  EXPECT_TRUE(eventually([&] { return answered.load(); }));
  EXPECT_TRUE(claims_wait(0));
}

TEST_F(ClientTls, a_server_that_cannot_be_trusted_is_refused) {
  make_authority("ca");
  make_authority("stranger");
  serve(secure("IP:127.0.0.1"), {.ca_file = file("ca.pem")});
  const auto wrong = open_client({.ca_file = file("stranger.pem")});
  ASSERT_THAT(wrong, Refused(ErrorCode::store_unavailable));
  EXPECT_THAT(wrong.error().message, HasSubstr("certificate"));
  EXPECT_FALSE(open_client()) << "nor do the system's certificates vouch for it";
  const std::string by_name = "https://localhost" + url.substr(url.rfind(':'));
  EXPECT_FALSE(open_client({.ca_file = file("ca.pem")}, by_name)) << "it is not for that name";
  EXPECT_FALSE(open_client({}, "http" + url.substr(5))) << "without TLS";
  EXPECT_THAT(open_client({.ca_file = file("none.pem")}), RefusedWith(ErrorCode::store_refused, "reason", "invalid_ca_file"));
  EXPECT_THAT(open_client({.ca_file = file("ca.pem")}, "http://127.0.0.1:1"),
              RefusedWith(ErrorCode::store_refused, "reason", "invalid_url"));
}

TEST_F(ClientTls, a_name_is_what_the_certificate_is_for) {
  make_authority("ca");
  ServedOptions options = secure("DNS:localhost");
  served = std::make_unique<Served>(fabric, std::move(options), Served::Ends::server_only);
  url = served->url();
  EXPECT_THAT(open_client({.ca_file = file("ca.pem")}, "https://localhost" + url.substr(url.rfind(':'))), Succeeds());
  EXPECT_FALSE(open_client({.ca_file = file("ca.pem")}));
}

}  // namespace
}  // namespace ff::test
