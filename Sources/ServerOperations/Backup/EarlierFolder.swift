// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServerStorage
import Settings
import Terminal
import World

/// A folder that held the restored servers before, such as the damaged one that was moved away. What was revoked there
/// after the backup stays revoked.
///
/// Secrets and databases have a record of each revocation, so that those of an older folder change nothing.
struct EarlierFolder {
  let folder: ServerFolder
  /// The databases in comparison with those of the backup. Those that cannot be read are left out.
  private let relations: [ServerName: EarlierDatabase.Relation]
  /// The source of a folder that the operator does not know; nil for the folder itself.
  private let name: String?

  /// - Parameters:
  ///   - folder: The folder.
  ///   - stored: The restored servers.
  ///   - name: The place that the folder was copied from, for messages; nil for the folder itself.
  init(_ folder: ServerFolder, of stored: [StoredServer], name: String? = nil) {
    self.folder = folder
    self.name = name
    var relations: [ServerName: EarlierDatabase.Relation] = [:]
    for server in stored {
      let database = EarlierDatabase(folder.server(server.name).database, schema: server.schema)
      // The takeover reports a database that cannot be read.
      relations[server.name] = try? database.relation(toBackupIn: server.database)
    }
    self.relations = relations
  }

  /// The folders beside `folder` that had the restored servers `stored` and belong to this user, the newest first.
  static func all(beside folder: ServerFolder, of stored: [StoredServer]) -> [EarlierFolder] {
    let parent = folder.url.standardizedFileURL.deletingLastPathComponent()
    let folders = FileManager.default.names(in: parent).sorted().compactMap {
      name -> EarlierFolder? in
      let other = ServerFolder(at: parent.appendingPathComponent(name).path)
      let isOther = other.url.standardizedFileURL.path != folder.url.standardizedFileURL.path
      guard isOther, other.isOfThisUser else { return nil }
      let earlier = EarlierFolder(other, of: stored)
      return stored.contains(where: earlier.had) ? earlier : nil
    }
    return folders.sorted { $0.newestTime > $1.newestTime }
  }

  /// True if it is certain that the database of the server has continued after the backup.
  func hasContinued(_ server: ServerName) -> Bool { relations[server]?.hasContinued ?? false }

  /// The newest time in a database of this folder. A restoration stores its time, so the folder that was restored last
  /// has the newest.
  var newestTime: Date { relations.values.compactMap(\.newestTime).max() ?? .distantPast }

  /// True if the database, the root key or the secret of the server is in this folder.
  func had(_ server: StoredServer) -> Bool {
    if relations[server.name]?.isOfSameServer == true { return true }
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

  /// The path, or the name of its source, for messages.
  var path: String { name ?? folder.url.path.printable }

  /// True if the folder is a copy that is removed with the restoration.
  var isCopy: Bool { name != nil }

  /// The option with which commands read the folder, for messages.
  var optionOfCommands: String {
    name.map { "DATABASE_URL of \($0)" } ?? "--data \(path)"
  }

  /// A sentence for a part of the folder that cannot be taken over.
  func fault(_ part: String, of server: ServerName) -> String {
    "The \(part) of the \(server.title) in \(path) cannot be used: what was revoked there after the backup may be"
      + " valid again, so revoke it again."
  }

  /// A sentence for each kind of changes that were taken over.
  func kept(_ counts: [(String, Int)]) -> [String] {
    counts.filter { $0.1 > 0 }.map { "Kept from \(path): \($0.0), \($0.1)." }
  }

  /// Takes over keys that were added, rotated or revoked, and API tokens that were replaced, after the backup.
  ///
  /// - Parameter hasReplacedTokens: Becomes true if API tokens of the backup are not valid any more.
  /// - Returns: Sentences for the operator.
  func takeOverSecrets(
    by server: StoredServer, at now: Date, hasReplacedTokens: inout Bool
  ) throws -> [String] {
    let earlier = folder.server(server.name).secrets
    var (hasFollowed, hasReplaced) = (true, false)
    let isChanged: Bool
    switch server.name {
    case .keys:
      isChanged = try server.secrets.takeOver(KeySecrets.self, from: earlier) {
        hasFollowed = $0.signingKeys.follow($1.signingKeys)
      }
    case .verification:
      isChanged = try server.secrets.takeOver(VerificationSecrets.self, from: earlier) {
        hasFollowed = $0.signingKeys.follow($1.signingKeys)
        hasReplaced = $0.takeOverAPITokens(of: $1)
      }
      hasReplacedTokens = hasReplaced
      let keys = try server.secrets.read(VerificationSecrets.self)?.signingKeys ?? []
      try server.folder.tokenPublicKeys.write(keys, at: now)
    case .console: isChanged = false
    }
    return (isChanged ? ["Kept from \(path): changed secrets of the \(server.name.title)."] : [])
      + (hasFollowed
        ? []
        : [
          "The signing keys of the \(server.name.title) in \(path) have diverged from those of the backup: keys that"
            + " were ended there stay ended, and newer ones are not taken over."
        ])
  }

  /// The newest instructions that phones may have: those of the device configuration if the root key of the restored
  /// servers has signed it, or newer ones that are stored with the secrets.
  func instructions(of restored: DeviceConfigurationFiles) -> EarlierInstructions? {
    // Secrets that cannot be read are reported by the takeover.
    let stored = try? storedInstructions(of: restored)
    // The document may be missing or damaged.
    let signed = try? signedInstructions(of: restored)
    return [signed, stored].compactMap(\.self).max { $0.document.version < $1.document.version }
  }

  /// True if the key server has continued after the backup, and what it told phones is lost.
  func hasLostInstructions(of restored: DeviceConfigurationFiles) -> Bool {
    hasContinued(.keys) && instructions(of: restored) == nil
  }

  private func signedInstructions(
    of restored: DeviceConfigurationFiles
  ) throws -> EarlierInstructions {
    let data = try Data(contentsOf: folder.deviceConfiguration)
    let document = try UnverifiedDeviceConfiguration(decoding: data)
      .verified(by: try restored.publicRootKey())
    return EarlierInstructions(document: document, data: data, hasContinued: hasContinued(.keys))
  }

  /// The document that the secrets of the same key server have the instructions of.
  private func storedInstructions(
    of restored: DeviceConfigurationFiles
  ) throws -> EarlierInstructions? {
    guard try hasSecrets(of: restored.folder.server(.keys)),
      let stored = try folder.keySecrets.read(KeySecrets.self)?.instructions
    else { return nil }
    return EarlierInstructions(
      document: stored.document(following: nil, at: restored.clock.now), data: nil,
      hasContinued: hasContinued(.keys))
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
  /// Replaces the keys by `earlier` if those continue this list. Otherwise ends the keys that ended earlier there.
  ///
  /// - Returns: False if the lists have diverged.
  fileprivate mutating func follow(_ earlier: [SecretSigningKey]) -> Bool {
    if earlier.continues(self) {
      self = earlier
      return true
    }
    if continues(earlier) { return true }
    for index in indices {
      let same = earlier.first { $0.publicKeyPEM == self[index].publicKeyPEM }
      guard let end = same?.validThru, end < self[index].validThru ?? .max else { continue }
      self[index].validThru = end
    }
    return false
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
