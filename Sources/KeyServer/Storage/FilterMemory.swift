import Foundation

/// Asks a filter once for each kind of key: of hundreds of thousands nearly all have the same regions.
struct FilterMemory {
  private let filter: KeyFilter?
  private var latest: (regions: [UInt8], travels: Bool, isAdmitted: Bool)?

  init(_ filter: KeyFilter?) {
    self.filter = filter
  }

  /// Whether the key of `row` goes in.
  mutating func admits(_ row: WindowRow) -> Bool {
    guard let filter else { return true }
    let (regions, travels) = (row.regions, row.travels)
    if let latest, latest.travels == travels, Self.isSame(latest.regions, regions) {
      return latest.isAdmitted
    }
    let text = String(decoding: regions, as: UTF8.self)
    let isAdmitted = filter.admits(regions: text.split(separator: ","), travels: travels)
    latest = (Array(regions), travels, isAdmitted)
    return isAdmitted
  }

  /// As memory compares, and not byte by byte: it is asked for every row, twice.
  private static func isSame(_ text: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
    text.withUnsafeBytes { text in
      guard text.count == other.count else { return false }
      guard let start = text.baseAddress, let otherStart = other.baseAddress else { return true }
      return memcmp(start, otherStart, text.count) == 0
    }
  }
}
