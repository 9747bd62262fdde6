// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import ServerStorage
import Settings
import Terminal
import TextEncodings
import VerificationServer
import World

/// The addition and the removal of realms. Running servers do not notice either.
extension ServerSetup {
  /// Adds a realm with new secrets, or nothing.
  ///
  /// - Parameters:
  ///   - properties: Its name, hosts, regions and apps.
  ///   - origin: The https address of its console.
  ///   - issuer: The issuer of its tokens and certificates.
  /// - Throws: `CommandFailure` if a value is not valid, or that of another authority.
  package func addRealm(
    _ properties: Realm.Properties, origin: String, issuer: String
  ) throws -> Realm {
    try AtomicFile.makeFolder(folder.realmsFolder)
    // Only an empty folder is removed, after an error.
    defer { rmdir(folder.realmsFolder.path) }
    return try FolderLock.withLockBlocking(on: folder.realmsFolder) {
      // With the lock, which a deletion of the service needs too.
      try folder.refuseEnded()
      removeLeftovers()
      let place = folder.folder(ofRealm: properties.name)
      guard !FileManager.default.fileExists(atPath: place.url.path) else {
        throw CommandFailure.badInput(
          "There is a realm \(properties.name.printable) already: choose another name.")
      }
      let new = ServerFolder(
        at: folder.realmsFolder.appendingPathComponent(".new-\(UUID().uuidString)").path,
        realm: properties.name)
      defer { FileManager.default.removeUnneeded(new.url) }
      try write(properties, origin: origin, issuer: issuer, into: new)
      guard rename(new.url.path, place.url.path) == 0 else {
        throw CommandFailure.machineFailed(
          "\(place.url.path.printable) cannot be created: check the disk and the folder's owner.")
      }
      try AtomicFile.sync(folder.realmsFolder)
      // After the folder: a start adds a name that is missing, and refuses one without a folder.
      try RealmMark(in: folder).add(
        [properties.name], to: folder.servers.filter(\.hasFiles).map(\.name))
      return try folder.realm(named: properties.name)
    }
  }

  /// Throws if the register of the key server has an issuer, an app or a region of a new realm: from the next start on
  /// it would be ignored.
  ///
  /// - Throws: `CommandFailure` that names the entry; also if the register cannot be read.
  package func refuseRegistered(_ properties: Realm.Properties, issuer: String) async throws {
    let keys = folder.server(.keys)
    guard try KeySecrets.stored(in: folder) != nil,
      keys.usesPostgreSQL || FileManager.default.fileExists(atPath: keys.database.path)
    else { return }
    let (authorities, apps) = try await withRegistry { registry in
      (try await registry.authorities(), try await registry.apps())
    }
    if let other = authorities.first(where: { LookAlikeName($0.issuer) == LookAlikeName(issuer) }) {
      throw CommandFailure.badInput(
        "The register of the key server has the authority \(other.issuer.printable), which is \(issuer.printable) or"
          + " looks like it: name another --issuer, or remove it with `firebreak key-server authority remove`."
      )
    }
    let ids = Set(properties.apps.map { LookAlikeName($0) })
    if let other = apps.first(where: { ids.contains(LookAlikeName($0.id)) }) {
      throw CommandFailure.badInput(
        "The register of the key server has the app \(other.id.printable), which is one of the realm or looks like it:"
          + " remove it with `firebreak key-server app remove`.")
    }
    for app in apps {
      guard let region = app.regions.intersection(properties.regions).min() else { continue }
      throw CommandFailure.badInput(
        "The app \(app.id.printable) in the register of the key server publishes in the region \(region): a region"
          + " belongs to one authority. Change the app with `firebreak key-server app add`, or remove it."
      )
    }
  }

  /// Removes what killed additions and removals have left, with the lock that both hold.
  private func removeLeftovers() {
    for name in FileManager.default.names(in: folder.realmsFolder)
    where name.hasPrefix(".new-") || name.hasPrefix(".removed-") {
      FileManager.default.removeUnneeded(folder.realmsFolder.appendingPathComponent(name))
    }
  }

  /// Writes the files of a new realm into `new`, and checks them together with those of the others.
  private func write(
    _ properties: Realm.Properties, origin: String, issuer: String, into new: ServerFolder
  ) throws {
    try new.create()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try AtomicFile.write(try encoder.encode(properties), to: new.realmFile)
    let audience = try keySettings().configuration.tokenAudience
    try new.verificationSettings.replace([
      "issuer": .string(issuer), "audience": .string(audience),
    ])
    try new.consoleSettings.replace("origin", with: .string(origin))
    try copyProxySettings(into: new)
    let realm = try Realm(properties.name, in: new)
    try check(folder.realms + [realm], withKeys: folder.server(.keys).hasFiles)
    // With its public keys the key server accepts the realm's uploads from its next start on.
    let secrets = try VerificationSecrets.storedOrNew(in: new)
    try new.tokenPublicKeys.write(secrets.signingKeys, at: clock.now)
  }

  /// Copies what the settings say of the proxy, which is in front of all authorities.
  private func copyProxySettings(into new: ServerFolder) throws {
    for server in [ServerName.verification, .console] {
      // Those of a configuration file, too: it is not read for realms.
      let own = try settingsInForce(of: server)
      guard let proxies = own["trustedProxies"], proxies != .array([]) else { continue }
      try new.server(server).settings.replace("trustedProxies", with: proxies)
    }
    guard try isConsoleProxied else { return }
    try new.consoleSettings.replace("allowsPlainHTTP", with: .bool(true))
  }

  /// Deletes the files of a realm whose servers do not run.
  ///
  /// - Returns: The databases in PostgreSQL that are left.
  /// - Throws: `CommandFailure` if there is no such realm, or its servers run.
  package func removeRealm(_ name: String) throws -> [String] {
    let realm = try folder.realm(named: name)
    defer { rmdir(folder.realmsFolder.path) }
    return try FolderLock.withLockBlocking(on: folder.realmsFolder) {
      removeLeftovers()
      let locks = try ServerLocks(realm.folder, realm.folder.servers.map(\.name))
      defer { withExtendedLifetime(locks) {} }
      let left = realm.folder.servers.filter(\.usesPostgreSQL).map(\.postgreSQLName)
      try RealmMark(in: folder).remove(name)
      let away = folder.realmsFolder.appendingPathComponent(".removed-\(UUID().uuidString)")
      guard rename(realm.folder.url.path, away.path) == 0 else {
        throw CommandFailure.machineFailed(
          "\(realm.folder.url.path.printable) cannot be removed: check the disk and the folder's owner."
        )
      }
      do { try FileManager.default.removeItem(at: away) } catch {
        throw CommandFailure.machineFailed(
          "The realm is removed, but \(away.path.printable) has files of it: delete that folder.")
      }
      return left
    }
  }

  /// The facts of the realms, for lists.
  package func realmFacts() throws -> [RealmFacts] {
    try folder.realms.map { realm in
      let own = setup(of: realm)
      return RealmFacts(
        properties: realm.properties, origin: try own.consoleSettings().origin ?? "",
        issuer: try own.verificationSettings().issuer)
    }
  }
}

/// The properties of a realm with those in its settings.
package struct RealmFacts: Sendable {
  package let properties: Realm.Properties
  /// The address of its console.
  package let origin: String
  /// The issuer of its tokens.
  package let issuer: String

  package init(properties: Realm.Properties, origin: String, issuer: String) {
    self.properties = properties
    self.origin = origin
    self.issuer = issuer
  }
}
