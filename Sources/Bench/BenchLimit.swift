// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureNotification
import QuietHTTP
import Terminal

/// The accepted ranges of the options.
package enum BenchLimit {
  /// Keys to match; the files have 31 bytes a key, about 1.5 GB at most.
  package static let keys = 1...50_000_000
  /// The limit of `firebreak match`.
  package static let sightings = 1...SightingsLimit.rowCountMax
  static let threads = MatchLimit.threads

  /// Concurrent connections to our own server, which accepts no more from one address.
  static let connections = 1...QuietLimit.connectionsPerAddressMax
  /// Concurrent connections to another server.
  static let connectionsToTarget = 1...1_024
  /// Uploads of one run; each is held in memory with its response, about 6 KB.
  package static let requests = 1...200_000
  /// The limit of the publish API.
  static let keysPerUpload = 1...30
  /// The bytes of stderr that are read from a process of the bench.
  static let errorByteCountMax = 1 << 20

  /// Throws a `ValidationError` if the value of `option` is outside `range`.
  package static func check(_ value: Int, _ range: ClosedRange<Int>, _ option: String) throws {
    guard range.contains(value) else {
      throw ValidationError(
        "\(option) must be between \(range.lowerBound) and \(range.upperBound).")
    }
  }
}
