// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("An upload of a phone whose clock is wrong in between, with the servers", .needs(.process))
struct WrongClockUploadTests {
  private static let day = 86_400
  private static let unreachable = "http://127.0.0.1:9"

  @Test("A PIN that was exchanged before the clock was wrong still shares the keys, for each PIN")
  func continued() async throws {
    let authority = try await ServedAuthority(ServedAuthority.unpaddedExports)
    let place = try TemporaryFolder()
    let addresses = authority.addresses
    let phone = try PhoneFixture(
      "phone", in: place.url, servers: addresses, authority: authority.servers.data)
    func configure(keys: String?) throws {
      try phone.configure(
        servers: addresses.merging(["keys": keys ?? ""]) { $1 }, authority: authority.servers.data)
    }
    // Finished keys of two days, before any comparison of the clock.
    for daysAgo in [2, 1] { _ = try await phone.json("enable", clockOffset: -daysAgo * Self.day) }
    for _ in 1...2 {
      let pin = try await authority.pin()
      try configure(keys: Self.unreachable)
      // The PIN is exchanged for a token, and the keys do not arrive.
      let interrupted = try await phone.run("upload", pin, "--json")
      #expect(try interrupted.json()?["reason"] as? String == "noInternet")
      try configure(keys: authority.keys)
      // The clock shows the day of a key that was chosen.
      let check = try await phone.run("check", "--json", clockOffset: -Self.day)
      #expect(try check.json()?["failure"] as? String == "clockWrong", "\(check.errors)")
      #expect(try await phone.json("upload", pin)["ok"] as? Bool == true)
      let status = try await phone.json("status")
      #expect(status["pendingUpload"] as? Bool == false)
      #expect(status["clockWrong"] as? Bool == false)
    }
  }
}
