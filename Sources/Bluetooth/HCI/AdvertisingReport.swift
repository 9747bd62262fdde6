/// An advertisement that a controller received.
///
/// Core Specification, Volume 4, Part E, 7.7.65.2 "LE Advertising Report event".
struct AdvertisingReport: Equatable, Sendable {
  /// The address of the sender, least significant byte first.
  let address: [UInt8]
  /// The payload, at most 31 bytes.
  let payload: [UInt8]
  /// The received signal strength, in dBm.
  let signalStrength: Int8
}

/// The reports of one event, and the number of those that were malformed.
struct AdvertisingReports: Equatable, Sendable {
  private(set) var reports: [AdvertisingReport] = []
  /// The reports that were cut off or had impossible values.
  private(set) var malformedCount = 0

  private enum Field {
    static let reportCounts: ClosedRange<UInt8> = 1...25
    static let addressByteCount = 6
    static let payloadByteCountMax = 31
    /// Type, address type, address and the length of the payload.
    static let headerByteCount = 9
    /// Advertisements; a scan response (4) answers requests, which a passive scanner does not send.
    static let types: ClosedRange<UInt8> = 0...3
    static let scanResponse: UInt8 = 4
    static let signalStrengthUnknown: Int8 = 127
    static let signalStrengths: ClosedRange<Int8> = -127...20
  }

  /// Parses the content of an event after its subevent code.
  ///
  /// A report with an impossible value is skipped. One that does not fit into the event ends it, since
  /// the start of the next one is unknown.
  init(content: [UInt8]) {
    guard let count = content.first, Field.reportCounts.contains(count) else {
      malformedCount = 1
      return
    }
    var rest = content.dropFirst()
    for index in 0..<Int(count) {
      guard rest.count > Field.headerByteCount - 1 else {
        malformedCount += Int(count) - index
        return
      }
      let header = Array(rest.prefix(Field.headerByteCount))
      let length = Int(header[8])
      rest = rest.dropFirst(Field.headerByteCount)
      guard rest.count > length else {
        malformedCount += Int(count) - index
        return
      }
      add(header: header, payload: rest.prefix(length), strength: rest[rest.startIndex + length])
      rest = rest.dropFirst(length + 1)
    }
    if !rest.isEmpty { malformedCount += 1 }
  }

  private mutating func add(header: [UInt8], payload: ArraySlice<UInt8>, strength: UInt8) {
    guard header[0] != Field.scanResponse else { return }
    let strength = Int8(bitPattern: strength)
    // A beacon without strength tells nothing about the distance.
    guard strength != Field.signalStrengthUnknown else { return }
    guard Field.types.contains(header[0]), Field.signalStrengths.contains(strength),
      payload.count <= Field.payloadByteCountMax
    else {
      malformedCount += 1
      return
    }
    reports.append(
      AdvertisingReport(
        address: Array(header[2..<(2 + Field.addressByteCount)]), payload: Array(payload),
        signalStrength: strength))
  }
}
