// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServerStorage
import World

/// The check of `/ready`: a key server is ready if it can store uploads and publishes them in time.
struct KeyServerReadiness: Sendable {
  let store: any KeyStore
  let folder: ExportFolder
  let exports: [ExportConfiguration]
  let signers: ExportSigners
  let health: ServerHealth
  let clock: any WallClock
  let time: TrustedTime
  let isCurrent: (@Sendable () -> Bool)?

  init(
    _ configuration: KeyServerConfiguration, _ store: any KeyStore, _ folder: ExportFolder,
    _ health: ServerHealth, _ clock: any WallClock, _ time: TrustedTime
  ) {
    self.init(
      store: store, folder: folder, exports: configuration.exports,
      signers: configuration.signers, health: health, clock: clock, time: time,
      isCurrent: configuration.isCurrent)
  }

  init(
    store: any KeyStore, folder: ExportFolder, exports: [ExportConfiguration],
    signers: ExportSigners, health: ServerHealth, clock: any WallClock, time: TrustedTime,
    isCurrent: (@Sendable () -> Bool)? = nil
  ) {
    self.store = store
    self.folder = folder
    self.exports = exports
    self.signers = signers
    self.health = health
    self.clock = clock
    self.time = time
    self.isCurrent = isCurrent
  }

  /// The names of the parts that fail.
  func faults() async -> [String] {
    var failing = Set(await time.failingParts())
    failing.formUnion(health.faultyParts.intersection([.database, .files, .signing]))
    if !folder.isWritable { failing.insert(.files) }
    if !canSign { failing.insert(.secrets) }
    if await isOverdue { failing.insert(.exports) }
    if !(isCurrent?() ?? true) { failing.insert(.sharedState) }
    return ServerHealth.Part.allCases.filter(failing.contains).map(\.rawValue)
  }

  private var canSign: Bool {
    do { return try !signers.keyFileSigners(at: clock.now).isEmpty } catch { return false }
  }

  /// True if a period should have been closed a whole period ago.
  private var isOverdue: Bool {
    get async {
      // An error is reported as a fault of the database.
      guard let progress = try? await store.exportProgress() else { return false }
      let now = clock.now
      return exports.contains { export in
        progress.closedUntil[export.filenameRoot].map {
          now.timeIntervalSince($0) >= TimeInterval(2 * export.periodSeconds)
        } ?? false
      }
    }
  }
}
