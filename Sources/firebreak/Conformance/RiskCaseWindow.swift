import ExposureApp
import ExposureNotification
import Foundation

/// One window of a case, with Apple's raw values and an age in place of a date.
struct RiskCaseWindow: Decodable {
  let window: RiskWindow

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    window = RiskWindow(
      date: try fields.checked(.ageInDays, "needs days from 0 to \(Self.ages.upperBound)") {
        (age: Int) in Self.ages.contains(age) ? Self.date(ofAge: age) : nil
      },
      reportType: try fields.checked(
        .reportType, "needs a whole number from 0 to 5", ENDiagnosisReportType.init),
      infectiousness: try fields.checked(
        .infectiousness, "needs 0, 1 or 2", ENInfectiousness.init),
      calibrationConfidence: try fields.checked(
        .calibrationConfidence, "needs 0, 1, 2 or 3", ENCalibrationConfidence.init),
      scans: try fields.decode([Scan].self, forKey: .scanInstances).map(\.scan))
  }

  /// How long ago `date` is on the day of the test.
  static func age(of date: Date) -> Int {
    Int((today.timeIntervalSince(date) / day).rounded())
  }

  private static func date(ofAge age: Int) -> Date {
    today.addingTimeInterval(-Double(age) * day)
  }

  private static let day: TimeInterval = 86_400
  private static let ages = 0...10_000
  /// Any day will do, as ages count from it.
  private static let today = Date(timeIntervalSince1970: 20_000 * day)

  private struct Scan: Decodable {
    let scan: RiskWindow.Scan

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: ScanField.self)
      scan = RiskWindow.Scan(
        minimumAttenuation: try fields.checked(.minAttenuation, "needs dB from 0 to 255") {
          UInt8(exactly: $0 as Int)
        },
        // Below zero too: a phone whose clock was set back says so.
        seconds: try fields.checked(.secondsSinceLastScan, "needs whole seconds") { $0 })
    }
  }

  private enum ScanField: String, CodingKey {
    case minAttenuation, secondsSinceLastScan
  }

  private enum Field: String, CodingKey {
    case ageInDays, reportType, infectiousness, calibrationConfidence, scanInstances
  }
}
