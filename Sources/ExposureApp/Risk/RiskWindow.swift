import ExposureNotification
import Foundation

/// An exposure window as far as a policy looks at it. Documentation/App.md 4.5.
public struct RiskWindow: Hashable, Sendable {
  /// One scan of the window.
  public struct Scan: Hashable, Sendable {
    /// In dB. The typical attenuation is not looked at.
    public var minimumAttenuation: ENAttenuation
    /// Since the scan before; what is below 0 counts as 0.
    public var seconds: Int

    /// A scan with these figures.
    public init(minimumAttenuation: ENAttenuation, seconds: Int) {
      self.minimumAttenuation = minimumAttenuation
      self.seconds = seconds
    }
  }

  /// The day, 00:00 UTC.
  public var date: Date
  /// What the diagnosis rests on.
  public var reportType: ENDiagnosisReportType
  /// How infectious the other person was.
  public var infectiousness: ENInfectiousness
  /// How far the sender's transmit power can be relied on.
  public var calibrationConfidence: ENCalibrationConfidence
  /// The scans.
  public var scans: [Scan]

  /// A window with these facts.
  public init(
    date: Date, reportType: ENDiagnosisReportType, infectiousness: ENInfectiousness,
    calibrationConfidence: ENCalibrationConfidence, scans: [Scan]
  ) {
    self.date = date
    self.reportType = reportType
    self.infectiousness = infectiousness
    self.calibrationConfidence = calibrationConfidence
    self.scans = scans
  }

  /// What the framework's `window` says.
  public init(_ window: ENExposureWindow) {
    self.init(
      date: window.date, reportType: window.diagnosisReportType,
      infectiousness: window.infectiousness, calibrationConfidence: window.calibrationConfidence,
      scans: window.scanInstances.map {
        Scan(minimumAttenuation: $0.minimumAttenuation, seconds: $0.secondsSinceLastScan)
      })
  }
}

extension RiskWindow {
  /// Minutes of the scans whose minimum attenuation lies in `range`.
  func minutes(in range: PolicyRange) -> Double {
    scans.reduce(0) { sum, scan in
      range.contains(Double(scan.minimumAttenuation)) ? sum + scan.minutes : sum
    }
  }
}

extension RiskWindow.Scan {
  /// What counts of `seconds`, in minutes.
  var minutes: Double { Double(max(0, seconds)) / 60 }
}
