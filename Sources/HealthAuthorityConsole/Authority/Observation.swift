import Foundation
import KeyServerAPI

/// The counts of one day, aggregated over all codes.
package struct FunnelDay: Hashable, Sendable {
  /// The start of the day in Unix seconds.
  package let day: Int64
  /// The codes that were issued; nil if the server does not count.
  package let issued: Int?
  /// The codes that were exchanged for a token.
  package let redeemed: Int?
  /// The mean time from the issue of these codes to their exchange, in seconds.
  package let redeemSeconds: Int?
  /// The accepted uploads.
  package let uploads: Int?
  /// The median time from the exchange to the upload.
  package let uploadTime: MedianTime?
  /// The median time from the upload to the file with its keys.
  package let fileTime: MedianTime?
  /// The keys in published files, padding included.
  package let published: Int?

  package init(
    day: Int64, issued: Int?, redeemed: Int?, redeemSeconds: Int? = nil, uploads: Int?,
    uploadTime: MedianTime? = nil, fileTime: MedianTime? = nil, published: Int?
  ) {
    self.day = day
    self.issued = issued
    self.redeemed = redeemed
    self.redeemSeconds = redeemSeconds
    self.uploads = uploads
    self.uploadTime = uploadTime
    self.fileTime = fileTime
    self.published = published
  }
}

/// The median of a time, as a bucket boundary of the key server's histogram.
package enum MedianTime: Hashable, Sendable {
  case under(minutes: Int)
  case over(minutes: Int)

  /// The median of a histogram whose bucket boundaries are in minutes; nil if all counts were rounded to zero.
  package init?(of counts: [Int], limits: [Int]) {
    let all = counts.reduce(0, +)
    var counted = 0
    let median = counts.firstIndex { count in
      counted += count
      return counted > 0 && 2 * counted >= all
    }
    guard let median, let longest = limits.last else { return nil }
    self =
      limits.indices.contains(median) ? .under(minutes: limits[median]) : .over(minutes: longest)
  }
}

/// An export with its newest files.
package struct ExportFacts: Hashable, Sendable {
  /// A key file.
  package struct File: Hashable, Sendable {
    package let name: String
    package let bytes: Int
    /// The keys in it, padding included.
    package let keyCount: Int
    /// The number of padding keys, rounded; nil if the statistics of its day omit it.
    package var padding: Int?
    /// True if its signature was verified.
    package let isSigned: Bool
    /// The SHA-256, by which it can be withdrawn.
    package let hash: KeyFileHash
    /// The end of its period, in Unix seconds.
    package let end: Int64

    package init(
      name: String, bytes: Int, keyCount: Int, padding: Int? = nil, isSigned: Bool,
      hash: KeyFileHash, end: Int64
    ) {
      self.name = name
      self.bytes = bytes
      self.keyCount = keyCount
      self.padding = padding
      self.isSigned = isSigned
      self.hash = hash
      self.end = end
    }
  }

  /// The name of the export; empty for that of the ProteGO Safe contract.
  package let root: String
  package let region: String
  package let periodSeconds: Int
  /// The least number of keys in a file, padding included.
  package let keysMin: Int
  /// The time of the next file.
  package let nextFile: Date
  /// Newest first.
  package let files: [File]

  package init(
    root: String, region: String, periodSeconds: Int, keysMin: Int, nextFile: Date, files: [File]
  ) {
    self.root = root
    self.region = region
    self.periodSeconds = periodSeconds
    self.keysMin = keysMin
    self.nextFile = nextFile
    self.files = files
  }
}

/// The instructions that phones follow.
package struct PhoneInstructions: Hashable, Sendable {
  /// The version of the device configuration.
  package let version: Int
  /// The end of its validity for phones that do not have it yet, in Unix seconds.
  package let expires: Int64
  package let pause: DeviceConfiguration.Pause?
  package let withdrawn: [KeyFileHash]

  package init(
    version: Int, expires: Int64, pause: DeviceConfiguration.Pause?, withdrawn: [KeyFileHash]
  ) {
    self.version = version
    self.expires = expires
    self.pause = pause
    self.withdrawn = withdrawn
  }
}

/// The effect of a remote configuration on the simulated contacts of last week.
package struct ConfigurationEffect: Hashable, Sendable {
  /// Counts by risk level.
  package struct Levels: Hashable, Sendable {
    package let none: Int
    package let low: Int
    package let high: Int

    package init(none: Int, low: Int, high: Int) {
      self.none = none
      self.low = low
      self.high = high
    }
  }

  /// Simulated exposure windows by level.
  package let windows: Levels
  /// Days of simulated phones by level.
  package let days: Levels

  package init(windows: Levels, days: Levels) {
    self.windows = windows
    self.days = days
  }
}
