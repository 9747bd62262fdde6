// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import Secrets
import TextEncodings
import World

/// The checks of the two ceremonies of passkeys (Web Authentication, sections 7.1 and 7.2): registration and sign-in.
///
/// Only ES256 is offered, which all authenticators support. Attestation is neither requested nor used, because the
/// console does not restrict the models of authenticators.
struct PasskeyCeremony: Sendable {
  /// The origin of the console, such as `https://console.example`.
  let origin: String
  /// The host name of the origin.
  let relyingPartyID: String
  let limits: PasskeyLimits

  /// Nil if the host name of `origin` cannot have passkeys: browsers require a name, not an address.
  init?(origin: String, limits: PasskeyLimits) {
    guard let host = URL(string: origin)?.host(), !host.isEmpty,
      !host.contains(":"), host.contains(where: \.isLetter)
    else { return nil }
    self.origin = origin
    relyingPartyID = host
    self.limits = limits
  }

  /// The response of an authenticator to a registration.
  struct Registration: Sendable {
    let clientData: Data
    let attestation: Data
  }

  /// The response of an authenticator to a sign-in.
  struct Assertion: Sendable {
    let credentialID: Data
    let clientData: Data
    let authenticatorData: Data
    let signature: Data
    /// The handle of the account.
    let userHandle: Data
  }

  /// A credential as it is stored.
  struct Credential: Hashable, Sendable {
    let id: Data
    /// The public key in X9.63 form.
    let publicKey: Data
    let signCount: UInt32
  }

  /// The new credential of a registration.
  ///
  /// - Parameter accepts: True if the challenge was issued for this account and has not expired.
  func credential(
    _ registration: Registration, accepts: (Data) -> Bool
  ) throws(PasskeyRefusal) -> Credential {
    try check(registration.clientData, type: "webauthn.create", accepts: accepts)
    var reader = CBORReader(
      registration.attestation, depthMax: limits.cborDepthMax, itemsMax: limits.cborItemsMax)
    // An object without the form of CBOR is malformed like one without its fields.
    guard let object = try? reader.value(), reader.isAtEnd,
      let authenticatorData = object["authData"]?.data
    else { throw .malformed }
    let data = try checked(authenticatorData)
    guard let credential = data.credential else { throw .malformed }
    return Credential(
      id: credential.id, publicKey: credential.publicKey.x963Representation,
      signCount: data.signCount)
  }

  /// The credential with its new counter, after a sign-in with it.
  func credential(
    _ stored: Credential, after assertion: Assertion, accepts: (Data) -> Bool
  ) throws(PasskeyRefusal) -> Credential {
    try check(assertion.clientData, type: "webauthn.get", accepts: accepts)
    let data = try checked(assertion.authenticatorData)
    let signed = assertion.authenticatorData + Data(SHA256.hash(data: assertion.clientData))
    let isValid: Bool
    do {
      let key = try P256.Signing.PublicKey(x963Representation: stored.publicKey)
      let signature = try P256.Signing.ECDSASignature(derRepresentation: assertion.signature)
      isValid = key.isValidSignature(signature, for: signed)
    } catch {
      throw .badSignature
    }
    guard isValid else { throw .badSignature }
    // Most passkeys have no signature counter.
    guard (data.signCount == 0 && stored.signCount == 0) || data.signCount > stored.signCount else {
      throw .copied
    }
    return Credential(id: stored.id, publicKey: stored.publicKey, signCount: data.signCount)
  }

  private struct ClientData: Decodable {
    let type: String
    let challenge: String
    let origin: String
    let crossOrigin: Bool?
  }

  private func check(
    _ clientData: Data, type: String, accepts: (Data) -> Bool
  ) throws(PasskeyRefusal) {
    guard let facts = JSONDecoder().decodeIfValid(ClientData.self, from: clientData),
      let challenge = Data(base64URL: facts.challenge)
    else { throw .malformed }
    guard facts.type == type, facts.origin == origin, facts.crossOrigin != true, accepts(challenge)
    else { throw .ceremonyMismatch }
  }

  private func checked(_ bytes: Data) throws(PasskeyRefusal) -> AuthenticatorData {
    let data = try AuthenticatorData(bytes, limits: limits)
    guard data.relyingPartyHash == Data(SHA256.hash(data: Data(relyingPartyID.utf8))) else {
      throw .ceremonyMismatch
    }
    guard data.isUserPresent, data.isUserVerified else { throw .unverifiedUser }
    return data
  }
}

/// The challenges that passkeys sign: random bytes, an expiry and an authentication code over both, so that a challenge
/// is not stored before it is used, and every process accepts those of the others. `PasskeyStore` uses each once.
struct PasskeyChallenges: Sendable {
  let keys: ConsoleKeys
  let seconds: Int64
  let randomness: any Randomness

  private static let randomBytes = 16
  private static let codeBytes = 16

  /// A challenge of this console that has not expired.
  struct Challenge: Hashable, Sendable {
    /// The bytes without their authentication code.
    let bytes: Data
    /// Unix seconds.
    let expiresAt: Int64
  }

  /// A new challenge for one purpose, such as `register 7`.
  func challenge(for purpose: String, at now: Int64) -> Data {
    let expiry = withUnsafeBytes(of: (now + seconds).bigEndian) { Data($0) }
    let head = Data(randomness.bytes(Self.randomBytes)) + expiry
    return head + code(of: head, purpose)
  }

