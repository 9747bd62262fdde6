// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import PostgreSQL
import ServerStorage
import Settings
import Terminal
import World

/// The restoration of all servers of a backup into one folder: no server starts on a part of it.
package struct Restoration {
  let folder: ServerFolder
  /// True if a present folder is moved away first.
  let replaces: Bool
  /// The file of the private root key, if the backup does not have it.
  let rootKey: String?
  /// The PostgreSQL cluster that gets the databases; nil for files in the folder.
  let database: PostgreSQLAddress?
  /// The PostgreSQL cluster that had the databases before; nil for none.
  let earlierDatabase: PostgreSQLAddress?
  let clock: any WallClock
  /// Tells the operator what was kept or could not be kept of the changes since the backup.
  let note: @Sendable (String) -> Void

  /// - Parameters:
  ///   - folder: The folder of the servers, which is created if it is missing.
  ///   - replaces: True to move a present folder away first. Its servers must not run.
  ///   - rootKey: The file of the private root key; nil for that of the backup.
  ///   - database: The PostgreSQL cluster whose empty databases get the data; nil for files in the folder.
  ///   - earlierDatabase: The PostgreSQL cluster that had the databases before: what was revoked there after the backup
  ///     stays revoked. Nil for none.
  ///   - clock: The clock of the machine.
  ///   - note: Receives sentences for the operator.
  package init(
    into folder: ServerFolder, replaces: Bool = false, rootKey: String? = nil,
    database: PostgreSQLAddress? = nil, earlierDatabase: PostgreSQLAddress? = nil,
    clock: any WallClock = SystemClock(),
    note: @escaping @Sendable (String) -> Void
  ) {
    // The folder itself is moved away, not a link to it.
    self.folder = ServerFolder(
      at: folder.url.resolvingSymlinksInPath().path, realm: folder.realm)
    self.replaces = replaces
    self.rootKey = rootKey
    self.database = database
    self.earlierDatabase = earlierDatabase
    self.clock = clock
    self.note = note
  }

  /// Restores the backup. What was revoked after it stays revoked if the earlier folder of the servers is beside the
  /// new one, and phones accept the device configuration.
  ///
  /// After an error no file of the backup is in its place, except one that could not be moved back: the next attempt
  /// then asks to move the folder away. Empty folders may remain.
  package func restore(_ backup: URL) async throws -> BackupContent {
    guard replaces, folder.exists else { return try await restoreIntoNewFolder(backup) }
    for file in [backup, rootKey.map { URL(fileURLWithPath: $0) }].compactMap(\.self) {
      try requireOutside(file)
    }
    let away = try moveAway()
    do {
      let content = try await restoreIntoNewFolder(
        backup, keepingRealmsOf: ServerFolder(at: away.path))
      note("The earlier folder is \(away.path.printable): remove it when the servers run.")
      noteServers(of: ServerFolder(at: away.path), missingIn: content)
      return content
    } catch {
      // An empty folder may be in its place.
      if rename(away.path, folder.url.path) != 0 {
        note("The earlier folder is \(away.path.printable).")
      }
      throw error
    }
  }

  /// Tells the operator which servers of the folder that was moved away the backup does not have.
  private func noteServers(of earlier: ServerFolder, missingIn content: BackupContent) {
    let missing = earlier.servers.filter {
      !content.servers.contains($0.name)
        && ($0.usesPostgreSQL || FileManager.default.fileExists(atPath: $0.database.path))
    }.map(\.name)
    guard !missing.isEmpty else { return }
    note(
      "Not restored, because the backup does not have it: \(missing.titles). Move its files back from"
        + " \(earlier.url.path.printable) before a start, which would create new ones.")
  }

  /// Moves the present folder away, whose servers must not run.
  private func moveAway() throws -> URL {
    try RestorationFolder.refuseRunning(in: folder.url)
    let present = ServerName.allCases.filter {
      FileManager.default.fileExists(atPath: folder.folder(of: $0).path)
    }
    let locks = try ServerLocks(folder, present)
    // Also if one that the settings list is lost.
    let realms = try folder.realms(except: nil).map {
      try ServerLocks($0.folder, $0.folder.servers.filter(\.hasFiles).map(\.name))
    }
    defer { withExtendedLifetime((locks, realms)) {} }
    let away = unusedPlace
    guard rename(folder.url.path, away.path) == 0 else {
      let fault = String(cString: strerror(errno))
      throw CommandFailure.machineFailed(
        "\(folder.url.path.printable) cannot be moved to \(away.path.printable) (\(fault)): move it away by hand,"
          + " and restore without --replace. A mount point cannot be moved: restore into a folder below it."
      )
    }
    return away
  }

  /// Moves the realms of the folder that was moved away into the new one: each has a backup of its own.
  private func keepRealms(of earlier: ServerFolder) throws {
    guard FileManager.default.isFolder(at: earlier.realmsFolder.path) else { return }
    guard rename(earlier.realmsFolder.path, folder.realmsFolder.path) == 0 else {
      throw CommandFailure.machineFailed(
        "\(earlier.realmsFolder.path.printable) cannot be moved to \(folder.realmsFolder.path.printable): move it by"
          + " hand, then restore again.")
    }
  }

  /// Throws if the restoration needs a file that it would move away.
  private func requireOutside(_ file: URL) throws {
    let path = file.resolvingSymlinksInPath().standardizedFileURL.path
    guard path.hasPrefix(folder.url.standardizedFileURL.path + "/") else { return }
    throw CommandFailure.badInput(
      "\(file.path.printable) is in the folder that is replaced: move it out first.")
  }

  /// A path beside the folder at which there is nothing yet.
  private var unusedPlace: URL {
    let first = folder.replacedPrefix + "\(clock.now.unixSecond)"
    var (path, number) = (first, 1)
    while FileManager.default.fileExists(atPath: path) {
      number += 1
      path = "\(first)-\(number)"
    }
    return URL(fileURLWithPath: path)
  }

  private func restoreIntoNewFolder(
    _ backup: URL, keepingRealmsOf earlier: ServerFolder? = nil
  ) async throws -> BackupContent {
    try folder.refuseEnded()
    let created = try folder.create()
    do {
      // First, so that after an interruption they are where the next restoration finds them.
      if let earlier { try keepRealms(of: earlier) }
      return try await CommandFailure.ofBackup { try await place(backup) }
    } catch {
      // There are none if they were not moved, or the folder has none.
      if let earlier { rename(folder.realmsFolder.path, earlier.realmsFolder.path) }
      // A folder that is not empty is not removed.
      for folder in created.reversed() { rmdir(folder.path) }
      throw error
    }
  }

  private func place(_ backup: URL) async throws -> BackupContent {
    let extracted = RestorationFolder.newExtraction(in: folder.url)
    defer { FileManager.default.removeUnneeded(extracted) }
    try AtomicFile.makeFolder(extracted)
    // Servers that start meanwhile find it, and those that have started before are found below.
    guard let lock = try FolderLock.hold(on: extracted) else {
      throw CommandFailure.badInput(
        "Another command uses \(folder.url.path.printable): run this one again.")
    }
    defer { withExtendedLifetime(lock) {} }
    let content = try BackupContent(of: backup, extractedTo: extracted, realm: folder.realm)
    try content.require(folder.realm, in: backup)
    for server in content.servers.map(folder.folder)
    where try !FileManager.default.contentsOfDirectory(atPath: server.path).isEmpty {
      throw CommandFailure.badInput(
        "\(server.path.printable) has data of a server: move it away first.")
    }
    try checkRealm(in: extracted)
    let databases = RestoredDatabases(of: content.stored, in: database)
    defer { databases.close() }
    try await databases.requireEmpty()
    let time = clock.now
    // Or the servers would take the time since the backup for a jump of the clock.
    for server in content.stored { try server.confirm(time) }
    let continued = try await keepRevocations(in: content)
    if let server = content.stored.first(where: { $0.name == .keys }), !continued.contains(.keys) {
      try await waitForOtherNames(of: server, since: time, from: content.createdAt)
    }
    try databases.store { try move(content, from: extracted) }
    return content
  }

  /// Throws if a realm of the backup has the host of another authority, or a name that looks like that of one: no
  /// server of the installation would start.
  private func checkRealm(in extracted: URL) throws {
    guard let name = folder.realm else { return }
    let installation = folder.url.deletingLastPathComponent().deletingLastPathComponent()
    let setup = ServerSetup(folder: ServerFolder(at: installation.path), warn: note)
    let realm = try Realm(name, in: ServerFolder(at: extracted.path, realm: name))
    guard FileManager.default.fileExists(atPath: realm.folder.consoleSettings.url.path) else {
      return note(
        "The backup has no settings of the console: set its origin in"
          + " \(folder.consoleSettings.url.path.printable) before a start.")
    }
    let all = try setup.folder.realms(except: name) + [realm]
    try setup.check(all, withKeys: false, withDatabases: false)
    guard setup.folder.server(.keys).hasFiles else { return }
    do {
      try setup.check(all, withKeys: true, withDatabases: false)
    } catch let fault as CommandFailure {
      // A configuration file of the servers may have other apps and regions.
      note("The servers do not start unless their configuration differs: \(fault.message)")
    }
  }

  /// Moves the extracted files to their places.
  private func move(_ content: BackupContent, from extracted: URL) throws {
    let staging = RestorationFolder.url(of: extracted)
    guard rename(extracted.path, staging.path) == 0 else { throw FileError(.rename, staging) }
    defer { FileManager.default.removeUnneeded(staging) }
    var placement = Placement(from: staging, in: folder)
    try placement.place(content)
  }
}

