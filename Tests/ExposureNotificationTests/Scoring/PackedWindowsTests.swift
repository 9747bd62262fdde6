// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ExposureNotification

@Suite("Packed windows") struct PackedWindowsTests {
  private func window(scans: Int, on day: Double = 0) -> ExposureWindow {
    var window = ExposureWindow()
    window.date = Date(timeIntervalSince1970: day * 86_400)
    window.calibrationConfidence = .high
    window.diagnosisReportType = .confirmedTest
    window.infectiousness = .standard
    window.variantOfConcernType = .type2
    window.scanInstances = (0..<scans).map { number in
      ScanInstance(
        minimumAttenuation: UInt8(number), typicalAttenuation: UInt8(255 - number),
        secondsSinceLastScan: 300 - number)
    }
    return window
  }

  @Test("Windows are unpacked as they were packed, also those without scans")
  func equal() {
    let windows = [
      ExposureWindow(), window(scans: 7), window(scans: 0, on: 1), window(scans: 1, on: 2),
      window(scans: 30, on: 18_000),
    ]
    #expect(PackedWindows(windows).unpacked == windows)
    #expect(PackedWindows([]).unpacked.isEmpty)
  }

  @Test("Windows that differ in one scan differ packed")
  func different() {
    let (one, other) = ([window(scans: 7)], [window(scans: 8)])
    #expect(PackedWindows(one) != PackedWindows(other))
    #expect(PackedWindows(one) == PackedWindows(one))
  }

  @Test("A packed scan needs four bytes, and keeps the longest gap of a detection")
  func size() {
    #expect(MemoryLayout<PackedScan>.stride == 4)
    let gap = Int(ScanInstance.longestGapMinutes * 60)
    let scan = ScanInstance(
      minimumAttenuation: 0, typicalAttenuation: 255, secondsSinceLastScan: gap)
    #expect(PackedScan(scan).instance == scan)
  }
}
