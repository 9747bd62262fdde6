// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// The sample configuration in Examples/Proxies, with a real nginx before a real key server.
@Suite("nginx before a key server", .needs(.process))
struct ProxyTests {
  @Test("The index comes over TLS and HTTP/2, then from the cache, and is 304 with its tag")
  func index() async throws {
    try await SampleProxy.with(.nginx) { proxy, _ in
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
    try await SampleProxy.with(.nginx) { proxy, _ in
      let post = "-o /dev/null -w '%{http_code}' -X POST -H 'content-type: application/json'"
      let path = "/uploadDiagnosisKeys"
      let large = try await proxy.curl(post + " --data-binary @<(head -c 70000 /dev/zero)", path)
      #expect(large.output == "413")
      let small = try await proxy.curl(post + " -d '{}'", path)
      #expect(small.output == "400")
      let messages = try proxy.messages()
      #expect(!messages.contains("client"), "\(messages)")
    }
  }

  @Test("The server counts failed uploads by the client's address, which the client cannot choose")
  func trustedProxies() async throws {
    try await SampleProxy.with(.nginx) { proxy, authority in
      let responses = try await proxy.responsesToFailedUploads()
      #expect(responses.last?.contains("RESOURCE_EXHAUSTED") == true, "\(responses)")
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
    try await SampleProxy.with(.nginx) { proxy, authority in
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
