// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Settings
import Synchronization
import Terminal
import World

/// The folder of one server, whose secrets and rules follow those in its database in PostgreSQL.
///
/// The files stay what servers and commands read: a process goes on with them, and starts with them, as before. A lock
/// keeps two processes with one folder apart, such as a server and a command.
final class SharedFolder: Sendable {
  /// The result of a comparison with the database.
  enum Outcome: Equatable {
    case unchanged
    /// The content of the folder was stored in the database.
    case stored
    /// The folder got the content of the database, and a change of the folder is lost if `losesChange` is true.
    case loaded(losesChange: Bool)
  }

  let server: StoredServer
  private let database: PostgreSQLServerDatabase
  private let clock: any WallClock
  /// The record if its file cannot be written.
  private let unwritten = Mutex<SharedStep.Known?>(nil)

  init(_ server: StoredServer, in database: PostgreSQLServerDatabase, clock: any WallClock) {
    self.server = server
    self.database = database
    self.clock = clock
  }

  deinit { database.close() }

  /// Lets the folder and the database have the same content.
  ///
  /// - Returns: Nil before the first start of the server, which creates its secrets.
  /// - Throws: `ServerDatabaseError`; `CommandFailure` if a file cannot be read or written.
  func synchronize() async throws -> Outcome? {
    guard let seal = try seal else { return nil }
    let lock = try await lock()
    defer { withExtendedLifetime(lock) {} }
    return try await synchronize(seal)
  }

  /// Runs `work`, which changes the folder, after the changes of other processes are in it, and stores its change in
  /// the database.
  ///
  /// - Parameters:
  ///   - reseals: True to store the content again, although only the places of its keys have changed.
  ///   - work: The change.
  /// - Throws: The error of `work`; `CommandFailure` if the database cannot be read before, and nothing is changed, or
  ///   cannot be written afterwards.
  func changing<Value>(
    reseals: Bool = false, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Value
  ) async throws -> Value {
    // The first start creates the secrets, and stores them.
    guard let seal = try seal else { return try await work() }
    let lock = try await lock()
    defer { withExtendedLifetime(lock) {} }
    do { _ = try await synchronize(seal) } catch { throw failure(error, "Nothing was changed.") }
    let value: Value
    do { value = try await work() } catch {
      // A part of the change may be made. The error of the change is the one that is reported.
      _ = try? await synchronize(seal)
      throw error
    }
    let outcome: Outcome
    do { outcome = try await synchronize(seal, reseals: reseals) } catch {
      throw failure(
        error,
        // No comparison would store it: it leaves out the places of keys.
        reseals
          ? "This folder has the key on the token, and the database still has its private key: run the command again."
          : "The change is made in this folder; the other processes get it when a server of this folder can store it."
      )
    }
    guard outcome != .loaded(losesChange: true) else {
      throw CommandFailure.machineFailed(
        "Another process has changed the \(server.name.title) at the same time, and this change is not made: run the"
          + " command again.")
    }
    return value
  }

  /// Nil before the first start of the server.
  private var seal: SharedStateSeal? {
    get throws { try server.identity.map { SharedStateSeal($0, of: server) } }
  }

  private func synchronize(
    _ seal: SharedStateSeal, reseals: Bool = false
  ) async throws -> Outcome {
    for _ in 0..<SharedStateLimit.attempts {
      let state = try await database.sharedState()
      guard let content = try readContent() else { return .unchanged }
      let digest = try seal.digest(of: content)
      let stored = try state.map { (state: $0, value: try seal.content(of: $0)) }
      var step = SharedStep((content, digest), known: known, stored: stored)
      if reseals, let state, [.none, .record].contains(step) {
        step = .store(revision: state.revision + 1)
      }
      switch step {
      case .none: return .unchanged
      case .record:
        if let state { record(state, digest) }
        return .unchanged
      case .store(let revision):
        let new = try seal.sealed(content, revision: revision)
        guard try await database.store(new, replacing: state) else { continue }
        record(new, digest)
        return .stored
      case .load(let losesChange):
        guard let stored, let new = try replace(by: stored.value) else { return .unchanged }
        record(stored.state, try seal.digest(of: new))
        return .loaded(losesChange: losesChange)
      }
    }
    throw ServerDatabaseError.unreachable("other processes changed the shared state meanwhile")
  }

  /// Reads the content while nothing in the folder changes it.
  private func readContent() throws -> SharedContent? {
    try server.secrets.withLock { try SharedContent(server) }
  }

  /// Replaces the content, and returns it as the folder has it.
  private func replace(by content: SharedContent) throws -> SharedContent? {
    try server.secrets.withLock {
      try content.store(in: server, at: clock.now)
      return try SharedContent(server)
    }
  }

  // MARK: - The record and the lock

  private var recordFile: URL { server.sharedFile("shared-state.json") }

  private var known: SharedStep.Known? {
    // Without a readable record the folder counts as one that was never compared.
    let stored = try? JSONDecoder().decode(
      SharedStep.Known.self, from: Data(contentsOf: recordFile))
    return unwritten.withLock { $0 } ?? stored
  }

  private func record(_ state: SharedState, _ digest: Data) {
    let known = SharedStep.Known(
      revision: state.revision, database: state.digest, folder: digest)
    do {
      try AtomicFile.write(try JSONEncoder().encode(known), to: recordFile)
      unwritten.withLock { $0 = nil }
    } catch {
      unwritten.withLock { $0 = known }
    }
  }

  /// Nil on a read-only mount, through which nothing in the folder can be changed.
  private func lock() async throws -> HeldFolderLock? {
    let file = server.sharedFile("shared-state.lock")
    for _ in 0..<SharedStateLimit.lockAttempts {
      do throws(FileError) {
        if let lock = try FolderLock.hold(onFile: file) { return lock }
      } catch {
        guard error.code != EROFS else { return nil }
        throw CommandFailure.machineFailed(
          "\(file.path.printable) could not be opened: check the disk and its permissions, then retry."
        )
      }
      try await clock.sleep(for: SharedStateLimit.lockPauseSeconds)
    }
    throw CommandFailure.machineFailed(
      "Another command has been changing the \(server.name.title) of \(server.folder.url.path.printable) for"
        + " \(SharedStateLimit.lockSeconds) seconds: wait until it has ended, then run this one again."
    )
  }

  private func failure(_ error: any Error, _ effect: String) -> any Error {
    switch error {
    case let error as ServerDatabaseError:
      CommandFailure(
        status: error.isOfMachine ? .machineFailed : .badInput,
        message: "\(error.message(of: server.schema.name)) \(effect)")
    default: error
    }
  }
}

extension StoredServer {
  /// A file beside the secrets that only the comparison with the database uses.
  fileprivate func sharedFile(_ name: String) -> URL {
    folder.folder(of: self.name).appendingPathComponent(name)
  }
}