  /// The challenge in these bytes; nil unless it was made for the purpose and has not expired.
  func checked(_ challenge: Data, for purpose: String, at now: Int64) -> Challenge? {
    let challenge = Data(challenge)
    let head = challenge.prefix(Self.randomBytes + 8)
    guard challenge.count == Self.randomBytes + 8 + Self.codeBytes,
      isEqualInConstantTime(challenge.suffix(Self.codeBytes), code(of: head, purpose))
    else { return nil }
    let expiry = head.suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    return now < expiry ? Challenge(bytes: head, expiresAt: expiry) : nil
  }

  private func code(of head: Data, _ purpose: String) -> Data {
    keys.code(of: head + Data(purpose.utf8), for: .challenge).prefix(Self.codeBytes)
  }
}

/// A passkey of an account, for its owner's page.
struct Passkey: Hashable, Sendable {
  let credential: PasskeyCeremony.Credential
  let name: String
  let createdAt: Int64

  init(_ row: Row) {
    let signCount: Int64 = row["sign_count"]
    credential = PasskeyCeremony.Credential(
      id: row["credential_id"], publicKey: row["public_key"],
      signCount: UInt32(truncatingIfNeeded: signCount))
    name = row["name"]
    createdAt = row["created_at"]
  }
}

/// The passkeys in the database.
struct PasskeyStore: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let clock: any WallClock
  /// The number of challenges that may be used before the first of them expires.
  var usedMax = ConsoleLimit.usedChallengesMax

  /// The passkeys of an account, oldest first.
  func passkeys(of account: Account) async throws -> [Passkey] {
    try await database.read {
      try $0.rows(
        sql: "SELECT * FROM passkey WHERE account_id = ? ORDER BY created_at, credential_id",
        arguments: [account.id]
      ).map { Passkey($0) }
    }
  }

  /// The passkey with this id and the account with this handle, if they belong together.
  func passkey(id: Data, handle: Data) async throws -> (Passkey, Account)? {
    try await database.read { db in
      let row = try db.row(
        sql: "SELECT * FROM passkey WHERE credential_id = ?", arguments: [id])
      guard let row else { return nil }
      let accountID: Int64 = row["account_id"]
      guard let account = try AccountStore.account(id: accountID, in: db),
        account.handle == handle, !account.isDisabled
      else { return nil }
      return (Passkey(row), account)
    }
  }

  /// Adds a passkey and uses its challenge; returns false if the passkey is known or there are too many.
  ///
  /// - Throws: `PasskeyRefusal.ceremonyMismatch` if the challenge was used before.
  func add(
    _ credential: PasskeyCeremony.Credential, name: String, to account: Account,
    with challenge: PasskeyChallenges.Challenge
  ) async throws -> Bool {
    let now = clock.now.unixSecond
    return try await database.write { db in
      guard try use(challenge, at: now, in: db) else { throw PasskeyRefusal.ceremonyMismatch }
      let count = try db.count(
        sql: "SELECT count(*) FROM passkey WHERE account_id = ?", arguments: [account.id])
      guard count < ConsoleLimit.passkeysMax else { return false }
      let added = try db.change(
        sql: """
          INSERT INTO passkey
            (credential_id, account_id, public_key, sign_count, name, created_at)
          VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
          """,
        arguments: [
          credential.id, account.id, credential.publicKey, Int64(credential.signCount), name, now,
        ])
      guard added == 1 else { return false }
      try audit.append(AuditEvent(account.name, .passkeyAdded, name), at: now, in: db)
      return true
    }
  }

  /// Uses the challenge of a sign-in and stores the counter; returns false if the challenge was used, or another
  /// sign-in has stored a higher counter.
  func update(
    _ credential: PasskeyCeremony.Credential, with challenge: PasskeyChallenges.Challenge
  ) async throws -> Bool {
    let now = clock.now.unixSecond
    return try await database.write { db in
      guard try use(challenge, at: now, in: db) else { return false }
      let count = Int64(credential.signCount)
      return try db.change(
        sql: """
          UPDATE passkey SET sign_count = ?
          WHERE credential_id = ? AND (sign_count < ? OR (sign_count = 0 AND ? = 0))
          """, arguments: [count, credential.id, count, count]) == 1
    }
  }

  /// Marks a challenge as used; returns false if it was used before, or so many were used that it cannot be known.
  private func use(
    _ challenge: PasskeyChallenges.Challenge, at now: Int64, in db: ConsoleTransaction
  ) throws -> Bool {
    // A process with an earlier clock still accepts them for a while.
    try db.execute(
      sql: "DELETE FROM used_challenge WHERE expires_at <= ?",
      arguments: [now - ConsoleLimit.challengeSeconds])
    // If the list is full, refusing a challenge is safer than forgetting a used one.
    let count = try db.count(
      sql: "SELECT count(*) FROM used_challenge WHERE expires_at > ?", arguments: [now])
    guard count < usedMax else { return false }
    return try db.change(
      sql: """
        INSERT INTO used_challenge (challenge, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING
        """, arguments: [challenge.bytes, challenge.expiresAt]) == 1
  }

  /// Removes a passkey of the account.
  func remove(id: Data, of account: Account) async throws {
    let now = clock.now.unixSecond
    try await database.write { db in
      let name = try db.text(
        sql: "SELECT name FROM passkey WHERE credential_id = ? AND account_id = ?",
        arguments: [id, account.id])
      guard let name else { return }
      try db.execute(sql: "DELETE FROM passkey WHERE credential_id = ?", arguments: [id])
      try audit.append(AuditEvent(account.name, .passkeyRemoved, name), at: now, in: db)
    }
  }
}
