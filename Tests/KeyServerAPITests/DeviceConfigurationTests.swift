// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Testing

@Suite("Device configuration")
struct DeviceConfigurationTests {
  private let root = RootPrivateKey()
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  private func key(
    _ version: String = "v1", from: Int64? = nil, thru: Int64? = nil
  ) -> DeviceConfiguration.Key {
    DeviceConfiguration.Key(
      keyID: "260", keyVersion: version,
      publicKey: P256.Signing.PrivateKey().publicKey.pemRepresentation, validFrom: from,
      validThru: thru)
  }

  private func document(_ change: (inout DeviceConfiguration) -> Void = { _ in })
    -> DeviceConfiguration
  {
    var document = DeviceConfiguration.first(keys: [key()], issued: now)
    change(&document)
    return document
  }

  /// The document, encoded and decoded again, with `change` applied to the bytes.
  private func received(
    _ document: DeviceConfiguration, by key: RootPrivateKey? = nil,
    _ change: (inout [String: Any]) -> Void = { _ in }
  ) throws -> UnverifiedDeviceConfiguration {
    let bytes = try UnverifiedDeviceConfiguration.signed(document, by: key ?? root).encoded()
    var json = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    change(&json)
    return try UnverifiedDeviceConfiguration(
      decoding: try JSONSerialization.data(withJSONObject: json))
  }

  @Test("A signed document arrives with every field")
  func roundTrip() throws {
    let hash = try #require(KeyFileHash(hex: String(repeating: "ab", count: 32)))
    let document = document {
      $0.version = 7
      $0.keys = [key("v1", thru: 1_700_000_100), key("v2", from: 1_700_000_050)]
      $0.pause = DeviceConfiguration.Pause(until: 1_700_000_200)
      $0.withdrawn = [hash]
    }
    let arrived = try received(document).verified(by: root.rootKey, notBefore: 7, at: now)
    #expect(arrived == document)
    #expect(hash.description == String(repeating: "ab", count: 32))
  }

