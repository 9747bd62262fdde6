// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// The sample configuration in Examples/Proxies, with a real nginx before a real key server.
@Suite("nginx before a key server", .needs(.process))
struct ProxyTests {
  /// nginx with the sample configuration, in which only addresses, paths and timeouts are replaced.
  private final class Proxy {
    let address: String
    let certificate: URL
    /// The file of its messages.
    let log: URL
    private let process: BackgroundProcess

    init(before keys: String, in folder: TemporaryFolder) async throws {
      let port = try UnusedPort.find()
      certificate = folder.path("certificate.pem")
      log = folder.path("error.log")
      let key = folder.path("key.pem").path
      let made = try await Shell.run(
        """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout '\(key)' -out '\(certificate.path)' 2>&1
        """)
      #expect(made.status == 0, "\(made.output)")
      let server = try #require(URL(string: keys)?.port)
      var text = try String(
        contentsOf: SharedData.projectRoot.appendingPathComponent("Examples/Proxies/nginx.conf"),
        encoding: .utf8)
      for (sample, value) in [
        ("/run/nginx.pid", folder.path("nginx.pid").path),
        ("/var/log/nginx/error.log", log.path),
        ("/var/cache/nginx/firebreak", folder.path("cache").path),
        ("/etc/ssl/keys.example.org.pem", certificate.path),
        ("/etc/ssl/private/keys.example.org.key", key), ("127.0.0.1:8081", "127.0.0.1:\(server)"),
        ("listen 443", "listen 127.0.0.1:\(port)"), ("keys.example.org", "localhost"),
        // On a busy machine both ends may take longer than operators would wait.
        ("_timeout 10s;", "_timeout \(Patience.seconds)s;"),
        ("_timeout 2s;", "_timeout \(Patience.seconds)s;"),
        ("_timeout 30s;", "_timeout \(Patience.seconds)s;"),
      ] {
        #expect(text.contains(sample), "the sample has no \(sample)")
        text = text.replacingOccurrences(of: sample, with: value)
      }
      let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
        "  \($0)_temp_path \(folder.path($0).path);"
      }
      text = text.replacingOccurrences(
        of: "  access_log off;", with: "  access_log off;\n" + temporary.joined(separator: "\n"))
      let file = folder.path("nginx.conf")
      try Data(text.utf8).write(to: file)
      address = "https://localhost:\(port)"
      process = try await BackgroundProcess(
        URL(fileURLWithPath: "/usr/sbin/nginx"),
        ["-e", log.path, "-g", "daemon off; user root;", "-c", file.path],
        output: folder.path("nginx-output"))
      try await Patience.until { try await self.curl("-o /dev/null", "/index.txt").status == 0 }
    }

    /// The status line and the headers of a response, in lower case.
    func headers(_ options: String, _ path: String) async throws -> String {
      try await curl("-D - -o /dev/null \(options)", path).output.lowercased()
    }

    /// Runs curl with the certificate of the proxy.
    func curl(_ options: String, _ path: String) async throws -> (status: Int32, output: String) {
      let run = try await Shell.run(
        "curl -sS --max-time 60 --cacert '\(certificate.path)' \(options) '\(address)\(path)'")
      return (run.status, run.output)
    }
  }

  private func withProxy(_ body: (Proxy, ServedAuthority) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let authority = try await ServedAuthority(
      ["keys/settings.json": #"{"trustedProxies": ["127.0.0.1"], "uploadAttempts": 3}"#])
    let proxy = try await Proxy(before: authority.keys, in: folder)
    try await body(proxy, authority)
    _ = try await authority.servers.stop()
  }

  @Test("The index comes over TLS and HTTP/2, then from the cache, and is 304 with its tag")
  func index() async throws {
    try await withProxy { proxy, _ in
      let first = try await proxy.headers("--http2", "/index.txt")
      #expect(first.hasPrefix("http/2 200"), "\(first)")
      #expect(first.contains("s-maxage=30"))
      // A response is in the cache for half a minute, which a busy machine may need for the next request.
      try await Patience.until {
        try await proxy.headers("", "/index.txt").contains("x-cache: hit")
      }
      let run = try await proxy.curl("-o /dev/null -w '%header{etag}'", "/index.txt")
      let third = try await proxy.headers(
        "-H 'If-None-Match: \(run.output)'", "/index.txt")
      #expect(third.hasPrefix("http/2 304"), "\(third)")
    }
  }

  @Test(
    "nginx rejects a body above the limit, logs no client's address, and passes one below it on"
  )
  func bodyLimit() async throws {
    try await withProxy { proxy, _ in
      let post = "-o /dev/null -w '%{http_code}' -X POST -H 'content-type: application/json'"
      let path = "/uploadDiagnosisKeys"
      let large = try await proxy.curl(post + " --data-binary @<(head -c 70000 /dev/zero)", path)
      #expect(large.output == "413")
      let small = try await proxy.curl(post + " -d '{}'", path)
      #expect(small.output == "400")
      let messages = try String(contentsOf: proxy.log, encoding: .utf8)
      #expect(!messages.contains("client"), "\(messages)")
    }
  }

  @Test("The server counts failed uploads by the client's address, which the client cannot choose")
  func trustedProxies() async throws {
    try await withProxy { proxy, authority in
      let upload = """
        -H 'content-type: application/json' -d '{"data":{"temporaryExposureKeys":[],"regions":["PL"],\
        "platform":"ios","appPackageName":"a"}}'
        """
      var answers: [String] = []
      for number in 0..<5 {
        answers.append(
          try await proxy.curl(
            upload + " -H 'X-Forwarded-For: 192.0.2.\(number)'", "/uploadDiagnosisKeys"
          ).output)
      }
      #expect(answers.last?.contains("RESOURCE_EXHAUSTED") == true, "\(answers)")
      // Directly, as another proxy would, with the address of another client.
      let other = try await Shell.run(
        """
        curl -sS -o /dev/null -w '%{http_code}' -X POST -H 'content-type: application/json' \
        -H 'X-Forwarded-For: 192.0.2.200' -d '{}' '\(authority.keys)/uploadDiagnosisKeys'
        """)
      #expect(other.output == "400")
    }
  }

  @Test(
    "Probes of this machine reach the server, and a dead server's index is answered from the cache")
  func stale() async throws {
    try await withProxy { proxy, authority in
      // A check that takes some seconds is a fault for a moment.
      try await Patience.until {
        try await proxy.curl("-w ' %{http_code}'", "/ready").output == #"{"ready":true} 200"#
      }
      _ = try await proxy.headers("", "/index.txt")
      _ = try await authority.servers.stop()
      let index = try await proxy.headers("", "/index.txt")
      #expect(index.hasPrefix("http/2 200"), "\(index)")
      let configuration = try await proxy.headers("", "/remote-configuration.json")
      #expect(configuration.hasPrefix("http/2 502"), "\(configuration)")
    }
  }
}
