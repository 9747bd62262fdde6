// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Synchronization
import TestSupport
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// The parts of a verification server without HTTP, with a database of its own.
struct VerificationBench {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)
  static let lifetime: TimeInterval = 1800
  static let confirmed = TestResult(
    testType: .confirmed, symptomDay: CalendarDay(VerificationBench.start))

  let folder: TemporaryFolder
  let clock = ManualClock(VerificationBench.start)
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: UploadTokenIssuer
  let verifier: UploadTokenVerifier

  init() throws {
    folder = try TemporaryFolder()
    storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    keys = try Self.keys()
    let key = P256.Signing.PrivateKey()
    signing = try Self.issuer(key)
    verifier = try UploadTokenVerifier(
      issuer: "verification", audience: "keys",
      publicKeysPEM: ["v1": key.publicKey.pemRepresentation])
  }

  static func keys(_ byte: UInt8 = 7) throws -> CodeKeys {
    guard let keys = CodeKeys(codeHashKey: [UInt8](repeating: byte, count: 32)) else {
      throw VerificationServerError.badConfiguration("the bench's key")
    }
    return keys
  }

  static func issuer(_ key: P256.Signing.PrivateKey) throws -> UploadTokenIssuer {
    try UploadTokenIssuer(
      keyID: "v1", privateKeyPEM: key.pemRepresentation, issuer: "verification", audience: "keys")
  }

  var randomness: any Randomness { SystemRandomness() }

  /// A new signing key.
  static func pem() -> String { P256.Signing.PrivateKey().pemRepresentation }

  func codeIssuer(randomness: any Randomness = SystemRandomness()) -> CodeIssuer {
    CodeIssuer(
      storage: storage, keys: keys,
      rules: RulesInForce(pinLifetime: Self.lifetime, policy: CodePolicy()), clock: clock,
      randomness: randomness)
  }

  func redeemer(
    signing: (any TokenSigning)? = nil, keys: CodeKeys? = nil
  ) -> CodeRedeemer {
    CodeRedeemer(
      storage: storage, keys: keys ?? self.keys, signing: signing ?? self.signing,
      tokenLifetime: Self.lifetime, clock: clock, randomness: SystemRandomness())
  }

  func code() async throws -> VerificationCode {
    try await codeIssuer().code(for: Self.confirmed)
  }

  func grant(of token: String) async throws -> UploadGrant {
    try await verifier.verified(UnverifiedUploadToken(token), at: clock.now).grant
  }
}

extension CodeRedeemer {
  func token(for code: any EnteredCode, keyHMAC: Data?) async throws -> String? {
    try await response(to: code, keyHMAC: keyHMAC, wantsFollowUp: false)?.accessToken
  }
}

/// The system's randomness, recorded.
final class RecordingRandomness: Randomness {
  private let given = Mutex<[UInt8]>([])

  var recorded: [UInt8] { given.withLock { $0 } }

  func bytes(_ count: Int) -> [UInt8] {
    let bytes = SystemRandomness().bytes(count)
    given.withLock { $0 += bytes }
    return bytes
  }
}

/// The bytes of a script, and the system's randomness after its end.
final class ScriptedRandomness: Randomness {
  private let script: Mutex<[UInt8]>

  init(_ script: [UInt8]) {
    self.script = Mutex(script)
  }

  func bytes(_ count: Int) -> [UInt8] {
    script.withLock { script in
      guard script.count >= count else { return SystemRandomness().bytes(count) }
      defer { script.removeFirst(count) }
      return Array(script.prefix(count))
    }
  }
}

/// A sender that collects SMS, or fails.
actor CollectedSMS: SMSSending {
  private(set) var messages: [SMSMessage] = []
  private var failure: SMSFailure?

  init(failure: SMSFailure? = nil) {
    self.failure = failure
  }

  func fail(with failure: SMSFailure?) {
    self.failure = failure
  }

  func send(_ message: SMSMessage) async throws(SMSFailure) {
    if let failure { throw failure }
    messages.append(message)
  }
}

/// A gateway that does not respond until it is opened.
actor HeldSMS: SMSSending {
  /// The number of messages.
  private(set) var messageCount = 0
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func send(_ message: SMSMessage) async throws(SMSFailure) {
    messageCount += 1
    guard !isOpen else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Responds now, and at once from now on.
  func open() {
    isOpen = true
    for response in waiting { response.resume() }
    waiting = []
  }
}