/// The changes since the backup.
extension Restoration {
  /// Lets what was revoked after the backup stay revoked, before the servers can start.
  ///
  /// - Returns: The servers of which an earlier folder has continued after the backup.
  private func keepRevocations(in content: BackupContent) async throws -> Set<ServerName> {
    let console = content.stored.first { $0.name == .console }
      .map { ServerSetup(folder: $0.folder, warn: note) }
    let folders = try await earlierFolders(of: content)
    let keys = content.stored.first { $0.name == .keys }
    let instructions = try keys.map { try InstructionsToKeep(folders, of: files(of: $0)) }
    var state = EarlierState(folders, of: content, note: note)
    try await state.takeOver(
      withdrawn: Set(instructions?.document?.withdrawn ?? []), console, at: clock.now)
    try await console?.endConsoleSessions()
    if let keys, let instructions { try publish(instructions, of: keys) }
    let others = content.servers.filter { !state.continued.contains($0) }
    if !others.isEmpty {
      note(
        "What was revoked, withdrawn, disabled or ended after \(UTCTime(content.createdAt).text) may be valid again"
          + " (\(others.titles)): revoke it again, or restore with the earlier folder of the servers beside this one."
      )
    }
    return state.continued
  }

  /// The earlier folders beside the folder, and that of the earlier cluster, the newest first.
  private func earlierFolders(of content: BackupContent) async throws -> [EarlierFolder] {
    let folders = EarlierFolder.all(beside: folder, of: content.stored)
    guard let earlierDatabase, let extracted = content.stored.first?.folder.url else {
      return folders
    }
    // Removed with the extracted files.
    let copy = extracted.appendingPathComponent("earlier-cluster")
    let cluster = try await EarlierCluster(address: earlierDatabase, note: note)
      .folder(of: content, at: copy, now: clock.now)
    return (folders + [cluster]).sorted { $0.newestTime > $1.newestTime }
  }