  @Test("The signature is ECDSA over a fixed line and the payload")
  func signedBytes() throws {
    let bytes = try UnverifiedDeviceConfiguration.signed(document(), by: root).encoded()
    let json = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: String])
    let payload = try #require(Data(base64Encoded: json["payload"] ?? ""))
    let signature = try P256.Signing.ECDSASignature(
      derRepresentation: try #require(Data(base64Encoded: json["signature"] ?? "")))
    let key = try P256.Signing.PublicKey(pemRepresentation: root.rootKey.publicKeyPEM)
    #expect(
      key.isValidSignature(
        signature, for: Data("Firebreak device configuration 1\n".utf8) + payload))
    #expect(Set(json.keys) == ["payload", "signature"])
  }

  @Test("A forged document is rejected: another root key, another payload, no signature")
  func forged() throws {
    let signed = try received(document())
    let other = RootPrivateKey().rootKey
    #expect(throws: DeviceConfigurationError.wrongSignature) { try signed.verified(by: other) }
    let payload = try JSONEncoder().encode(document { $0.version = 9 }).base64EncodedString()
    let forged = try received(document()) { $0["payload"] = payload }
    let unsigned = try received(document()) { $0["signature"] = "" }
    for document in [forged, unsigned] {
      #expect(throws: DeviceConfigurationError.wrongSignature) {
        try document.verified(by: root.rootKey, at: now)
      }
    }
  }

  @Test("A lower version is rolled back, the same version is not", arguments: [4, 5, 6])
  func rolledBack(version: Int) throws {
    let signed = try received(document { $0.version = version })
    guard version < 5 else {
      #expect(try signed.verified(by: root.rootKey, notBefore: 5, at: now).version == version)
      return
    }
    #expect(throws: DeviceConfigurationError.rolledBack(version: 4, current: 5)) {
      try signed.verified(by: root.rootKey, notBefore: 5, at: now)
    }
  }

  @Test("A document expires at its time", arguments: [-1.0, 0, 1])
  func expired(seconds: Double) throws {
    let document = document()
    let signed = try received(document)
    let moment = Date(timeIntervalSince1970: Double(document.expires) + seconds)
    let isAccepted = (try? signed.verified(by: root.rootKey, at: moment)) != nil
    #expect(isAccepted == (seconds < 0))
    if seconds >= 0 {
      #expect(throws: DeviceConfigurationError.expired(document.expires)) {
        try signed.verified(by: root.rootKey, at: moment)
      }
    }
    #expect(document.expires - document.issued == 90 * 86_400)
  }

  @Test("A key is valid from its start until before its end", arguments: [99, 100, 199, 200])
  func validity(seconds: Double) {
    let key = key(from: 100, thru: 200)
    #expect(key.isValid(at: Date(timeIntervalSince1970: seconds)) == (100..<200).contains(seconds))
    #expect(self.key().isValid(at: .distantPast) && self.key().isValid(at: .distantFuture))
  }

  @Test("A pause ends at its time, or only with a document without one")
  func pause() {
    let timed = document { $0.pause = DeviceConfiguration.Pause(until: 1_700_000_100) }
    #expect(timed.isPaused(at: now) && timed.isPaused(at: now.addingTimeInterval(99)))
    #expect(!timed.isPaused(at: now.addingTimeInterval(100)))
    let open = document { $0.pause = DeviceConfiguration.Pause(until: nil) }
    #expect(open.isPaused(at: .distantFuture))
    #expect(!document().isPaused(at: now))
  }

  @Test("The next document has the next version and keeps pause and withdrawn files")
  func next() throws {
    let hash = try #require(KeyFileHash(hex: String(repeating: "0F", count: 32)))
    let first = document {
      $0.pause = DeviceConfiguration.Pause(until: nil)
      $0.withdrawn = [hash]
    }
    let keys = [key("v2")]
    let next = first.next(
      keys: keys, issued: now.addingTimeInterval(10), lifetimeSeconds: 86_400)
    #expect((next.version, next.keys, next.pause, next.withdrawn) == (2, keys, first.pause, [hash]))
    #expect((next.issued, next.expires) == (1_700_000_010, 1_700_086_410))
  }

  @Test("Withdrawn files are left out after 15 days, and a lifetime is kept")
  func prunedWithdrawals() throws {
    func hash(_ digit: String) throws -> KeyFileHash {
      try #require(KeyFileHash(hex: String(repeating: digit, count: 64)))
    }
    func next(_ document: DeviceConfiguration, after seconds: Int64) -> DeviceConfiguration {
      let time = Date(timeIntervalSince1970: Double(document.issued + seconds))
      return document.next(keys: document.keys, issued: time)
    }
    let day: Int64 = 86_400
    var first = document { $0.expires = $0.issued + 7 * day }
    first.withdraw(try hash("a"))
    var second = next(first, after: 10 * day)
    #expect(second.expires - second.issued == 7 * day)
    for file in [try hash("a"), try hash("b"), try hash("c")] { second.withdraw(file) }
    second.restore(try hash("b"))
    #expect(second.withdrawn == [try hash("a"), try hash("c")])
    #expect(next(second, after: 5 * day - 1).withdrawn == second.withdrawn)
    let third = next(second, after: 5 * day)
    #expect(third.withdrawn == [try hash("c")] && third.withdrawnSince == [second.issued])
    #expect(next(third, after: 10 * day - 1).withdrawn == [try hash("c")])
    let last = next(third, after: 10 * day)
    #expect(last.withdrawn.isEmpty && last.withdrawnSince == nil && last.fault == nil)
  }

  @Test(
    "An invalid field is named when signing and when verifying",
    arguments: ["version", "expires", "keys must", "keys[0].publicKey", "keys[0].keyID", "twice"])
  func faults(field: String) throws {
    let bad = document { document in
      switch field {
      case "version": document.version = 0
      case "expires": document.expires = document.issued
      case "keys must": document.keys = []
      case "keys[0].publicKey":
        document.keys = [.init(keyID: "1", keyVersion: "1", publicKey: "x")]
      case "keys[0].keyID":
        document.keys = [.init(keyID: "", keyVersion: "1", publicKey: document.keys[0].publicKey)]
      default: document.keys = [key(), key()]
      }
    }
    let error = #expect(throws: DeviceConfigurationError.self) {
      try UnverifiedDeviceConfiguration.signed(bad, by: root)
    }
    #expect(error?.description.contains(field) == true, "\(String(describing: error))")
  }

  @Test("A document has 1 to 10 keys and at most 400 withdrawn files, and then fits its size")
  func limits() throws {
    let keys = (1...11).map { key("v\($0)") }
    for count in [1, 10, 11] {
      let document = document { $0.keys = Array(keys.prefix(count)) }
      #expect((document.fault == nil) == (count <= 10), "\(count)")
    }
    let digits = String(repeating: "c", count: 60)
    let hashes = try (0...400).map { number in
      try #require(KeyFileHash(hex: "\(number + 1_000)" + digits))
    }
    for count in [399, 400, 401] {
      let document = document {
        $0.keys = Array(keys.prefix(10))
        $0.withdrawn = Array(hashes.prefix(count))
        $0.withdrawnSince = $0.withdrawn.map { _ in 1_700_000_000 }
      }
      #expect((document.fault == nil) == (count <= 400), "\(count)")
      guard count <= 400 else { continue }
      let bytes = try UnverifiedDeviceConfiguration.signed(document, by: root).encoded()
      #expect(bytes.count <= DeviceConfigurationLimit.bytesMax)
    }
  }

  @Test("More bytes than the limit, or other JSON, are malformed")
  func malformed() throws {
    let bytes = try UnverifiedDeviceConfiguration.signed(document(), by: root).encoded()
    let most = DeviceConfigurationLimit.bytesMax
    let padded = bytes + Data(repeating: 0x20, count: most - bytes.count)
    #expect(
      try UnverifiedDeviceConfiguration(decoding: padded).verified(by: root.rootKey).version == 1)
    for bad in [padded + [0x20], Data("<html></html>".utf8), Data(), Data("{}".utf8)] {
      #expect(throws: DeviceConfigurationError.malformed) {
        try UnverifiedDeviceConfiguration(decoding: bad)
      }
    }
  }

  @Test(
    "A hash has 64 hexadecimal digits", arguments: ["", "ab", String(repeating: "g", count: 64)])
  func badHash(text: String) {
    #expect(KeyFileHash(hex: text) == nil)
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode([KeyFileHash].self, from: try JSONEncoder().encode([text]))
    }
  }

  @Test("The private root key shows nothing of itself")
  func redacted() {
    var text = "\(root)"
    dump(root, to: &text)
    #expect(!text.contains("PRIVATE") && text.contains("RootPrivateKey"))
  }
}
