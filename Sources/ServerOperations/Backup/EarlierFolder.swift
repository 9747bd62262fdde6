// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import ServerStorage
import Settings
import Terminal
import VerificationServer
import World

/// A folder that held the restored servers before, such as the damaged one that was moved away. What was revoked there
/// after the backup stays revoked.
///
/// Databases are taken over only if their history has the backup. Secrets have a record of each revocation, so that
/// those of an older folder change nothing.
struct EarlierFolder {
  let folder: ServerFolder
  /// The accounts of the backup; nil if it has no console.
  let accounts: AccountsOfBackup?

  /// The result of a takeover.
  struct Takeover {
    /// A sentence for each takeover, and for each part of the folder that could not be taken over.
    var sentences: [String] = []
    /// The servers whose databases have continued after the backup.
    var continued: Set<ServerName> = []
  }

  /// The folders beside `folder` that had the restored servers `stored` and belong to this user.
  static func all(
    beside folder: ServerFolder, of stored: [StoredServer], _ accounts: AccountsOfBackup?
  ) -> [EarlierFolder] {
    let parent = folder.url.standardizedFileURL.deletingLastPathComponent()
    return FileManager.default.names(in: parent).sorted().compactMap { name in
      let other = ServerFolder(at: parent.appendingPathComponent(name).path)
      let isOther = other.url.standardizedFileURL.path != folder.url.standardizedFileURL.path
      guard isOther, other.isOfThisUser else { return nil }
      let earlier = EarlierFolder(folder: other, accounts: accounts)
      return stored.contains(where: earlier.had) ? earlier : nil
    }
  }

  /// True if the root key or the secret of the server is in this folder.
  private func had(_ server: StoredServer) -> Bool {
    let root = FileManager.default.contents(atPath: folder.rootPublicKey.path)
    if server.name == .keys, let root,
      root == FileManager.default.contents(atPath: server.folder.rootPublicKey.path)
    {
      return true
    }
    do { return try hasSecrets(of: server) } catch {
      // Other folders are of other servers, also if their secrets cannot be read.
      return false
    }
  }

  private func hasSecrets(of server: StoredServer) throws -> Bool {
    guard let identity = try folder.server(server.name).identity else { return false }
    return identity == (try server.identity)
  }

  /// Takes over what was revoked after the backup.
  ///
  /// - Parameter stored: The servers of the backup, in the folder to which they were extracted.
  func takeOver(by stored: [StoredServer], at now: Date) async -> Takeover {
    var takeover = Takeover()
    var uncertain: [ServerName] = []
    for server in stored {
      do { takeover.sentences += try takeOverSecrets(by: server, at: now) } catch {
        takeover.sentences.append(fault("secrets", of: server.name))
      }
      do {
        if let sentences = try await takeOverDatabase(by: server) {
          takeover.sentences += sentences
          takeover.continued.insert(server.name)
        } else {
          uncertain.append(server.name)
        }
      } catch {
        takeover.sentences.append(fault("database", of: server.name))
      }
    }
    if !uncertain.isEmpty {
      takeover.sentences.append(
        "Not taken over from \(path): the databases (\(uncertain.titles)), which may be older than the backup."
      )
    }
    return takeover
  }

  private var path: String { folder.url.path.printable }

  private func fault(_ part: String, of server: ServerName) -> String {
    "The \(part) of the \(server.title) in \(path) cannot be used: what was revoked there after the backup may be"
      + " valid again, so revoke it again."
  }

  /// - Returns: Nil if it is not certain that the database has continued after the backup.
  private func takeOverDatabase(by server: StoredServer) async throws -> [String]? {
    let earlier = folder.server(server.name).database
    switch server.name {
    case .verification:
      return try RestoredCodes.takeOver(from: earlier, by: server.database).map {
        kept([("revoked API keys", $0.revokedKeys), ("ended codes", $0.endedCodes)])
      }
    case .keys:
      return try RestoredRegistry.takeOver(from: earlier, by: server.database).map {
        kept([
          ("withdrawn or removed keys of authorities", $0.endedKeys),
          ("removed authorities and apps", $0.removed.count),
        ]) + undone("changes of authorities and apps", $0.changed)
      }
    case .console:
      let database = EarlierDatabase(earlier, schema: server.schema)
      guard let accounts, try database.hasContinued(sinceBackupIn: server.database) else {
        return nil
      }
      let taken = try await ServerSetup(folder: server.folder) { _ in }
        .takeOverAccounts(from: earlier, since: accounts)
      return kept([
        ("disabled accounts", taken.disabled.count), ("decided requests", taken.decidedRequests),
        ("accounts with changed passwords or removed passkeys", taken.changed.count),
      ]) + undone("the disabling of the last administrator", taken.lastAdministrators)
    }
  }

