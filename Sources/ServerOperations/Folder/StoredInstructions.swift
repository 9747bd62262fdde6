// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The instructions to phones in a device configuration. They are stored beside the secrets and outlive the document.
struct StoredInstructions: Codable, Equatable {
  /// The version of the document.
  private let version: Int
  private let pause: DeviceConfiguration.Pause?
  private let withdrawn: [KeyFileHash]
  private let withdrawnSince: [Int64]?

  /// The instructions of `document`; nil if it has none.
  init?(_ document: DeviceConfiguration) {
    guard document.pause != nil || !document.withdrawn.isEmpty else { return nil }
    version = document.version
    pause = document.pause
    withdrawn = document.withdrawn
    withdrawnSince = document.withdrawnSince
  }

  /// A lost document with these instructions, which the next one follows.
  func document(issued now: Date) -> DeviceConfiguration {
    var document = DeviceConfiguration(
      version: version, issued: now.unixSecond, expires: 0, keys: [], pause: pause,
      withdrawn: withdrawn)
    document.withdrawnSince = withdrawnSince
    return document
  }
}
