import ExposureKeys
import Foundation
import KeyServerAPI
import Secrets

/// The content of one key file.
///
/// A batch describes its keys and does not list them: the keys released from `start` until `releasedBefore`
/// that its filter admits and whose bytes are in its range. No key is added to a closed period, so the
/// description always selects the same keys.
struct Batch: Hashable, Sendable {
  /// The file name root of the export.
  let export: String
  /// The region in the file's header.
  let region: String
  /// The start of the period.
  let start: Date
  /// The end of the period, plus a second for each earlier file of the same period.
  let end: Date
  /// The end of the period.
  let releasedBefore: Date
  let filter: KeyFilter
  /// The bytes of the first key; nil in the first file of the period.
  let firstKey: Data?
  /// The bytes of the first key of the next file; nil in the last file of the period.
  let beforeKey: Data?
  /// The hash by which damage to the file is detected; nil until it was written and verified.
  var sha256: Data?
  /// The moment at which the file was written for the first time.
  var writtenAt: Date?
  /// The number of padding keys in the file; 0 until it was written.
  var paddingCount = 0

  /// The file name; nil before 2001 and after 2286.
  var name: KeyFileName? {
    KeyFileName(
      start: Int64(start.timeIntervalSince1970), end: Int64(end.timeIntervalSince1970))
  }
}

extension Batch: Redacted {
  /// The name only: the range consists of two keys.
  var description: String { "Batch(\(export)/\(name?.text ?? ""))" }
}

/// The keys of one batch, read from the database one at a time.
struct BatchKeys {
  /// The way in which a key came into the file.
  enum Kind: Hashable, Sendable {
    case uploaded
    /// A synthetic key.
    case padding
    /// A key of an earlier file with other properties.
    case revised
  }

  typealias Body = (_ key: DiagnosisKey, _ kind: Kind) throws -> Void

  private let read: (_ body: Body) throws -> Void

  init(_ read: @escaping (_ body: Body) throws -> Void) {
    self.read = read
  }

  /// Calls `body` for every new key in the order of their bytes, then for every revised key in the same order.
  func forEach(_ body: Body) throws {
    try read(body)
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
