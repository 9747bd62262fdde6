// SPDX-License-Identifier: Apache-2.0

/// Exposure windows in little memory, for a device that keeps them until its next detection.
///
/// Two weeks in one household are hundreds of windows. One with seven scans needs about 180 bytes, because its scans
/// are an array of their own. Here all scans share an array, and it needs 56.
struct PackedWindows: Hashable, Sendable {
  /// The windows without their scans.
  private var windows: [ExposureWindow] = []
  /// For each window the end of its scans in `scans`; they begin at the end of those of the window before.
  private var ends: [UInt32] = []
  private var scans: [PackedScan] = []

  init(_ windows: [ExposureWindow]) {
    self.windows.reserveCapacity(windows.count)
    ends.reserveCapacity(windows.count)
    scans.reserveCapacity(windows.reduce(0) { $0 + $1.scanInstances.count })
    for var window in windows {
      scans.append(contentsOf: window.scanInstances.lazy.map(PackedScan.init))
      window.scanInstances = []
      self.windows.append(window)
      ends.append(UInt32(scans.count))
    }
  }

  /// The windows in their order.
  var unpacked: [ExposureWindow] {
    var start = 0
    return zip(windows, ends).map { window, end in
      defer { start = Int(end) }
      var window = window
      window.scanInstances = scans[start..<Int(end)].map(\.instance)
      return window
    }
  }
}

/// A scan in four bytes.
struct PackedScan: Hashable, Sendable {
  private let minimumAttenuation: UInt8
  private let typicalAttenuation: UInt8
  /// A detection finds at most 300.
  private let secondsSinceLastScan: UInt16

  init(_ scan: ScanInstance) {
    minimumAttenuation = scan.minimumAttenuation
    typicalAttenuation = scan.typicalAttenuation
    secondsSinceLastScan = UInt16(clamping: scan.secondsSinceLastScan)
  }

  var instance: ScanInstance {
    ScanInstance(
      minimumAttenuation: minimumAttenuation, typicalAttenuation: typicalAttenuation,
      secondsSinceLastScan: Int(secondsSinceLastScan))
  }
}
