// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import PhoneProcess
import ServedSystem
import Synchronization
import TestSupport
import Testing

/// Searches the memory of `firebreak phone run` for the secrets of an upload. SECURITY.md says what remains.
@Suite("Secrets in the memory of a running phone", .needs(.process))
struct SecretsInMemoryTests {
  private static let pin = "Q7Z4XK"
  private static let token =
    "eyJhbGciOiJFUzI1NiJ9." + String(repeating: "Zm9yZ290dGVu", count: 20) + ".c2VjcmV0LXRva2Vu"

  /// Servers that accept everything, and the uploads that they have received.
  private final class Servers: Sendable {
    private final class Received: Sendable {
      let bodies = Mutex<[Data]>([])
    }

    private let received = Received()
    private let server: StandInServer

    init() throws {
      let received = received
      server = try StandInServer { request in
        received.bodies.withLock { $0.append(request.body) }
        let isToken = request.path.hasSuffix("getAccessToken")
        guard isToken || request.path.hasSuffix("uploadDiagnosisKeys") else {
          return StandInServer.Response(status: 404)
        }
        let padding = String(repeating: "p", count: 500)
        return StandInServer.Response(
          body: isToken
            ? #"{"result":{"accessToken":"\#(SecretsInMemoryTests.token)","padding":"\#(padding)"}}"#
            : #"{"result":"success","padding":"\#(padding)"}"#)
      }
    }

    var address: String { server.address }

    /// The secrets of the last upload: the keys in base64 and the secret of their HMAC.
    var uploaded: (keys: [String], hmacSecret: String) {
      get throws {
        let bodies = received.bodies.withLock { $0 }
        let body = try JSONSerialization.jsonObject(with: try #require(bodies.last))
        let data = (body as? [String: Any])?["data"] as? [String: Any]
        let keys = data?["temporaryExposureKeys"] as? [[String: Any]]
        return (
          (keys ?? []).compactMap { $0["key"] as? String },
          try #require(data?["hmackey"] as? String)
        )
      }
    }
  }

  /// The numbers of occurrences of each secret in the writable memory of a process.
  private func occurrences(of secrets: [Data], in process: Int32) throws -> [Int] {
    let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
    let memory = open("/proc/\(process)/mem", O_RDONLY)
    try #require(memory >= 0)
    defer { close(memory) }
    var counts = secrets.map { _ in 0 }
    for line in maps.split(separator: "\n") {
      let fields = line.split(separator: " ")
      let ends = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard fields[1].hasPrefix("rw"), ends.count == 2 else { continue }
      var region = Data(count: Int(ends[1] - ends[0]))
      let count = region.withUnsafeMutableBytes {
        pread(memory, $0.baseAddress, $0.count, off_t(ends[0]))
      }
      region = region.prefix(max(count, 0))
      for (index, secret) in secrets.enumerated() {
        var rest = region[...]
        while let found = rest.range(of: secret) {
          counts[index] += 1
          rest = region[found.upperBound...]
        }
      }
    }
    return counts
  }

  @Test(
    "After an upload the PIN, the token, the HMAC secret and the key are not in memory",
    .enabled(if: geteuid() == 0, "the memory of a phone can be read by root only"))
  func upload() async throws {
    let place = try TemporaryFolder()
    let servers = try Servers()
    let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
    try Data(key.utf8).write(to: place.path("root-public-key.pem"))
    let phone = try PhoneFixture(
      "phone", in: place.url,
      servers: ["verification": servers.address, "keys": servers.address],
      authority: place.url.path)
    _ = try await phone.json("enable", clockOffset: -2 * 86_400)
    try await phone.running { process in
      let reply = try await phone.ask(.upload(sharesAbroad: false), pin: Self.pin)
      #expect(reply.status == .done, "\(reply.text)")
      let (keys, hmacSecret) = try servers.uploaded
      let key = try #require(keys.first)
      let secrets = [
        "PIN": Data(Self.pin.utf8), "token": Data(Self.token.utf8),
        "key": try #require(Data(base64Encoded: key)), "secret of the HMAC": Data(hmacSecret.utf8),
        // Control: a value that stays in memory, so the search must find it.
        "address": Data(servers.address.utf8),
      ].sorted { $0.key < $1.key }
      var found: [String] = []
      // The last references to a request may be released after the reply.
      try await Patience.until {
        let counts = try occurrences(of: secrets.map(\.value), in: process.processIdentifier)
        found = zip(secrets, counts).filter { $1 > 0 }.map(\.0.key)
        return found == ["address"]
      }
      #expect(keys.count == 1 && found == ["address"], "\(found)")
    }
  }
}
