// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Secrets
import Settings
import Terminal
import TextEncodings
import World

/// The part of a server's folder that is the same for all processes with one database: what the console and commands
/// change while servers run.
enum SharedContent: Codable, Equatable, Redacted {
  case keys(SharedKeys)
  case verification(SharedCodes)

  /// The content of the folder of `server`; nil before its first start, and for the console, which shares its database.
  ///
  /// - Throws: `CommandFailure` if a file is damaged.
  init?(_ server: StoredServer) throws {
    switch server.name {
    case .keys:
      guard let keys = try SharedKeys(server) else { return nil }
      self = .keys(keys)
    case .verification:
      guard let codes = try SharedCodes(server) else { return nil }
      self = .verification(codes)
    case .console: return nil
    }
  }

  /// Replaces the content of the folder of `server`.
  ///
  /// - Throws: `CommandFailure` if a file cannot be written, or phones would trust another root key.
  func store(in server: StoredServer, at now: Date) throws {
    switch self {
    case .keys(let keys): try keys.store(in: server)
    case .verification(let codes): try codes.store(in: server, at: now)
    }
  }

  /// True if the content lacks something that `other` has, so that it is no change of it: a folder from a backup.
  func isOlder(than other: SharedContent) -> Bool {
    switch (self, other) {
    case (.keys(let keys), .keys(let other)): keys.isOlder(than: other)
    case (.verification(let codes), .verification(let other)):
      codes.secrets.isOlder(than: other.secrets)
    case (.keys, .verification), (.verification, .keys): true
    }
  }

  /// True if the content was certainly changed after `other`.
  func isNewer(than other: SharedContent) -> Bool {
    switch (self, other) {
    case (.keys(let keys), .keys(let other)): keys.documentVersion > other.documentVersion
    case (.verification(let codes), .verification(let other)):
      other.secrets.isOlder(than: codes.secrets) && !codes.secrets.isOlder(than: other.secrets)
    case (.keys, .verification), (.verification, .keys): false
    }
  }

  /// True if the content differs from `other` only in a later signature of the device configuration, which phones may
  /// have read: they refuse the earlier one.
  func isRenewal(of other: SharedContent) -> Bool {
    guard case .keys(let keys) = self, case .keys(let other) = other else { return false }
    return keys.isRenewal(of: other)
  }

  /// The content without the places of its signing keys, which may differ between machines.
  var withoutPlaces: SharedContent {
    switch self {
    case .keys(var keys):
      keys.signingKeys = keys.signingKeys.map(\.withoutPlace)
      return .keys(keys)
    case .verification(var codes):
      codes.secrets.signingKeys = codes.secrets.signingKeys.map(\.withoutPlace)
      return .verification(codes)
    }
  }
}

/// The shared content of a key server.
struct SharedKeys: Codable, Equatable, Redacted {
  private static let remoteConfiguration = "remoteConfiguration"

  fileprivate var signingKeys: [SecretSigningKey]
  private let instructions: StoredInstructions?
  private let unfinishedRevocation: String?
  /// The signed device configuration; nil if it is lost.
  private let document: Data?
  private let rootPublicKey: Data?
  /// The setting of the folder; nil if it has none.
  private let remoteConfiguration: JSONValue?

  init?(_ server: StoredServer) throws {
    let folder = server.folder
    guard let secrets = try KeySecrets.stored(in: folder) else { return nil }
    signingKeys = secrets.signingKeys
    instructions = secrets.instructions
    unfinishedRevocation = secrets.unfinishedRevocation
    document = FileManager.default.contents(atPath: folder.deviceConfiguration.path)
    rootPublicKey = FileManager.default.contents(atPath: folder.rootPublicKey.path)
    remoteConfiguration = try server.settings.read()?[Self.remoteConfiguration]
  }

  /// The version of the device configuration; 0 if it is lost or damaged.
  var documentVersion: Int {
    guard let document else { return 0 }
    // A damaged document is replaced by that of the database.
    return (try? UnverifiedDeviceConfiguration(decoding: document).unverified().version) ?? 0
  }

  func isOlder(than other: SharedKeys) -> Bool {
    documentVersion < other.documentVersion || (rootPublicKey == nil && other.rootPublicKey != nil)
  }