  private func files(of server: StoredServer) -> DeviceConfigurationFiles {
    DeviceConfigurationFiles(folder: server.folder, clock: clock, warn: note)
  }

  /// Waits until another restoration would give key files other names: caches keep what is served under these.
  private func waitForOtherNames(
    of server: StoredServer, since time: Date, from backup: Date
  ) async throws {
    let seconds = try await ServerSetup(folder: server.folder, warn: note).reportingErrors {
      try await KeyFileHistory(databaseFile: server.database)
        .secondsWithSameNames(restoredAt: time, from: backup)
    }
    let rest = TimeInterval(seconds) - clock.now.timeIntervalSince(time)
    // More than that if the clock was set back meanwhile.
    try await Task.sleep(for: .seconds(min(max(rest, 0), TimeInterval(seconds))))
  }

  /// Signs the device configuration again, with a version that is higher than any that phones may
  /// have. Without the root key, the instructions are stored for the next document.
  private func publish(_ instructions: InstructionsToKeep, of server: StoredServer) throws {
    let files = files(of: server)
    let isLost = try files.current() == nil
    guard !isLost || instructions.document != nil else { return }
    instructions.sentences.forEach(note)
    let hasRootKey = FileManager.default.fileExists(atPath: server.folder.rootPrivateKey.url.path)
    guard rootKey != nil || hasRootKey else {
      if let signed = instructions.signed, let data = signed.data {
        try files.store(data, signed.document)
      }
      if let document = instructions.document { try files.storePending(document) }
      return note(
        "The backup has no root key, and phones reject a device configuration that is older than theirs: run"
          + " `firebreak key-server device-configuration publish --root-key FILE`. The new document has the pause"
          + " and the withdrawn files of the newest one.")
    }
    let keys = try KeySecrets.stored(in: server.folder)?.signingKeys ?? []
    try files.next(
      keys, rootKey: rootKey, replacesLost: isLost, after: instructions.document
    ).store()
  }
}

