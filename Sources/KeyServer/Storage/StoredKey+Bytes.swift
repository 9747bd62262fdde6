import ExposureKeys

extension StoredKey {
  /// Appends the key to `bytes`, in the form that `init(from:)` reads: numbers little-endian, 43 bytes and those
  /// of its regions.
  func append(to bytes: inout [UInt8]) {
    withUnsafeBytes(of: words) { bytes.append(contentsOf: $0) }
    Self.append(UInt32(truncatingIfNeeded: rollingStart), to: &bytes)
    bytes.append(UInt8(truncatingIfNeeded: rollingPeriod))
    bytes.append(UInt8(truncatingIfNeeded: transmissionRisk))
    bytes.append(flags.rawValue)
    Self.append(Int32(truncatingIfNeeded: reportType ?? 0), to: &bytes)
    Self.append(Int32(truncatingIfNeeded: daysSinceOnset ?? 0), to: &bytes)
    Self.append(releasedAt, to: &bytes)
    Self.append(UInt32(truncatingIfNeeded: regions.utf8.count), to: &bytes)
    bytes.append(contentsOf: regions.utf8)
  }

  /// Takes the next key off `bytes`; nil where they end before it does, or where it is no key that a
  /// phone can have had.
  init?(from bytes: inout UnsafeRawBufferPointer) {
    guard let words = Self.takeWords(from: &bytes),
      let start = Self.take(UInt32.self, from: &bytes),
      let period = Self.take(UInt8.self, from: &bytes),
      let risk = Self.take(UInt8.self, from: &bytes),
      let flags = Self.take(UInt8.self, from: &bytes).map(Flags.init),
      Flags.all.isSuperset(of: flags),
      let type = Self.take(Int32.self, from: &bytes),
      let days = Self.take(Int32.self, from: &bytes),
      let released = Self.take(Int64.self, from: &bytes),
      let count = Self.take(UInt32.self, from: &bytes).map(Int.init), count <= bytes.count,
      let regions = String(validating: bytes.prefix(count), as: UTF8.self)
    else { return nil }
    self.words = words
    rollingStart = Int64(start)
    rollingPeriod = Int64(period)
    transmissionRisk = Int64(risk)
    reportType = flags.contains(.hasReportType) ? Int64(type) : nil
    daysSinceOnset = flags.contains(.hasDaysSinceOnset) ? Int64(days) : nil
    travels = flags.contains(.travels)
    releasedAt = released
    isPadding = flags.contains(.isPadding)
    self.regions = regions
    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(count))
    guard isKey else { return nil }
  }

  /// Whether it can be published: damage that a table's checks do not see would end every export after.
  private var isKey: Bool {
    guard let start = UInt32(exactly: rollingStart), let period = UInt32(exactly: rollingPeriod),
      let risk = UInt8(exactly: transmissionRisk),
      let key = TemporaryExposureKey(
        words: words, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
    else { return false }
    return DiagnosisKey(key: key, transmissionRiskLevel: risk) != nil
  }

  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let travels = Flags(rawValue: 1)
    static let isPadding = Flags(rawValue: 2)
    static let hasReportType = Flags(rawValue: 4)
    static let hasDaysSinceOnset = Flags(rawValue: 8)
    static let all: Flags = [.travels, .isPadding, .hasReportType, .hasDaysSinceOnset]
  }

  private var flags: Flags {
    var flags: Flags = []
    if travels { flags.insert(.travels) }
    if isPadding { flags.insert(.isPadding) }
    if reportType != nil { flags.insert(.hasReportType) }
    if daysSinceOnset != nil { flags.insert(.hasDaysSinceOnset) }
    return flags
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Sixteen bytes, as memory holds them.
  private static func takeWords(from bytes: inout UnsafeRawBufferPointer) -> (UInt64, UInt64)? {
    guard bytes.count >= 16 else { return nil }
    defer { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(16)) }
    return bytes.loadUnaligned(as: (UInt64, UInt64).self)
  }

  private static func take<Number: FixedWidthInteger>(
    _ type: Number.Type, from bytes: inout UnsafeRawBufferPointer
  ) -> Number? {
    let size = MemoryLayout<Number>.size
    guard bytes.count >= size else { return nil }
    let number = bytes.loadUnaligned(as: type)
    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(size))
    return Number(littleEndian: number)
  }
}
