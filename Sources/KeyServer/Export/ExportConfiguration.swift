// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One of the exports of a key server: the selection of keys, the period, the size and the folder of its files.
///
/// A change applies to periods that are closed after it; files of closed periods do not change.
public struct ExportConfiguration: Hashable, Sendable {
  /// The folder in Google's layout `{root}/{start}-{end}-00001.zip`; empty for ProteGO Safe's export. Unique
  /// in a server.
  public var filenameRoot: String
  /// The region that the files name.
  public var region: String
  /// The regions whose keys are included.
  public var inputRegions: Set<String>
  /// Regions whose keys are excluded, even if they also belong to an input region.
  public var excludedRegions: Set<String> = []
  /// The handling of keys whose users consented to sharing them with other countries.
  public var travellers = Travellers.included
  /// The period of a file in seconds; must divide a day, or be that of a roll-up.
  public var periodSeconds = 14_400
  /// The least number of keys in a file that is not empty, padding included.
  public var minimumKeys = 1_000
  /// The largest number of keys that padding adds beyond the minimum, at random.
  public var paddingRange = 100
  /// The largest number of keys in a file; a period with more is split.
  public var maximumKeysPerFile = KeyServerLimit.keysPerFileMax

  /// An export of the keys of `inputRegions`, by default of `region` alone.
  public init(filenameRoot: String, region: String, inputRegions: Set<String>? = nil) {
    self.filenameRoot = filenameRoot
    self.region = region
    self.inputRegions = inputRegions ?? [region]
  }
}

extension ExportConfiguration {
  /// The handling of keys whose users consented to sharing them with other countries.
  public enum Travellers: String, Hashable, Sendable, CaseIterable {
    /// They are handled like all other keys.
    case included = "likeEverybody"
    /// Only they are included.
    case only
    /// They are excluded.
    case excluded
    /// They are included from every region, in addition to the keys of the input regions.
    case fromAnywhere
  }

  var filter: KeyFilter {
    KeyFilter(
      inputRegions: inputRegions, excludedRegions: excludedRegions, travellers: travellers)
  }

  var period: ExportPeriod { ExportPeriod(seconds: periodSeconds) }

  /// The first invalid value as a sentence; `nil` if all values are valid.
  var fault: String? {
    let day = 86_400
    let counts = 0...KeyServerLimit.keysPerFileMax
    guard periodSeconds > 0, RollUps.isRoot(filenameRoot) || day % periodSeconds == 0 else {
      return "exportPeriodSeconds must divide a day."
    }
    guard counts.contains(minimumKeys), counts.contains(paddingRange) else {
      return "minimumKeys and paddingRange must be 0 to \(KeyServerLimit.keysPerFileMax)."
    }
    guard (1...KeyServerLimit.keysPerFileMax).contains(maximumKeysPerFile),
      minimumKeys + paddingRange <= maximumKeysPerFile
    else {
      return
        "maximumKeysPerFile must be at least minimumKeys plus paddingRange, and at most"
        + " \(KeyServerLimit.keysPerFileMax)."
    }
    guard Self.isRoot(filenameRoot) else {
      return "filenameRoot must be at most \(KeyServerLimit.filenameRootBytesMax) letters, digits,"
        + " '-' or '_'."
    }
    return inputRegions.isEmpty ? "inputRegions must name a region." : nil
  }

  /// True for the empty text and for a path component of letters, digits, `-` and `_`.
  private static func isRoot(_ text: String) -> Bool {
    text.utf8.count <= KeyServerLimit.filenameRootBytesMax
      && text.utf8.allSatisfy { byte in
        let letter = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }
}

/// Export periods of equal length, aligned to Unix time.
struct ExportPeriod: Hashable, Sendable {
  let seconds: Int

  /// Returns the latest boundary at or before `moment`.
  func boundary(notAfter moment: Date) -> Date {
    let length = TimeInterval(seconds)
    return Date(
      timeIntervalSince1970: (moment.timeIntervalSince1970 / length).rounded(.down) * length)
  }

  /// Returns the first boundary after `moment`.
  func boundary(after moment: Date) -> Date {
    boundary(notAfter: moment).addingTimeInterval(TimeInterval(seconds))
  }
}

/// The rule that decides which keys belong to an export.
///
/// The regions of a key and of the filter are compared as sets, so an export of two regions contains no
/// key of a third one.
struct KeyFilter: Hashable, Sendable {
  let inputRegions: Set<String>
  let excludedRegions: Set<String>
  let travellers: ExportConfiguration.Travellers

  /// Returns `true` if a key of these regions belongs to the export.
  ///
  /// - Parameter travels: True if the user consented to sharing the key with other countries.
  func admits(regions: some Collection<some StringProtocol>, travels: Bool) -> Bool {
    guard !regions.contains(where: { excludedRegions.contains(String($0)) }) else { return false }
    let isOfInput = regions.contains { inputRegions.contains(String($0)) }
    return switch travellers {
    case .included: isOfInput
    case .only: isOfInput && travels
    case .excluded: isOfInput && !travels
    case .fromAnywhere: isOfInput || travels
    }
  }

  func admits(_ key: PublishableKey) -> Bool { admits(regions: key.regions, travels: key.travels) }
}
