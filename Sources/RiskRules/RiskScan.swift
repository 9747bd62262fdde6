// SPDX-License-Identifier: Apache-2.0

/// One scan of an exposure window, as a policy reads it.
public struct RiskScan: Hashable, Sendable {
  /// The minimum attenuation, in dB; policies do not use the typical attenuation.
  public var minimumAttenuation: UInt8
  /// The seconds since the previous scan; negative values count as 0.
  public var seconds: Int

  /// Creates a scan.
  public init(minimumAttenuation: UInt8, seconds: Int) {
    self.minimumAttenuation = minimumAttenuation
    self.seconds = seconds
  }

  /// The minutes since the previous scan.
  var minutes: Double { Double(max(0, seconds)) / 60 }
}

extension [RiskScan] {
  /// The minutes of the scans whose minimum attenuation is in `range`.
  func minutes(in range: PolicyRange) -> Double {
    reduce(0) { sum, scan in
      range.contains(Double(scan.minimumAttenuation)) ? sum + scan.minutes : sum
    }
  }
}
