// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// The sample configuration in Examples/Proxies, with a real Caddy before a real key server. `make prove` installs it.
@Suite("Proof: Caddy before a key server", .enabled(if: Proof.isRunning), .needs(.process))
struct CaddyTests {
  /// Caddy with the sample configuration, in which only addresses and the certificate are replaced.
  private final class Proxy {
    let address: String
    private let certificate: URL
    private let log: URL
    private let process: BackgroundProcess

    init(before keys: String, in folder: TemporaryFolder) async throws {
      let port = try UnusedPort.find()
      certificate = folder.path("certificate.pem")
      let key = folder.path("key.pem").path
      let made = try await Shell.run(
        """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout '\(key)' -out '\(certificate.path)' 2>&1
        """)
      #expect(made.status == 0, "\(made.output)")
      address = "https://localhost:\(port)"
      let server = try #require(URL(string: keys)?.port)
      var text = try String(
        contentsOf: SharedData.projectRoot.appendingPathComponent("Examples/Proxies/Caddyfile"),
        encoding: .utf8)
      for (sample, value) in [
        ("\n{\n", "\n{\n\tadmin off\n\tauto_https off\n"),
        (
          "\nkeys.example.org {",
          "\n\(address) {\n\tbind 127.0.0.1\n\ttls \(certificate.path) \(key)"
        ), ("127.0.0.1:8081 10.0.0.12:8081", "127.0.0.1:\(server)"),
      ] {
        #expect(text.contains(sample), "the sample has no \(sample)")
        text = text.replacingOccurrences(of: sample, with: value)
      }
      let file = folder.path("Caddyfile")
      try Data(text.utf8).write(to: file)
      // Its log is on stderr.
      log = folder.path("caddy-log")
      process = try await BackgroundProcess(
        URL(fileURLWithPath: "/bin/sh"),
        [
          "-c", #"exec /usr/bin/caddy run --adapter caddyfile --config "$0" 2>&1"#, file.path,
        ],
        environment: Run.environment(adding: [
          "XDG_DATA_HOME": folder.path("caddy").path, "XDG_CONFIG_HOME": folder.path("caddy").path,
        ]), output: log)
      try await Patience.until {
        guard process.process.status == nil else {
          Issue.record("caddy: \(try messages())")
          return true
        }
        return try await curl("-o /dev/null -w '%{http_code}'", "/index.txt").output == "200"
      }
    }

    func messages() throws -> String { try String(contentsOf: log, encoding: .utf8) }

    /// Runs curl with the certificate of the proxy.
    func curl(_ options: String, _ path: String) async throws -> (status: Int32, output: String) {
      let run = try await Shell.run(
        "curl -sS --max-time 60 --cacert '\(certificate.path)' \(options) '\(address)\(path)'")
      return (run.status, run.output)
    }

    /// The status of a body of zeros. Over HTTP/2, curl 7.88 takes an early response for an error.
    func statusOfUpload(bytes: Int) async throws -> String {
      try await curl(
        "--http1.1 -o /dev/null -w '%{http_code}' -X POST -H 'content-type: application/json'"
          + " --data-binary @<(head -c \(bytes) /dev/zero)", "/uploadDiagnosisKeys"
      ).output
    }
  }

  private func withProxy(_ body: (Proxy, ServedAuthority) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let authority = try await ServedAuthority(
      ["keys/settings.json": #"{"trustedProxies": ["127.0.0.1"], "uploadAttempts": 3}"#])
    try await body(try await Proxy(before: authority.keys, in: folder), authority)
    _ = try await authority.servers.stop()
  }

  @Test("The index comes over TLS and HTTP/2 with the headers for caches, and is 304 with its tag")
  func index() async throws {
    try await withProxy { proxy, _ in
      let headers = "-D - -o /dev/null --http2"
      let first = try await proxy.curl(headers, "/index.txt").output.lowercased()
      #expect(first.hasPrefix("http/2 200"), "\(first)")
      #expect(first.contains("cache-control: public, max-age=0, s-maxage=30"), "\(first)")
      let tag = try await proxy.curl("-o /dev/null -w '%header{etag}'", "/index.txt").output
      #expect(!tag.isEmpty)
      let second = try await proxy.curl(headers + " -H 'If-None-Match: \(tag)'", "/index.txt")
      #expect(second.output.lowercased().hasPrefix("http/2 304"), "\(second.output)")
    }
  }

  @Test("A body of 64 KiB reaches the server, and a larger one is rejected by Caddy")
  func bodyLimit() async throws {
    try await withProxy { proxy, _ in
      let largest = try await proxy.statusOfUpload(bytes: 64 * 1_024)
      #expect(largest == "400")
      let larger = try await proxy.statusOfUpload(bytes: 64 * 1_024 + 1)
      #expect(larger == "413")
      // Without a stated length. The refusal of the server would have a body.
      let chunked = try await proxy.curl(
        "--http1.1 -o /dev/null -w '%{http_code} %{size_download}' -X POST"
          + " -H 'content-type: application/json' -H 'transfer-encoding: chunked'"
          + " --data-binary @<(head -c \(64 * 1_024 + 1) /dev/zero)", "/uploadDiagnosisKeys")
      #expect(["413 0", "502 0"].contains(chunked.output), "\(chunked)")
    }
  }

  /// Publishes a file that does not fit into the buffers of a connection, and takes a part of it three times.
  private func breakOffDownloads(through proxy: Proxy, of authority: ServedAuthority) async throws {
    let end = Int64(SystemClock().now.timeIntervalSince1970) / 14_400 * 14_400
    let name = try #require(KeyFileName(start: end - 14_400, end: end))
    let exports = authority.folder.path("data/exports")
    try Data(count: 16 << 20).write(to: exports.appendingPathComponent(name.text))
    try AtomicFile.write(
      KeyFileIndex.render([name]).utf8, to: exports.appendingPathComponent("index.txt"))
    try await Patience.until {
      let part = try await proxy.curl("-r 0-9 -o /dev/null -w '%{http_code}'", "/\(name.text)")
      return part.output == "206"
    }
    for _ in 0..<3 {
      // Without a status, the time was over before the response began.
      try await Patience.until {
        let ended = try await proxy.curl(
          "--http1.1 --limit-rate 1k --max-time 1 -o /dev/null -w '%{http_code}'", "/\(name.text)")
        #expect(ended.status == 28 && ["000", "200"].contains(ended.output), "\(ended)")
        return ended.output != "000"
      }
    }
  }

  @Test("The server counts failed uploads by the client's address, and no message has an address")
  func addresses() async throws {
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
      #expect(try await proxy.curl("-o /dev/null -w '%{http_code}'", "/ready").output == "404")
      try await breakOffDownloads(through: proxy, of: authority)
      // Requests that fail because of the server are messages of Caddy.
      _ = try await authority.servers.stop()
      let failed = try await proxy.curl(upload + " -o /dev/null -w '%{http_code}'", "/upload")
      #expect(["502", "503"].contains(failed.output), "\(failed)")
      let messages = try proxy.messages()
      #expect(messages.contains("serving initial configuration"))
      for address in ["remote_ip", "client_ip", "->", "192.0.2."] {
        #expect(!messages.contains(address), "\(messages)")
      }
    }
  }
}