/// Moves extracted files to their places. If one cannot be moved, the others are moved back.
private struct Placement {
  private let staging: URL
  private let folder: ServerFolder
  /// The moves so far.
  private var done: [(from: URL, to: URL)] = []

  init(from staging: URL, in folder: ServerFolder) {
    (self.staging, self.folder) = (staging, folder)
  }

  /// The folders of the servers come last.
  mutating func place(_ content: BackupContent) throws {
    let own = content.servers.map(\.rawValue)
    do {
      for name in content.files
      where !own.contains(where: { name.hasPrefix($0 + "/") }) {
        try placeShared(name)
      }
      for name in own { try move(name) }
      try AtomicFile.sync(folder.url)
    } catch {
      // If a move back fails, the file stays in the folder, and the next attempt asks to move the folder away.
      for move in done.reversed() { rename(move.to.path, move.from.path) }
      throw error
    }
  }

  /// Places a file that the servers share, such as the public root key.
  private mutating func placeShared(_ name: String) throws {
    let target = folder.url.appendingPathComponent(name)
    guard let present = FileManager.default.contents(atPath: target.path) else {
      if [folder.rootPublicKey, folder.tokenPublicKeys.url].contains(target) {
        let file = staging.appendingPathComponent(name)
        guard chmod(file.path, 0o644) == 0 else { throw FileError(.setPermissions, file) }
      }
      try AtomicFile.makeFolder(target.deletingLastPathComponent())
      return try move(name)
    }
    let data = try Data(contentsOf: staging.appendingPathComponent(name))
    // The token keys may be newer than the backup. Another root key means that the folder serves other phones.
    guard present == data || target == folder.tokenPublicKeys.url else {
      throw CommandFailure.badInput(
        "\(target.path.printable) differs from that of the backup: move it away first.")
    }
  }

  private mutating func move(_ name: String) throws {
    let from = staging.appendingPathComponent(name)
    let target = folder.url.appendingPathComponent(name)
    guard rename(from.path, target.path) == 0 else { throw FileError(.rename, target) }
    done.append((from, target))
  }
}
