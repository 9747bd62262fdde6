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
  /// The status of a body of zeros. Over HTTP/2, curl 7.88 takes an early response for an error.
  private func statusOfUpload(_ bytes: Int, through proxy: SampleProxy) async throws -> String {
    try await proxy.curl(
      "--http1.1 -o /dev/null -w '%{http_code}' -X POST -H 'content-type: application/json'"
        + " --data-binary @<(head -c \(bytes) /dev/zero)", "/uploadDiagnosisKeys"
    ).output
  }

  @Test("The index comes over TLS and HTTP/2 with the headers for caches, and is 304 with its tag")
  func index() async throws {
    try await SampleProxy.with(.caddy) { proxy, _ in
      let first = try await proxy.headers("--http2", "/index.txt")
      #expect(first.hasPrefix("http/2 200"), "\(first)")
      #expect(first.contains("cache-control: public, max-age=0, s-maxage=30"), "\(first)")
      let tag = try await proxy.curl("-o /dev/null -w '%header{etag}'", "/index.txt").output
      #expect(!tag.isEmpty)
      let second = try await proxy.headers("--http2 -H 'If-None-Match: \(tag)'", "/index.txt")
      #expect(second.hasPrefix("http/2 304"), "\(second)")
    }
  }

  @Test("A body of 64 KiB reaches the server, and a larger one is rejected by Caddy")
  func bodyLimit() async throws {
    try await SampleProxy.with(.caddy) { proxy, _ in
      let largest = try await statusOfUpload(64 * 1_024, through: proxy)
      #expect(largest == "400")
      let larger = try await statusOfUpload(64 * 1_024 + 1, through: proxy)
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
  private func breakOffDownloads(
    through proxy: SampleProxy, of authority: ServedAuthority
  ) async throws {
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
    try await SampleProxy.with(.caddy) { proxy, authority in
      let responses = try await proxy.responsesToFailedUploads()
      #expect(responses.last?.contains("RESOURCE_EXHAUSTED") == true, "\(responses)")
      #expect(try await proxy.curl("-o /dev/null -w '%{http_code}'", "/ready").output == "404")
      try await breakOffDownloads(through: proxy, of: authority)
      // Requests that fail because of the server are messages of Caddy.
      _ = try await authority.servers.stop()
      let failed = try await proxy.curl(
        SampleProxy.failingUpload + " -o /dev/null -w '%{http_code}'", "/upload")
      #expect(["502", "503"].contains(failed.output), "\(failed)")
      let messages = try proxy.messages()
      #expect(messages.contains("serving initial configuration"))
      for address in ["remote_ip", "client_ip", "->", "192.0.2."] {
        #expect(!messages.contains(address), "\(messages)")
      }
    }
  }
}