  func isRenewal(of other: SharedKeys) -> Bool {
    let haveSameInstructions =
      if let instructions, let others = other.instructions {
        instructions.isEqual(exceptVersion: others)
      } else {
        instructions == other.instructions
      }
    return documentVersion > other.documentVersion && other.documentVersion > 0
      && haveSameInstructions && rootPublicKey == other.rootPublicKey
      && unfinishedRevocation == other.unfinishedRevocation
      && remoteConfiguration == other.remoteConfiguration
      && signingKeys.map(\.withoutPlace) == other.signingKeys.map(\.withoutPlace)
  }

  /// The document first, as after a rotation: a signer signs only if the document lists its key.
  func store(in server: StoredServer) throws {
    let folder = server.folder
    try storeRootKey(in: folder)
    if let document { try Self.write(document, to: folder.deviceConfiguration, permissions: 0o600) }
    guard var secrets = try KeySecrets.stored(in: folder) else { return }
    let before = secrets
    secrets.signingKeys = signingKeys.map { $0.inPlace(of: before.signingKeys) }
    secrets.instructions = instructions
    secrets.unfinishedRevocation = unfinishedRevocation
    if secrets != before { try folder.keySecrets.replace(secrets) }
    if let remoteConfiguration,
      try server.settings.read()?[Self.remoteConfiguration] != remoteConfiguration
    {
      try server.settings.replace(Self.remoteConfiguration, with: remoteConfiguration)
    }
  }

  private func storeRootKey(in folder: ServerFolder) throws {
    guard let rootPublicKey else { return }
    let present = FileManager.default.contents(atPath: folder.rootPublicKey.path)
    guard let present else {
      return try Self.write(rootPublicKey, to: folder.rootPublicKey, permissions: 0o644)
    }
    guard present == rootPublicKey else {
      throw CommandFailure.badInput(
        "\(folder.rootPublicKey.path.printable) is another root key than that of the other processes: copy theirs."
      )
    }
  }

  private static func write(_ data: Data, to url: URL, permissions: mode_t) throws {
    guard FileManager.default.contents(atPath: url.path) != data else { return }
    do {
      try AtomicFile.write(data, to: url, permissions: permissions)
    } catch {
      throw CommandFailure.machineFailed(
        "\(url.path.printable) could not be written: check the disk, then retry.")
    }
  }
}

/// The shared content of a verification server.
struct SharedCodes: Codable, Equatable, Redacted {
  fileprivate(set) var secrets: VerificationSecrets.Changing
  /// The settings with the rules for new codes; nil for each that the folder does not have.
  private let codeLifetime: JSONValue?
  private let policy: [String: JSONValue]

  init?(_ server: StoredServer) throws {
    guard let secrets = try VerificationSecrets.stored(in: server.folder) else { return nil }
    self.secrets = secrets.changing
    let settings = try server.settings.read()
    codeLifetime = settings?["codeLifetime"]
    policy = (settings?["policy"]?.fields ?? [:]).filter { ServerSetup.ruleNames.contains($0.key) }
  }

  /// The public keys first, as after a rotation: the key server knows a key before it signs.
  func store(in server: StoredServer, at now: Date) throws {
    let folder = server.folder
    guard var stored = try VerificationSecrets.stored(in: folder) else { return }
    var new = secrets
    new.signingKeys = new.signingKeys.map { $0.inPlace(of: stored.signingKeys) }
    try folder.tokenPublicKeys.write(new.signingKeys, at: now)
    if stored.changing != new {
      stored.changing = new
      try folder.verificationSecrets.replace(stored)
    }
    try storeRules(in: server.settings)
  }

  /// Stores the rules for new codes.
  ///
  /// - Returns: True if they have changed.
  @discardableResult
  func storeRules(in settings: SettingsFile) throws -> Bool {
    let present = try settings.read()
    var fields = present?["policy"]?.fields ?? [:]
    fields.merge(policy) { $1 }
    var values: [String: JSONValue] = [:]
    if let codeLifetime, codeLifetime != present?["codeLifetime"] {
      values["codeLifetime"] = codeLifetime
    }
    if fields != present?["policy"]?.fields ?? [:] { values["policy"] = .object(fields) }
    if !values.isEmpty { try settings.replace(values) }
    return !values.isEmpty
  }
}
