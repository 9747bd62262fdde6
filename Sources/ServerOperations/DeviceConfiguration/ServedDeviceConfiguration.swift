// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Settings
import Synchronization
import Terminal
import World

/// The device configuration that a running server serves. It is read again if its file has changed, and signed again
/// before it expires if the private root key exists, and no other process could do so. After a failure the previous
/// document stays in use.
final class ServedDeviceConfiguration: Sendable {
  /// The time in seconds between two attempts to sign the document again, and between two warnings.
  static let attemptSeconds = 3_600.0

  private struct Cached {
    let identity: [Int]
    let data: Data
    let renewal: Date
  }

  private let files: DeviceConfigurationFiles
  private let renews: Bool
  private let cached = Mutex<Cached?>(nil)
  private let renewed = Mutex(Date.distantPast)
  private let warned = Mutex(Date.distantPast)

  /// - Parameter renews: False if the document is signed again otherwise.
  init(_ files: DeviceConfigurationFiles, renews: Bool = true) {
    (self.files, self.renews) = (files, renews)
  }

  /// - Throws: If the file cannot be read and no earlier read succeeded.
  func data() throws -> Data {
    let current = try newest()
    guard renews, current.renewal <= files.clock.now, isDue(renewed) else { return current.data }
    let secrets = files.folder.keySecrets
    do {
      try secrets.withLock {
        try files.prepare(try secrets.read(KeySecrets.self)?.signingKeys ?? [])
      }
    } catch {
      files.warn("The device configuration was not signed again: \(error)")
    }
    return try newest().data
  }

  /// The document in the file, or the previous one if the file cannot be read.
  private func newest() throws -> Cached {
    do {
      return try read()
    } catch {
      guard let cached = cached.withLock({ $0 }) else { throw error }
      if isDue(warned) {
        files.warn("The previous device configuration is served: \(error)")
      }
      return cached
    }
  }

  /// Returns `true` at most once per `attemptSeconds`.
  private func isDue(_ last: borrowing Mutex<Date>) -> Bool {
    let now = files.clock.now
    return last.withLock { last in
      guard abs(now.timeIntervalSince(last)) >= Self.attemptSeconds else { return false }
      last = now
      return true
    }
  }

  private func read() throws -> Cached {
    let file = files.folder.deviceConfiguration
    var facts = stat()
    guard stat(file.path, &facts) == 0 else {
      throw CommandFailure.badInput(
        "\(file.path.printable) is missing: restore it from a backup.")
    }
    let identity = [
      Int(facts.st_ino), Int(facts.st_mtim.tv_sec), facts.st_mtim.tv_nsec, Int(facts.st_size),
    ]
    if let cached = cached.withLock({ $0 }), cached.identity == identity { return cached }
    let data = try Data(contentsOf: file)
    let renewal = try files.existing().renewal
    let read = Cached(
      identity: identity, data: data, renewal: Date(unixSecond: renewal))
    cached.withLock { $0 = read }
    return read
  }
}
