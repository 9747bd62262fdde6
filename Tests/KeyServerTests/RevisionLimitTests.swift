import Crypto
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("Servers 2.3: what revision tokens measure")
struct RevisionLimitTests {
  private static let wrappingKey = Data(repeating: 7, count: 32)

  private static func keys(_ count: Int, from start: UInt32 = 1) throws -> Set<RevisableKey> {
    try Set(
      (0..<UInt32(count)).map { number in
        let start = IntervalNumber(rawValue: start + number)
        return RevisableKey(
          try #require(
            TemporaryExposureKey(bytes: SystemRandomness().bytes(16), rollingStart: start)))
      })
  }

  private static let ring: RevisionKeyring = {
    let key = SymmetricKey(data: Data(repeating: 3, count: 32))
    return RevisionKeyring(present: ("a", key), keys: ["a": key], context: Data(count: 16))
  }()

  @Test("Up to 28 keys a token has one length, so that it tells nothing of their number")
  func oneLength() throws {
    let lengths = try [0, 1, 27, 28, 29].map {
      try RevisionToken(try Self.keys($0)).text(sealedWith: Self.ring).utf8.count
    }
    #expect(Set(lengths.dropLast()).count == 1)
    #expect(lengths[4] > lengths[3])
  }

  @Test("A token is read up to the limit of its text, and one entry more is not looked at")
  func textLength() throws {
    func text(_ count: Int) throws -> String {
      try RevisionToken(try Self.keys(count)).text(sealedWith: Self.ring)
    }
    var count = 28
    while try text(count + 1).utf8.count <= RevisionLimit.textBytesMax { count += 1 }
    for (keys, isRead) in [(count - 1, true), (count, true), (count + 1, false)] {
      let read = RevisionToken(try text(keys), with: Self.ring)
      #expect(read?.keys.count == (isRead ? keys : nil))
    }
  }

  @Test(
    "Of an earlier token the newest 300 keys are taken over",
    arguments: [(299, 300), (300, 301), (301, 301)])
  func takenOver(earlier: Int, spokenOf: Int) async throws {
    try await RunningKeyServer.run({ $0.publish.wrappingKey = Self.wrappingKey }) { server in
      let scene = PublishScene(server: server)
      try await scene.publish(scene.keys(1), as: "likely")
      let ring = try await ring(of: server)
      let start = UInt32(server.clock.now.timeIntervalSince1970 / 600) - 1_000
      let old = try Self.keys(earlier, from: start)
      let token = try RevisionToken(old).text(sealedWith: ring)
      let answer = try await scene.publish(scene.keys(1), as: "likely", token: token)
      let text = try #require(answer.said.revisionToken)
      let new = try #require(RevisionToken(text, with: ring))
      #expect(new.keys.count == spokenOf)
      let oldest = try #require(old.min { $0.key.rollingStart < $1.key.rollingStart })
      #expect(new.keys.contains(oldest) == (earlier <= 300))
    }
  }

  /// A key's end is the beginning of an interval, and is ten minutes old when the next one begins.
  @Test(
    "A token speaks of an earlier key for 360 hours after its end, up to the end of that interval",
    arguments: [(-600.0, true), (-1, true), (0, false), (1, false)])
  func takenOverAge(offset: TimeInterval, isTakenOver: Bool) async throws {
    try await RunningKeyServer.run({ $0.publish.wrappingKey = Self.wrappingKey }) { server in
      let scene = PublishScene(server: server)
      let old = scene.keys(1)
      let token = try await scene.publish(old, as: "likely").said.revisionToken
      let end = Double(old[0].rollingStartNumber + 144) * 600
      server.clock.advance(
        by: end + 360 * 3_600 + 600 + offset - server.clock.now.timeIntervalSince1970)
      let new = scene.keys(1)
      let answer = try await scene.publish(new, as: "likely", token: token)
      let text = try #require(answer.said.revisionToken)
      let ring = try await ring(of: server)
      let read = try #require(RevisionToken(text, with: ring))
      let keys = Set(read.keys.map { Data($0.key.secretBytes).base64EncodedString() })
      #expect(keys.contains(new[0].key) && keys.contains(old[0].key) == isTakenOver)
    }
  }

  @Test("The keyring is read again once it is a minute old", arguments: [(59.0, 0), (60, 1)])
  func keyringAge(seconds: TimeInterval, keys: Int) async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      try await scene.publish(scene.keys(1), as: "likely")
      try server.change("DELETE FROM revision_key")
      server.clock.advance(by: seconds)
      try await scene.publish(scene.keys(1), as: "likely")
      #expect(try server.count("SELECT count(*) FROM revision_key") == keys)
    }
  }

  @Test(
    "A sealing key is kept until its successor is 360 hours old",
    arguments: [(-1.0, 4), (0, 3), (1, 3)])
  func afterlife(offset: TimeInterval, keys: Int) async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      // A key at the start, one after 168 hours, one after 336, and the last 360 after the second.
      for hours in [0.0, 168, 168] {
        server.clock.advance(by: hours * 3_600)
        try await scene.publish(scene.keys(1), as: "likely")
      }
      #expect(try server.count("SELECT count(*) FROM revision_key") == 3)
      server.clock.advance(by: (360 - 168) * 3_600 + offset)
      try await scene.publish(scene.keys(1), as: "likely")
      #expect(try server.count("SELECT count(*) FROM revision_key") == keys)
    }
  }

  /// The keyring of the server, as its own database holds it.
  private func ring(of server: RunningKeyServer) async throws -> RevisionKeyring {
    let store = try SQLiteKeyStore(file: server.configuration.databaseFile)
    let keys = try await store.revisionKeys().map {
      ($0.id, try $0.opened(with: SymmetricKey(data: Self.wrappingKey)))
    }
    let present = try #require(keys.last)
    return RevisionKeyring(
      present: present, keys: Dictionary(keys) { $1 },
      context: server.configuration.publish.revisionContext)
  }
}
