import ArgumentParser
import ExposureNotification
import QuietHTTP

/// What a bench is willing to do.
enum BenchLimit {
  /// Keys to match: at 31 bytes each, about one and a half gigabytes of files.
  static let keys = 1...50_000_000
  /// Sightings: as many as `firebreak match` reads.
  static let sightings = 1...SightingsLimit.rowCountMax
  /// Threads that match.
  static let threads = MatchLimit.threads

  /// Connections that upload at once to a server of ours, which takes no more from one address.
  static let connections = 1...QuietLimit.connectionsPerAddressMax
  /// The same to another server, which may take more.
  static let connectionsToTarget = 1...1_024
  /// Uploads of one run: each is held in memory with its answer, some six kilobytes.
  static let requests = 1...200_000
  /// Keys of one upload, as the contract has it.
  static let keysPerUpload = 1...30

  /// Refuses a value of `option` outside `range`.
  static func check(_ value: Int, _ range: ClosedRange<Int>, _ option: String) throws {
    guard range.contains(value) else {
      throw ValidationError("\(option) takes \(range.lowerBound) to \(range.upperBound).")
    }
  }
}