  private func kept(_ counts: [(String, Int)]) -> [String] {
    counts.filter { $0.1 > 0 }.map { "Kept from \(path): \($0.0), \($0.1)." }
  }

  private func undone(_ changes: String, _ names: [String]) -> [String] {
    guard !names.isEmpty else { return [] }
    let list = names.map(\.printable).joined(separator: ", ")
    return ["Not kept from \(path): \(changes): repeat them for \(list)."]
  }

  /// Keys that were added, rotated or revoked, and API tokens that were replaced, after the backup.
  private func takeOverSecrets(by server: StoredServer, at now: Date) throws -> [String] {
    let earlier = folder.server(server.name).secrets
    var hasFollowed = true
    let isChanged: Bool
    switch server.name {
    case .keys:
      isChanged = try server.secrets.takeOver(KeySecrets.self, from: earlier) {
        hasFollowed = $0.signingKeys.follow($1.signingKeys)
      }
    case .verification:
      isChanged = try server.secrets.takeOver(VerificationSecrets.self, from: earlier) {
        hasFollowed = $0.signingKeys.follow($1.signingKeys)
        $0.takeOverAPITokens(of: $1)
      }
      let keys = try server.secrets.read(VerificationSecrets.self)?.signingKeys ?? []
      try server.folder.tokenPublicKeys.write(keys, at: now)
    case .console: isChanged = false
    }
    return (isChanged ? ["Kept from \(path): changed secrets of the \(server.name.title)."] : [])
      + (hasFollowed ? [] : [fault("signing keys", of: server.name)])
  }

  /// The newest instructions that phones may have: the device configuration if the root key of the restored servers has
  /// signed it, or the instructions that are stored with the secrets.
  func deviceConfiguration(
    of restored: DeviceConfigurationFiles
  ) -> (document: DeviceConfiguration, data: Data?)? {
    do {
      let data = try Data(contentsOf: folder.deviceConfiguration)
      let document = try UnverifiedDeviceConfiguration(decoding: data)
        .verified(by: try restored.publicRootKey())
      return (document, data)
    } catch {
      // The document is missing or damaged. Secrets that cannot be read were reported.
      return (try? storedInstructions(of: restored)).map { ($0, nil) }
    }
  }

  /// The document that the secrets of the same key server have the instructions of.
  private func storedInstructions(
    of restored: DeviceConfigurationFiles
  ) throws -> DeviceConfiguration? {
    guard try hasSecrets(of: restored.folder.server(.keys)) else { return nil }
    return try folder.keySecrets.read(KeySecrets.self)?.instructions?
      .document(issued: restored.clock.now)
  }
}

extension PrivateFile {
  /// Changes the content of this file by that of `earlier`.
  ///
  /// - Returns: True if the content has changed.
  /// - Throws: `CommandFailure` if `earlier` is missing, damaged or of another server.
  fileprivate func takeOver<Content: ServerSecrets & Equatable>(
    _ type: Content.Type, from earlier: PrivateFile, _ change: (inout Content, Content) -> Void
  ) throws -> Bool {
    guard let present = try read(type) else { return false }
    guard let old = try earlier.read(type), old.identity == present.identity else {
      throw CommandFailure.badInput(
        "\(earlier.url.path.printable) is missing or of another server.")
    }
    var new = present
    change(&new, old)
    guard new != present else { return false }
    try replace(new)
    return true
  }
}

extension [SecretSigningKey] {
  /// Replaces the keys by `earlier` if those continue this list.
  ///
  /// - Returns: False if the lists have diverged.
  fileprivate mutating func follow(_ earlier: [SecretSigningKey]) -> Bool {
    guard earlier.continues(self) else { return continues(earlier) }
    self = earlier
    return true
  }

  /// True if this list has all keys of `other`, and none of them ends later than there.
  private func continues(_ other: [SecretSigningKey]) -> Bool {
    other.allSatisfy { key in
      contains {
        $0.publicKeyPEM == key.publicKeyPEM && $0.validThru ?? .max <= key.validThru ?? .max
      }
    }
  }
}

extension ServerFolder {
  /// True if this is a folder, and not a link to one, that belongs to this user: another user cannot have put it there.
  fileprivate var isOfThisUser: Bool {
    var facts = stat()
    return lstat(url.path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
      && facts.st_uid == geteuid()
  }
}
