// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI

/// The progress of one check.
struct Analysis {
  /// The search for bad files.
  var search: FileSearch
  var analysed: [KeyFileName] = []
  /// The files that the framework refused alone.
  var refused: [KeyFileName] = []
  /// The files that the health authority has withdrawn; they are not analysed.
  var withdrawn: [KeyFileName] = []
  /// The files that could not be downloaded, or arrived damaged.
  var missing: [KeyFileName] = []
  /// The number of keys in each readable file.
  var keyCounts: [String: Int] = [:]
  /// True if the framework accepts no more calls today.
  var isOutOfQuota = false
  /// True if files were passed again, and no detection has succeeded since.
  private(set) var isPartial = false
  /// True if a detection has succeeded.
  private(set) var hasDetected = false
  /// The combined result of all detections.
  var result = DetectedExposures()

  init(search: FileSearch) { self.search = search }

  /// The files that need no further check.
  var done: [KeyFileName] { analysed + withdrawn }

  /// True if files were analysed, withdrawn or refused, or the framework was called.
  func hasNews(since earlier: FileSearch) -> Bool {
    hasDetected || !done.isEmpty || !refused.isEmpty || search != earlier
  }

  mutating func refuse(_ names: [KeyFileName], at now: Date) {
    search.refuse(names.map(\.text), at: now)
    if names.count == 1 { refused += names }
  }

  /// Records files that the framework has taken although the call failed, because it waits for others.
  mutating func pass(_ names: [KeyFileName], at now: Date) {
    search.accept(names.map(\.text), at: now)
    analysed += names
    isPartial = true
  }

  mutating func add(_ found: DetectedExposures, in names: [KeyFileName], at now: Date) {
    search.accept(names.map(\.text), at: now)
    analysed += names
    isPartial = false
    hasDetected = true
    guard !found.coversAllFiles else {
      result = found
      return
    }
    result.matchedKeyCount += found.matchedKeyCount
    result.exposures += found.exposures
  }
}

/// Limits of the framework calls for the search for bad files, beside one call for new files in each check.
/// The framework allows fifteen calls a day in API version 1 and six in version 2.
public enum DetectionLimit {
  /// Calls a day in API version 1.
  public static let searchCallsPerDayVersion1 = 8
  /// Calls a day in API version 2.
  public static let searchCallsPerDayVersion2 = 2
}
