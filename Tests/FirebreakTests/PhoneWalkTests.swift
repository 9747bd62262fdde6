// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing

@Suite("Two phones and a health authority, each in a process of its own", .needs(.process))
struct PhoneWalkTests {
  @Test(
    "A phone learns over HTTP that it met a phone whose keys were uploaded later",
    .timeLimit(.minutes(Patience.minutes)), arguments: PhoneMeeting.all)
  func walk(_ meeting: PhoneMeeting) async throws {
    let past = try await ServedAuthority(
      ServedAuthority.unpaddedExports, arguments: PhoneMeeting.serverArguments)
    let data = past.servers.data
    let folder = try TemporaryFolder()
    func phone(_ name: String) throws -> PhoneFixture {
      try PhoneFixture(name, in: folder.url, servers: past.addresses, authority: data)
    }
    let (alice, bob) = (try phone("alice"), try phone("bob"))
    let received = try await meeting.take(place: alice, bob, in: folder)
    #expect(try await past.servers.stop() == 0)

    // Today: Alice uploads with a PIN of the health authority, twice in case the answer got lost.
    let authority = try await ServedAuthority(in: past.folder)
    try alice.configure(servers: authority.addresses, authority: data)
    let pin = try await authority.pin()
    try await alice.running { process in
      for _ in 0..<2 {
        let upload = try await alice.json("upload", pin)
        #expect(upload["ok"] as? Bool == true && upload["result"] as? Int == 1)
      }
      #expect(try await process.terminate() == 0)
    }
    #expect(try await alice.run("upload", "AB12CD").status == 1)

    // Five hours later the key server has published the file, and Bob checks.
    #expect(try await authority.servers.stop() == 0)
    let later = 5 * 3_600
    let servers = try await ServedFirebreak(
      folder: authority.folder, ["--developer", "--clock-offset", "\(later)"])
    let addresses = try await servers.addresses()
    try await Patience.until {
      try await !servers.get(addresses["keys"], "/index.txt").body.isEmpty
    }
    try bob.configure(servers: addresses, authority: data)
    try await bob.running(clockOffset: later) { process in
      let check = try await bob.check()
      #expect(check.status == .done, "\(check.text)")
      let status = try await bob.json("status", clockOffset: later)
      #expect((status["riskLevel"] as? Int ?? 0) > 0, "\(status)")
      #expect(status["notices"] as? Int == 1 && status["exposures"] as? Int == 1)
      #expect(status["lastFailure"] is NSNull && status["lastCheck"] is Int)
      #expect(try await process.terminate() == 0)
    }
    try await expectResults(of: bob, received: received, clockOffset: later)
    #expect(try await servers.stop() == 0)
  }

  /// Without a running phone the commands open the storage.
  private func expectResults(
    of phone: PhoneFixture, received count: Int, clockOffset offset: Int
  ) async throws {
    let exposures = try await phone.json("exposures", clockOffset: offset)["exposures"] as? [Any]
    #expect(exposures?.count == 1)
    let history = try await phone.json("history", clockOffset: offset)
    #expect(history["keysTotal"] as? Int == 1)
    let all = try await phone.json("export-my-data", clockOffset: offset)
    let received = all["received"] as? [[String: Any]] ?? []
    #expect(received.compactMap { $0["beacons"] as? Int }.reduce(0, +) == count)
    _ = try await phone.json("remove", "everything", clockOffset: offset)
    let status = try await phone.json("status", clockOffset: offset)
    #expect(status["exposures"] as? Int == 0 && status["enabled"] as? Bool == false)
  }
}
