// Where it listens: names, ports, socket files, a door for admins.

#include "server/transport_world.h"
#include "support/temp_folder.h"

#include <fstream>

namespace ff::test {
namespace {

class TransportAddresses : public TransportTest {
 protected:
  std::string why_not(server::TransportOptions options) {
    options.threads = 1;
    auto started = server::Transport::start(*api, std::move(options));
    return started ? "" : started.error();
  }
  static std::string port_of(const std::string& url) { return url.substr(url.rfind(':') + 1); }
};

TEST_F(TransportAddresses, several_at_once) {
  const TempFolder folder;
  serve({.listen = {"127.0.0.1:0", "[::1]:0", "unix:" + folder.file("ff.sock"), "0.0.0.0:0"}});
  ASSERT_EQ(transport->addresses().size(), 4U);
  EXPECT_TRUE(url(0).starts_with("http://127.0.0.1:"));
  EXPECT_TRUE(url(1).starts_with("http://[::1]:"));
  EXPECT_EQ(url(2), "unix:" + folder.file("ff.sock"));
  EXPECT_TRUE(url(3).starts_with("http://0.0.0.0:"));
  EXPECT_NE(port_of(url(0)), "0");
  for (const std::string& address : {url(0), url(1), url(2), "http://127.0.0.1:" + port_of(url(3))}) {
    HttpClient http(address);
    EXPECT_EQ(http.call("POST", "/v1/executions", R"({"execution_kind":"a"})").status, 201) << address;
  }
}

TEST_F(TransportAddresses, a_name_stands_for_all_its_addresses_with_one_port) {
  serve({.listen = {"localhost:0"}});
  for (const std::string& address : transport->addresses()) {
    EXPECT_EQ(port_of(address), port_of(url()));
    EXPECT_EQ(HttpClient(address).call("GET", "/livez").status, 200);
  }
}

TEST_F(TransportAddresses, pages_are_kept_out_of_what_only_this_machine_reaches) {
  const TempFolder folder;
  serve({.listen = {"127.0.0.1:0", "unix:" + folder.file("s"), "0.0.0.0:0"}});
  const Headers page = {{"Origin", "https://evil.example"}};
  EXPECT_EQ(HttpClient(url(0)).call("GET", "/livez", "", page).status, 403);
  EXPECT_EQ(HttpClient(url(1)).call("GET", "/livez", "", page).status, 403);
  EXPECT_EQ(HttpClient("http://127.0.0.1:" + port_of(url(2))).call("GET", "/livez", "", page).status, 200);
}

TEST_F(TransportAddresses, T43_a_door_for_admins) {
  serve({.admin_listen = "127.0.0.1:0"});
  ASSERT_EQ(transport->addresses().size(), 2U);
  HttpClient api_door(url(0)), admin_door(url(1));
  EXPECT_EQ(api_door.call("GET", "/v1/executions").status, 200);
  EXPECT_EQ(admin_door.call("GET", "/v1/executions").status, 404);
  EXPECT_EQ(admin_door.call("GET", "/livez").status, 200);
}

TEST_F(TransportAddresses, an_address_that_is_taken) {
  const std::string taken = url().substr(7);
  EXPECT_THAT(why_not({.listen = {taken}}), HasSubstr(taken));
  EXPECT_THAT(why_not({.listen = {"192.0.2.1:80"}}), HasSubstr("192.0.2.1:80"));
  EXPECT_THAT(why_not({.listen = {"no-such-name.invalid:80"}}), HasSubstr("no-such-name.invalid"));
  EXPECT_THAT(why_not({.listen = {"unix:/no/such/folder/s"}}), HasSubstr("/no/such/folder/s"));
  EXPECT_THAT(why_not({.listen = {"unix:/tmp/" + std::string(200, 'x')}}), HasSubstr("too long"));
  EXPECT_EQ(client().call("GET", "/livez").status, 200);
}

TEST_F(TransportAddresses, a_socket_file_is_taken_over_only_when_nobody_listens) {
  const TempFolder folder;
  const std::string address = "unix:" + folder.file("s");
  serve({.listen = {address}});
  EXPECT_THAT(why_not({.listen = {address}}), HasSubstr("another process listens"));
  EXPECT_EQ(client().call("GET", "/livez").status, 200);
  transport.reset();
  EXPECT_FALSE(std::filesystem::exists(folder.file("s"))) << "taken away at the end";
  std::ofstream(folder.file("s")) << "a file of somebody";
  EXPECT_THAT(why_not({.listen = {address}}), HasSubstr(folder.file("s")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("s"))) << "and stays";
}

}  // namespace
}  // namespace ff::test
