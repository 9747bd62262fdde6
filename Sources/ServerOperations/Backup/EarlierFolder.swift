// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import ServerStorage
import Settings
import Terminal
import VerificationServer
import World

/// A folder that held the restored servers before, such as the damaged one that was moved away. What was revoked there
/// after the backup stays revoked.
struct EarlierFolder {
  let folder: ServerFolder

  /// The folders beside `folder` that had the restored servers `stored` and belong to this user, the latest one last.
  static func all(beside folder: ServerFolder, of stored: [StoredServer]) -> [EarlierFolder] {
    let parent = folder.url.standardizedFileURL.deletingLastPathComponent()
    let folders = FileManager.default.names(in: parent).compactMap { name -> EarlierFolder? in
      let other = ServerFolder(at: parent.appendingPathComponent(name).path)
      let isOther = other.url.standardizedFileURL.path != folder.url.standardizedFileURL.path
      guard isOther, other.isOfThisUser else { return nil }
      let earlier = EarlierFolder(folder: other)
      return stored.contains(where: earlier.had) ? earlier : nil
    }
    return folders.sorted { $0.changedAt < $1.changedAt }
  }

  /// The time of the last change of secrets.
  private var changedAt: Date {
    folder.servers.compactMap { $0.secrets.changedAt }.max() ?? .distantPast
  }

  /// True if the root key or the secret of the server is in this folder.
  private func had(_ server: StoredServer) -> Bool {
    let root = FileManager.default.contents(atPath: folder.rootPublicKey.path)
    if server.name == .keys, let root,
      root == FileManager.default.contents(atPath: server.folder.rootPublicKey.path)
    {
      return true
    }
    let secrets = folder.server(server.name).secrets
    // Other folders are of other servers, also if their secrets cannot be read.
    return (try? server.secrets.hasSameKey(as: secrets, server.name)) ?? false
  }

  /// Takes over what was revoked after the backup.
  ///
  /// - Parameters:
  ///   - stored: The servers of the backup, in the folder to which they were extracted.
  ///   - createdAt: The time of the backup.
  /// - Returns: A sentence for each takeover, and for each part of this folder that cannot be read.
  func takeOver(by stored: [StoredServer], createdAt: Date) async -> [String] {
    var sentences: [String] = []
    for server in stored {
      do { sentences += try takeOverSecrets(by: server, createdAt: createdAt) } catch {
        sentences.append(fault("secrets", of: server.name))
      }
      do { sentences += try await takeOverDatabase(by: server) } catch {
        sentences.append(fault("database", of: server.name))
      }
    }
    return sentences
  }

  private func fault(_ part: String, of server: ServerName) -> String {
    "The \(part) of the \(server.title) in \(folder.url.path.printable) cannot be read: what was revoked there after"
      + " the backup may be valid again, so revoke it again."
  }

  private func takeOverDatabase(by server: StoredServer) async throws -> [String] {
    let earlier = folder.server(server.name).database
    guard FileManager.default.fileExists(atPath: earlier.path) else { return [] }
    let counts: [(Int, String)]
    switch server.name {
    case .verification:
      let taken = try RestoredCodes.takeOver(from: earlier, by: server.database)
      counts = [
        (taken?.revokedKeys ?? 0, "revoked API keys"), (taken?.endedCodes ?? 0, "ended codes"),
      ]
    case .keys:
      let taken = try RestoredRegistry.takeOver(from: earlier, by: server.database)
      counts = [
        (taken?.endedKeys ?? 0, "withdrawn keys of authorities"),
        (taken?.removed ?? 0, "removed authorities and apps"),
      ]
    case .console:
      let setup = ServerSetup(folder: server.folder) { _ in }
      counts = [
        (
          try await setup.takeOverAccounts(from: earlier),
          "disabled or changed accounts and requests"
        )
      ]
    }
    return counts.filter { $0.0 > 0 }.map {
      "Kept from \(folder.url.path.printable): \($0.1), \($0.0)."
    }
  }

