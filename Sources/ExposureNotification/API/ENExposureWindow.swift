import Foundation

/// Up to 30 minutes near one phone whose owner was diagnosed later.
///
/// Windows of one person cannot be told to belong together.
open class ENExposureWindow: NSObject {
  private let window: ExposureWindow

  /// An empty window.
  public override init() {
    window = ExposureWindow()
  }

  /// The window that was found, as an app sees it.
  package init(_ window: ExposureWindow) {
    self.window = window
  }

  /// How far the sender's transmit power can be relied on.
  open var calibrationConfidence: ENCalibrationConfidence { window.calibrationConfidence }
  /// Midnight UTC of the day of the window.
  open var date: Date { window.date }
  /// What the diagnosis rests on.
  open var diagnosisReportType: ENDiagnosisReportType { window.diagnosisReportType }
  /// How infectious the other person was.
  open var infectiousness: ENInfectiousness { window.infectiousness }
  /// The scans, in the order of time.
  open var scanInstances: [ENScanInstance] { window.scanInstances.map(ENScanInstance.init) }
  /// What is known about the variant of the virus; the framework leaves it to the app what follows.
  open var variantOfConcernType: ENVariantOfConcernType { window.variantOfConcernType }
}
