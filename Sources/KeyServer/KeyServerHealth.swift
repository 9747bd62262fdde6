import Foundation
import Logging
import ServerStorage

/// The integrity checks of a running key server: of its database, its files and its clock.
struct KeyServerHealth: Sendable {
  let store: any KeyStore
  let exporter: Exporter
  let health: ServerHealth

  init(_ store: any KeyStore, _ exporter: Exporter, _ logger: Logger) {
    self.store = store
    self.exporter = exporter
    health = ServerHealth(logger: logger, server: "KeyServer")
  }

  /// Checks all stored data, and lets the next export read every key file again. For the start and once a day.
  func checkAll() async {
    await exporter.forgetChecks()
    do {
      let check = try await store.check()
      health.report(
        check.isStructureIntact ? nil : KeyServerError.damagedDatabase.description, of: .database)
      reportKeys(check.damagedKeys)
    } catch is CancellationError {
    } catch {
      health.report(KeyServerError.damagedDatabase.description, of: .database)
    }
  }

  /// Checks that the files of the database and the listed key files exist, and that checkpoints succeed.
  ///
  /// - Returns: `true` if key files have to be written again.
  func checkPlaces() async -> Bool {
    if !store.isInPlace() { health.report(KeyServerError.lostDatabase.description, of: .database) }
    health.report(
      store.isLogOverdue()
        ? "The write-ahead log grows because checkpoints fail: check the disk." : nil,
      of: .log)
    let isLost = await exporter.hasLostFiles()
    if isLost {
      health.report("A listed key file is missing: it is written again.", of: .files)
    }
    return isLost
  }

  /// Reports the result of an export.
  func report(_ error: (any Error)?) {
    switch error {
    case let error as ImplausibleClock: health.report("\(error)", of: .clock)
    case let error as KeyServerError: health.report("\(error)", of: .files)
    case .some: health.report(KeyServerError.unavailable.description, of: .files)
    case nil:
      health.report(nil, of: .clock)
      health.report(nil, of: .files)
    }
    let skipped = store.skippedKeyCount()
    if skipped > 0 { reportKeys(skipped) }
  }

  private func reportKeys(_ count: Int) {
    health.report(
      count == 0
        ? nil
        : "Stored keys are damaged and not published: check the disk of the database, and restore a backup.",
      of: .rows)
  }
}
