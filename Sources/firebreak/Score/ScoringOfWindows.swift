import ExposureNotification
import Foundation

/// The framework's scoring, over windows that come from a file instead of a detection.
struct ScoringOfWindows {
  private let scoring: WindowScoring
  private let unstated: ENDiagnosisReportType

  /// Takes over `configuration`, or refuses it with a sentence that names the field of `file`.
  ///
  /// Fields of version 1 are not used here but checked too: nonsense in them is a mistake as well.
  init(_ configuration: ENExposureConfiguration, file: String) throws {
    do throws(ENError) {
      scoring = try WindowScoring(configuration)
      _ = try ExposureScoring(configuration)
      if configuration.infectiousnessForDaysSinceOnsetOfSymptoms != nil {
        _ = try WindowRules(configuration)
      }
    } catch {
      throw CommandFailure.badInput("\(file.printable): \(error.localizedDescription)")
    }
    unstated = configuration.reportTypeNoneMap
  }

  /// The days of those `windows` that count.
  func days(of windows: [ExposureWindow], today: Date) -> [DaySummary] {
    scoring.days(of: windows.compactMap { $0.counted(unstatedAs: unstated) }, today: today)
  }
}
