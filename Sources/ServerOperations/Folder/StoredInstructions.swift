// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The instructions to phones in a device configuration. They are stored beside the secrets and outlive the document.
struct StoredInstructions: Codable, Equatable {
  /// The version of the document.
  let version: Int
  private let pause: DeviceConfiguration.Pause?
  let withdrawn: [KeyFileHash]
  private let withdrawnSince: [Int64]?

  /// The instructions of `document`; nil if it has none.
  init?(_ document: DeviceConfiguration) {
    guard document.pause != nil || !document.withdrawn.isEmpty else { return nil }
    version = document.version
    pause = document.pause
    withdrawn = document.withdrawn
    withdrawnSince = document.withdrawnSince
  }

  /// True if phones get the same instructions from `other`, which may be of another document.
  func isEqual(exceptVersion other: StoredInstructions) -> Bool {
    (pause, withdrawn, withdrawnSince) == (other.pause, other.withdrawn, other.withdrawnSince)
  }

  /// The document that the next one follows: `document`, which may be lost, with these instructions.
  func document(following document: DeviceConfiguration?, at now: Date) -> DeviceConfiguration {
    var next =
      document
      ?? DeviceConfiguration(version: version, issued: now.unixSecond, expires: 0, keys: [])
    next.version = version
    next.pause = pause
    next.withdrawn = withdrawn
    let since = withdrawnSince ?? []
    let rest = Array(repeating: now.unixSecond, count: max(withdrawn.count - since.count, 0))
    next.withdrawnSince = withdrawn.isEmpty ? nil : since + rest
    return next
  }
}
