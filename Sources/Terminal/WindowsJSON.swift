// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The exposure windows of `firebreak score` in JSON.
package struct WindowsJSON {
  package let windows: [ExposureWindow]
  /// The windows by phone. Those of field trials name their trial and phone; the others are of one phone.
  package let phones: [[ExposureWindow]]

  /// - Throws: `CommandFailure` that names the invalid window and field.
  package init(at path: String) throws {
    let content = try InputFile(path, what: "windows file").content
    do {
      try self.init(decoding: content)
    } catch let failure as CommandFailure {
      throw CommandFailure(
        status: failure.status, message: "The windows file \(path.printable): \(failure.message)")
    }
  }

  /// Decodes at most `windowCountMax` windows.
  package init(
    decoding data: Data, windowCountMax: Int = ScoreLimit.windowCountMax
  ) throws {
    do {
      let decoded = try JSONDecoder().decode([WindowJSON].self, from: data)
      windows = decoded.map(\.window)
      phones = Dictionary(grouping: decoded, by: \.phone).values.map { $0.map(\.window) }
    } catch let error as DecodingError {
      let otherwise = "expected a JSON list of exposure windows."
      throw CommandFailure.badInput(error.message(otherwise: otherwise))
    }
    guard data.isUnambiguousJSON else { throw CommandFailure.badInput(InputFile.ambiguity) }
    guard windows.count <= windowCountMax else {
      throw CommandFailure.badInput("more than \(windowCountMax); split the file.")
    }
  }
}

/// A window in JSON, with Apple's raw values.
private struct WindowJSON: Decodable {
  /// The phone of a field trial.
  struct Phone: Hashable {
    let trial: String?
    let name: String?
  }

  let window: ExposureWindow
  let phone: Phone

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    var window = ExposureWindow()
    window.date = try fields.checked(.date, "must be a date such as 2020-11-30") {
      (text: String) in CalendarDate(text)?.midnight
    }
    window.calibrationConfidence = try fields.checked(
      .calibrationConfidence, "must be 0, 1, 2 or 3", ENCalibrationConfidence.init)
    window.infectiousness = try fields.checked(
      .infectiousness, "must be 0, 1 or 2", ENInfectiousness.init)
    window.diagnosisReportType = try fields.checked(
      .diagnosisReportType, "must be a whole number from 0 to 5", ENDiagnosisReportType.init)
    window.scanInstances = try fields.checked(
      .scanInstances, "must have at most \(ScoreLimit.scanCountMax) scans"
    ) { (scans: [ScanJSON]) in
      scans.count <= ScoreLimit.scanCountMax ? scans.map(\.scan) : nil
    }
    self.window = window
    phone = Phone(
      trial: try fields.text(ifPresent: .trial), name: try fields.text(ifPresent: .phone))
  }

  private enum Field: String, CodingKey {
    case date, calibrationConfidence, infectiousness, diagnosisReportType, scanInstances
    case trial, phone
  }
}

extension KeyedDecodingContainer {
  /// A text that may be absent.
  ///
  /// - Throws: `CommandFailure` that names the field if it is of another type.
  fileprivate func text(ifPresent key: Key) throws -> String? {
    guard contains(key) else { return nil }
    return try checked(key, "must be text") { (text: String) in text }
  }
}

/// A scan of a window in JSON.
private struct ScanJSON: Decodable {
  let scan: ScanInstance

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    scan = ScanInstance(
      minimumAttenuation: try fields.checked(
        .minimumAttenuation, Self.attenuationProblem, UInt8.init(exactly:) as (Int) -> UInt8?),
      typicalAttenuation: try fields.checked(
        .typicalAttenuation, Self.attenuationProblem, UInt8.init(exactly:) as (Int) -> UInt8?),
      secondsSinceLastScan: try fields.checked(
        .secondsSinceLastScan,
        "must be a whole number of seconds from 0 to \(ScoreLimit.secondsSinceLastScan.upperBound)"
      ) { (seconds: Int) in
        ScoreLimit.secondsSinceLastScan.contains(seconds) ? seconds : nil
      })
  }

  private static let attenuationProblem = "must be a whole number of dB from 0 to 255"

  private enum Field: String, CodingKey {
    case minimumAttenuation, typicalAttenuation, secondsSinceLastScan
  }
}

/// The limits of `firebreak score`.
package enum ScoreLimit {
  /// Windows per file.
  package static let windowCountMax = 100_000
  /// Scans per window: one per second for the half hour of a window.
  package static let scanCountMax = 1_800
  /// Seconds since the last scan: phones report 0 to 300, studies up to a day.
  package static let secondsSinceLastScan = 0...86_400
}
