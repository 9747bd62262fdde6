// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import Logging
import QuietHTTP
import ServerStorage
import Settings
import Synchronization
import Terminal
import World

/// The folders of the servers of one process, which follow the databases that other processes change, too.
package final class SharedFolders: Sendable {
  private let folders: [SharedFolder]
  private let clock: any WallClock
  private let logger: Logger
  private let state: Mutex<State>

  private struct State {
    /// The uptime at the last successful comparison of each server.
    var comparedAt: [ServerName: TimeInterval]
    /// The faults that were logged.
    var faults: [ServerName: String] = [:]
  }

  /// - Parameter folders: The folders, which were just compared.
  init(_ folders: [SharedFolder], clock: any WallClock, logger: Logger) {
    self.folders = folders
    self.clock = clock
    self.logger = logger
    let now = clock.reading.uptime
    state = Mutex(
      State(
        comparedAt: Dictionary(
          folders.map { ($0.server.name, now) }, uniquingKeysWith: { first, _ in first })))
  }

  /// False if the changes of other processes may be unknown since `SharedStateLimit.staleSeconds`.
  func isCurrent(_ server: ServerName) -> Bool {
    guard let comparedAt = state.withLock({ $0.comparedAt[server] }) else { return true }
    return clock.reading.uptime - comparedAt < SharedStateLimit.staleSeconds
  }

  /// Compares the folder of `server` with its database.
  ///
  /// - Throws: `KeyServerError.unreachableDatabase` or `.configuration`, with the cause.
  func synchronize(_ server: ServerName) async throws {
    for folder in folders where folder.server.name == server {
      do { _ = try await compare(folder) } catch is CancellationError {
        throw CancellationError()
      } catch let error as ServerDatabaseError {
        throw KeyServerError.unreachableDatabase(error.message(of: folder.server.schema.name))
      } catch {
        throw KeyServerError.configuration(Self.text(error))
      }
    }
  }

  /// Compares all folders with their databases. A failure is logged when it appears or changes.
  ///
  /// - Returns: The servers whose folders got changes of other processes.
  @discardableResult
  func synchronizeAll() async -> Set<ServerName> {
    var loaded: Set<ServerName> = []
    for folder in folders {
      let name = folder.server.name
      do {
        if case .loaded = try await compare(folder) { loaded.insert(name) }
        report(nil, of: name)
      } catch is CancellationError {
        break
      } catch let error as ServerDatabaseError {
        report(error.message(of: folder.server.schema.name), of: name)
      } catch {
        report(Self.text(error), of: name)
      }
    }
    return loaded
  }

  private func compare(_ folder: SharedFolder) async throws -> SharedFolder.Outcome? {
    let now = clock.reading.uptime
    let outcome = try await folder.synchronize()
    let name = folder.server.name
    state.withLock { $0.comparedAt[name] = now }
    switch outcome {
    case .loaded(let losesChange):
      logger.notice("changes of another process are in use", source: name.rawValue)
      if losesChange {
        logger.error(
          "a change of this folder is lost, because another process changed the same server: make it again",
          source: name.rawValue)
      }
    case .stored, .unchanged, nil: break
    }
    return outcome
  }

  private func report(_ fault: String?, of server: ServerName) {
    let before = state.withLock { state in
      defer { state.faults[server] = fault }
      return state.faults[server]
    }
    guard before != fault else { return }
    if let fault {
      logger.error(
        "changes of other processes are not known; in \(Int(SharedStateLimit.staleSeconds)) seconds nothing is served",
        metadata: ["cause": "\(fault)"], source: server.rawValue)
    } else {
      logger.notice("changes of other processes are known again", source: server.rawValue)
    }
  }

  private static func text(_ error: any Error) -> String {
    (error as? CommandFailure)?.message ?? ErrorCause.text(error)
  }
}