  /// Keys that were rotated or revoked, and API tokens that were replaced, after the backup.
  private func takeOverSecrets(by server: StoredServer, createdAt: Date) throws -> [String] {
    let earlier = folder.server(server.name).secrets
    guard let changed = earlier.changedAt, changed > createdAt else { return [] }
    let isChanged: Bool
    switch server.name {
    case .keys:
      isChanged = try server.secrets.takeOver(KeySecrets.self, from: earlier) {
        guard $0.databaseKey == $1.databaseKey else { return }
        $0.signingKeys.follow($1.signingKeys)
      }
    case .verification:
      isChanged = try server.secrets.takeOver(VerificationSecrets.self, from: earlier) {
        guard $0.codeHashKey == $1.codeHashKey else { return }
        $0.signingKeys.follow($1.signingKeys)
        $0.apiTokens = $1.apiTokens
      }
      let keys = try server.secrets.read(VerificationSecrets.self)?.signingKeys ?? []
      try server.folder.tokenPublicKeys.write(keys, at: changed)
    case .console: isChanged = false
    }
    return isChanged
      ? ["Kept from \(folder.url.path.printable): the present keys of the \(server.name.title)."]
      : []
  }

  /// The device configuration that phones may have, if the root key of the restored servers has signed it.
  func deviceConfiguration(
    of restored: DeviceConfigurationFiles
  ) -> (document: DeviceConfiguration, data: Data)? {
    do {
      let data = try Data(contentsOf: folder.deviceConfiguration)
      let document = try UnverifiedDeviceConfiguration(decoding: data)
        .verified(by: try restored.publicRootKey())
      return (document, data)
    } catch {
      // A folder without the document, with a damaged one, or of other servers has none.
      return nil
    }
  }
}

extension PrivateFile {
  /// The time of the last change; nil if there is no file.
  fileprivate var changedAt: Date? {
    FileManager.default.attributes(of: url)?[.modificationDate] as? Date
  }

  /// True if both files have the secrets of the same server.
  fileprivate func hasSameKey(as other: PrivateFile, _ server: ServerName) throws -> Bool {
    func isEqual<Content: Codable, Key: Equatable>(_ key: (Content) -> Key) throws -> Bool {
      guard let own = try read(Content.self), let theirs = try other.read(Content.self) else {
        return false
      }
      return key(own) == key(theirs)
    }
    switch server {
    case .keys: return try isEqual { (secrets: KeySecrets) in secrets.databaseKey }
    case .verification: return try isEqual { (secrets: VerificationSecrets) in secrets.codeHashKey }
    case .console: return try isEqual { (secrets: ConsoleSecrets) in secrets.databaseKey }
    }
  }

  /// Changes the content of this file by that of `earlier`.
  ///
  /// - Returns: True if it has changed.
  fileprivate func takeOver<Content: Codable & Equatable>(
    _ type: Content.Type, from earlier: PrivateFile, _ change: (inout Content, Content) -> Void
  ) throws -> Bool {
    guard let old = try earlier.read(type), let present = try read(type) else { return false }
    var new = present
    change(&new, old)
    guard new != present else { return false }
    try replace(new)
    return true
  }
}

extension [SecretSigningKey] {
  /// Replaces the keys by `earlier`, which are newer if they include them.
  fileprivate mutating func follow(_ earlier: [SecretSigningKey]) {
    let known = Set(earlier.map(\.publicKeyPEM))
    if allSatisfy({ known.contains($0.publicKeyPEM) }) { self = earlier }
  }
}

extension ServerFolder {
  /// True if the folder belongs to this user: another user cannot have put it there.
  fileprivate var isOfThisUser: Bool {
    var facts = stat()
    return stat(url.path, &facts) == 0 && facts.st_uid == geteuid()
  }
}
