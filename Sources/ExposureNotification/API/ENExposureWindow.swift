import Foundation

/// An exposure of up to 30 minutes to one diagnosed user.
///
/// Windows of the same user cannot be linked.
open class ENExposureWindow: NSObject {
  private let window: ExposureWindow

  /// An empty window.
  public override init() {
    window = ExposureWindow()
  }

  /// A window that was detected.
  package init(_ window: ExposureWindow) {
    self.window = window
  }

  /// The confidence in the calibration of the sender's transmit power.
  open var calibrationConfidence: ENCalibrationConfidence { window.calibrationConfidence }
  /// Midnight UTC of the day of the window.
  open var date: Date { window.date }
  /// The basis of the diagnosis.
  open var diagnosisReportType: ENDiagnosisReportType { window.diagnosisReportType }
  /// The infectiousness of the diagnosed user.
  open var infectiousness: ENInfectiousness { window.infectiousness }
  /// The scans in the order of time.
  open var scanInstances: [ENScanInstance] { window.scanInstances.map(ENScanInstance.init) }
  /// The variant of the virus, if known. Scores do not depend on it; apps may filter by it.
  open var variantOfConcernType: ENVariantOfConcernType { window.variantOfConcernType }
}

/// One Bluetooth scan of an exposure window.
open class ENScanInstance: NSObject {
  private let scan: ScanInstance

  /// A scan without beacons.
  public override init() {
    scan = ScanInstance(minimumAttenuation: 0, typicalAttenuation: 0, secondsSinceLastScan: 0)
  }

  /// A scan of a detected window.
  package init(_ scan: ScanInstance) {
    self.scan = scan
  }

  /// The least attenuation of the scan's beacons, in dB.
  open var minimumAttenuation: ENAttenuation { scan.minimumAttenuation }
  /// The mean attenuation of the scan's beacons, in dB, rounded.
  open var typicalAttenuation: ENAttenuation { scan.typicalAttenuation }
  /// Seconds since the previous scan: whole minutes, at most 300.
  open var secondsSinceLastScan: Int { scan.secondsSinceLastScan }
}
