// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import KeyServer

/// Clients keep tokens, so the format is fixed byte by byte.
@Suite("Format of revision tokens") struct RevisionTokenFormatTests {
  private static let key = SymmetricKey(data: Data(repeating: 3, count: 32))
  private static let context = Data("the context of a test".utf8)
  private static let ring = RevisionKeyring(
    current: ("id", key), keys: ["id": key], context: context)

  /// A protobuf entry with varints of the given bytes.
  private static func entry(_ bytes: [UInt8], start: [UInt8], period: [UInt8]) -> [UInt8] {
    [0x0A, 27, 0x0A, 16] + bytes + [0x10] + start + [0x18] + period
  }

  private static let padding = entry(
    [UInt8](repeating: 0, count: 16), start: [0x80, 0x80, 0x80, 0x80, 0], period: [0x80, 0])

  private static func revisable(
    _ bytes: [UInt8], _ start: UInt32, _ period: UInt32
  ) throws -> TemporaryExposureKey {
    try #require(
      TemporaryExposureKey(
        bytes: bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period))
  }

  private static func sealed(_ plain: [UInt8]) throws -> String {
    let box = try AES.GCM.seal(plain, using: key, authenticating: context)
    let data = try #require(box.combined)
    let length = [UInt8(data.count & 0x7F | 0x80), UInt8(data.count >> 7)]
    return Data([0x0A, 2] + Array("id".utf8) + [0x12] + length + data).base64EncodedString()
  }

  @Test("A token holds each key in a fixed length, and is padded to 28 entries")
  func written() throws {
    let one = (1...16).map { UInt8($0) }
    let other = [UInt8](repeating: 0xFE, count: 16)
    let token = RevisionToken([
      try Self.revisable(one, 2_999_808, 144), try Self.revisable(other, .max - 1, 1),
    ])
    let bytes = try #require(
      Data(base64Encoded: try token.text(sealedWith: Self.ring, randomness: TestRandomness())))
    #expect(Array(bytes.prefix(5)) == [0x0A, 2] + Array("id".utf8) + [0x12])
    let plain = try AES.GCM.open(
      try AES.GCM.SealedBox(combined: bytes.dropFirst(7)), using: Self.key,
      authenticating: Self.context)
    let expected =
      Self.entry(one, start: [0x80, 0x8C, 0xB7, 0x81, 0], period: [0x90, 1])
      + Self.entry(other, start: [0xFE, 0xFF, 0xFF, 0xFF, 0x0F], period: [0x81, 0])
    #expect(Array(plain) == expected + [[UInt8]](repeating: Self.padding, count: 26).flatMap { $0 })
  }

  @Test("A token is read whatever the widths and the order of its fields, without its padding")
  func read() throws {
    let bytes = (1...16).map { UInt8($0) }
    let narrow = [0x0A, 26, 0x18, 0x90, 1, 0x10, 0x80, 0x8C, 0xB7, 1, 0x0A, 16] + bytes
    let wide = Self.entry(bytes, start: [0x80, 0x8C, 0xB7, 0x81, 0], period: [0x90, 1])
    let expected = try Self.revisable(bytes, 2_999_808, 144)
    for entry in [narrow, wide] {
      let token = try #require(
        RevisionToken(try Self.sealed(entry + Self.padding), with: Self.ring))
      #expect(token.keys == [expected])
      #expect(token.covers(expected))
      #expect(!token.covers(try Self.revisable(bytes, 2_999_808, 143)))
      #expect(!token.covers(try Self.revisable(bytes, 2_999_807, 144)))
      #expect(!token.covers(try Self.revisable([0] + bytes.dropFirst(), 2_999_808, 144)))
    }
  }

  @Test("A token with an invalid key is rejected")
  func noKey() throws {
    let short = [0x0A, 8, 0x0A, 2, 1, 2, 0x10, 1, 0x18, 1] as [UInt8]
    #expect(RevisionToken(try Self.sealed(short), with: Self.ring) == nil)
    let long = Self.entry(
      [UInt8](repeating: 1, count: 16), start: [0x80, 0x80, 0x80, 0x80, 0], period: [0x91, 1])
    #expect(RevisionToken(try Self.sealed(long), with: Self.ring) == nil)
  }
}

@Suite("Limits of revision tokens")
struct RevisionLimitTests {

