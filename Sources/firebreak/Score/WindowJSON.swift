import ExposureNotification
import Foundation

/// One exposure window in JSON, with Apple's raw values.
struct WindowJSON: Decodable {
  let window: ExposureWindow

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    var window = ExposureWindow()
    window.date = try fields.checked(.date, "needs a date such as 2020-11-30") {
      (text: String) in CalendarDate(text)?.midnight
    }
    window.calibrationConfidence = try fields.checked(
      .calibrationConfidence, "needs 0, 1, 2 or 3", ENCalibrationConfidence.init)
    window.infectiousness = try fields.checked(
      .infectiousness, "needs 0, 1 or 2", ENInfectiousness.init)
    window.diagnosisReportType = try fields.checked(
      .diagnosisReportType, "needs a whole number from 0 to 5", ENDiagnosisReportType.init)
    window.scanInstances = try fields.checked(
      .scanInstances, "needs at most \(ScoreLimit.scanCountMax) scans"
    ) { (scans: [ScanJSON]) in
      scans.count <= ScoreLimit.scanCountMax ? scans.map(\.scan) : nil
    }
    self.window = window
  }

  private enum Field: String, CodingKey {
    case date, calibrationConfidence, infectiousness, diagnosisReportType, scanInstances
  }
}
