#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/kube/kube_client.h"
#include "adapters/kube/token_source.h"

namespace kro {
namespace {

namespace fs = std::filesystem;

class KubeConnectionTest : public testing::Test {
 protected:
  KubeConnectionTest() {
    std::string pattern = (fs::temp_directory_path() / "kro-kubeconfig-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~KubeConnectionTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  Result<KubeConnection> load(const std::string& cluster, const std::string& user) {
    return load_kubeconfig(write("config",
                                 "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
                                 "contexts:\n- name: other\n  context: {cluster: nowhere}\n"
                                 "- name: main\n  context: {cluster: c, user: u, namespace: kafka}\n"
                                 "clusters:\n- name: c\n  cluster: {" +
                                     cluster + "}\nusers:\n- name: u\n  user: {" + user + "}\n"));
  }

  fs::path folder_;
};

TEST_F(KubeConnectionTest, ReadsDataAndToken) {
  const auto got = load("server: 'https://127.0.0.1:6443/', certificate-authority-data: SGVsbG8=", "token: secret");
  ASSERT_TRUE(got.has_value()) << got.error().text();
  EXPECT_EQ(got->server, "https://127.0.0.1:6443");
  EXPECT_EQ(got->ca_pem, "Hello");
  EXPECT_EQ(got->token, "secret");
  EXPECT_EQ(got->default_namespace, "kafka");
  EXPECT_FALSE(got->insecure);
}

TEST_F(KubeConnectionTest, ReadsFilesRelativeToItself) {
  write("ca.crt", "the CA");
  write("me.crt", "certificate");
  write("me.key", "key");
  const auto got = load("server: 'https://x', certificate-authority: ca.crt",
                        "client-certificate: me.crt, client-key: " + (folder_ / "me.key").string());
  ASSERT_TRUE(got.has_value()) << got.error().text();
  EXPECT_EQ(got->ca_pem, "the CA");
  EXPECT_EQ(got->client_cert_pem, "certificate");
  EXPECT_EQ(got->client_key_pem, "key");
}

TEST_F(KubeConnectionTest, ATokenFileWinsOverAToken) {
  write("token", "fresh\n");
  const auto got = load("server: 'https://x'", "token: old, tokenFile: token");
  ASSERT_TRUE(got.has_value()) << got.error().text();
  EXPECT_EQ(got->token, "");
  EXPECT_EQ(got->token_file, (folder_ / "token").string());
}

TEST_F(KubeConnectionTest, InsecureIsTakenAtItsWord) {
  const auto got = load("server: 'https://x', insecure-skip-tls-verify: true", "token: t");
  ASSERT_TRUE(got.has_value()) << got.error().text();
  EXPECT_TRUE(got->insecure);
  EXPECT_FALSE(
      load("server: 'https://x', insecure-skip-tls-verify: true, certificate-authority-data: SGVsbG8=", "token: t")
          .has_value());
}

TEST_F(KubeConnectionTest, SaysWhatIsNotSupported) {
  for (const char* user :
       {"exec: {command: aws}", "auth-provider: {name: gcp}", "username: a, password: b", "as: root"}) {
    const auto got = load("server: 'https://x'", user);
    ASSERT_FALSE(got.has_value()) << user;
    EXPECT_EQ(got.error().code, ErrorCode::kUnsupported) << got.error().text();
    EXPECT_NE(got.error().text().find("kubectl create token"), std::string::npos);
  }
  EXPECT_EQ(load("server: 'https://x', proxy-url: 'http://p'", "token: t").error().code, ErrorCode::kUnsupported);
}

TEST_F(KubeConnectionTest, SaysWhatIsMissing) {
  const std::vector<std::pair<Result<KubeConnection>, std::string>> cases = {
      {load("certificate-authority-data: SGVsbG8=", "token: t"), "no server"},
      {load("server: 'https://x', certificate-authority: absent.crt", "token: t"), "absent.crt"},
      {load("server: 'https://x', certificate-authority-data: '%%%'", "token: t"), "base64"},
      {load("server: 'https://x'", "client-certificate-data: SGVsbG8="), "client-key"},
      {load("server: 'https://x'", "tokenFile: absent"), "absent"},
      {load_kubeconfig((folder_ / "nowhere").string()), "nowhere"},
      {load_kubeconfig(write("bad", "a: [b")), "bad"},
      {load_kubeconfig(write("list", "- a")), "not a kubeconfig"},
      {load_kubeconfig(write("none", "contexts: []")), "current-context"},
      {load_kubeconfig(write("dangling", "current-context: gone\ncontexts: []")), "no context 'gone'"},
      {load_kubeconfig(write("odd", "current-context: a\ncontexts: [7, {name: a, context: 3}]")), "no context 'a'"},
      {load_kubeconfig(write("cluster", "current-context: a\ncontexts: [{name: a, context: {cluster: gone}}]")),
       "no cluster 'gone'"},
  };
  for (const auto& [got, text] : cases) {
    ASSERT_FALSE(got.has_value()) << text;
    EXPECT_EQ(got.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(got.error().retry, Retry::kPermanent);
    EXPECT_NE(got.error().text().find(text), std::string::npos) << got.error().text();
  }
}

TEST_F(KubeConnectionTest, OutsideAPodSaysSo) {
  unsetenv("KUBERNETES_SERVICE_HOST");
  const auto got = in_cluster();
  ASSERT_FALSE(got.has_value());
  EXPECT_NE(got.error().text().find("KUBERNETES_SERVICE_HOST"), std::string::npos);
}

TEST_F(KubeConnectionTest, ATokenFileIsReadAgainEveryMinuteAndWhenRefused) {
  const std::string file = write("token", "one\n");
  TokenSource source("", file);
  const MonoTime begin(std::chrono::hours(1));
  EXPECT_EQ(source.get(begin), "one");
  write("token", "two\n");
  EXPECT_EQ(source.get(begin + 59s), "one");
  EXPECT_EQ(source.get(begin + 60s), "two");
  write("token", "three");
  EXPECT_TRUE(source.renew("two", begin + 61s));
  EXPECT_EQ(source.get(begin + 61s), "three");
  EXPECT_FALSE(source.renew("three", begin + 62s)) << "the same again is no use";
  fs::remove(file);
  EXPECT_EQ(source.get(begin + 10min), "three") << "the last one stays in force";
}

TEST(TokenSourceTest, AFixedTokenCannotBeRenewed) {
  TokenSource source("fixed", "");
  EXPECT_EQ(source.get(MonoTime{}), "fixed");
  EXPECT_FALSE(source.renew("fixed", MonoTime{}));
}

}  // namespace
}  // namespace kro