  private static func keys(_ count: Int, from start: UInt32 = 1) throws -> Set<TemporaryExposureKey>
  {
    try Set(
      (0..<UInt32(count)).map { number in
        let start = IntervalNumber(rawValue: start + number)
        return try #require(
          TemporaryExposureKey(bytes: SystemRandomness().bytes(16), rollingStart: start))
      })
  }

  private static let ring: RevisionKeyring = {
    let key = SymmetricKey(data: Data(repeating: 3, count: 32))
    return RevisionKeyring(current: ("a", key), keys: ["a": key], context: Data(count: 16))
  }()

  @Test("Tokens of up to 28 keys have the same length")
  func oneLength() throws {
    let lengths = try [0, 1, 27, 28, 29].map {
      try RevisionToken(try Self.keys($0)).text(sealedWith: Self.ring, randomness: TestRandomness())
        .utf8.count
    }
    #expect(Set(lengths.dropLast()).count == 1)
    #expect(lengths[4] > lengths[3])
  }

  @Test("A token is read up to the size limit, and rejected above it")
  func textLength() throws {
    func text(_ count: Int) throws -> String {
      try RevisionToken(try Self.keys(count)).text(
        sealedWith: Self.ring, randomness: TestRandomness())
    }
    var count = 28
    while try text(count + 1).utf8.count <= RevisionLimit.textBytesMax { count += 1 }
    for (keys, isRead) in [(count - 1, true), (count, true), (count + 1, false)] {
      let read = RevisionToken(try text(keys), with: Self.ring)
      #expect(read?.keys.count == (isRead ? keys : nil))
    }
  }

  @Test(
    "The newest 300 keys of an earlier token are copied to the new one",
    arguments: [(299, 300), (300, 301), (301, 301)])
  func copied(earlier: Int, copied: Int) async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      try await scene.publish(scene.keys(1), as: "likely")
      let ring = try await ring(of: server)
      let start = UInt32(server.clock.now.timeIntervalSince1970 / 600) - 1_000
      let old = try Self.keys(earlier, from: start)
      let token = try RevisionToken(old).text(sealedWith: ring, randomness: TestRandomness())
      let response = try await scene.publish(scene.keys(1), as: "likely", token: token)
      let text = try #require(response.body.revisionToken)
      let new = try #require(RevisionToken(text, with: ring))
      #expect(new.keys.count == copied)
      let oldest = try #require(old.min { $0.rollingStart < $1.rollingStart })
      #expect(new.keys.contains(oldest) == (earlier <= 300))
    }
  }

  /// The end of a key is the start of an interval, so its age is counted to the end of that interval.
  @Test(
    "A key of an earlier token is copied to the new one until 360 hours after its end",
    arguments: [(-600.0, true), (-1, true), (0, false), (1, false)])
  func copiedAge(offset: TimeInterval, isCopied: Bool) async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      let old = scene.keys(1)
      let token = try await scene.publish(old, as: "likely").body.revisionToken
      let end = Double(old[0].rollingStartNumber + 144) * 600
      server.clock.advance(
        by: end + 360 * 3_600 + 600 + offset - server.clock.now.timeIntervalSince1970)
      let new = scene.keys(1)
      let response = try await scene.publish(new, as: "likely", token: token)
      let text = try #require(response.body.revisionToken)
      let ring = try await ring(of: server)
      let read = try #require(RevisionToken(text, with: ring))
      let keys = Set(read.keys.map { Data($0.secretBytes).base64EncodedString() })
      #expect(keys.contains(new[0].key) && keys.contains(old[0].key) == isCopied)
    }
  }

  @Test("The cached keys of tokens are read again after a minute", arguments: [(59.0, 0), (60, 1)])
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
    "A key of tokens is kept until its successor is 360 hours old",
    arguments: [(-1.0, 4), (0, 3), (1, 3)])
  func afterlife(offset: TimeInterval, keys: Int) async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      // One key at the start, one after 168 hours, one after 336, and the last 360 hours after the second.
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

  /// The keyring of the server, read from its database.
  private func ring(of server: RunningKeyServer) async throws -> RevisionKeyring {
    let store = try SQLiteKeyStore(file: server.configuration.databaseFile)
    let keys = try await store.revisionKeys().map {
      ($0.id, try $0.opened(with: server.configuration.databaseKeys.wrapping))
    }
    let current = try #require(keys.last)
    return RevisionKeyring(
      current: current, keys: Dictionary(keys) { $1 },
      context: server.configuration.publish.revisionContext)
  }
}
