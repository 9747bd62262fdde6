import Foundation

/// A trial read from its files.
struct TrialReading {
  /// The trial, or nil if its information file is invalid.
  let trial: FieldTrial?
  /// The number of missing or damaged files, except logs of listed phones that exist but cannot be read.
  let unreadableFileCount: Int

  init(_ information: URL, among files: TrialFiles) {
    guard let document = Self.decoded(InformationDocument.self, information),
      let start = LogTime(document.startTime), let stop = LogTime(document.stopTime),
      start.wallSeconds <= stop.wallSeconds
    else {
      (trial, unreadableFileCount) = (nil, 1)
      return
    }
    let logs = files.logs(of: information)
    let setup = files.setup(of: information).flatMap { Self.decoded(SetupDocument.self, $0) }
    let phones = document.details.compactMap { detail in
      Self.phone(detail, setup: setup?.phone(detail.phone), log: logs[detail.phone])
    }
    trial = FieldTrial(name: document.testId, start: start, stop: stop, phones: phones)
    let logsMissing = document.details.filter { logs[$0.phone] == nil }.count
    unreadableFileCount = logsMissing + (setup == nil ? 1 : 0)
  }

  private static func phone(
    _ detail: InformationDocument.Detail, setup: SetupDocument.Phone?, log: URL?
  ) -> TrialPhone? {
    guard let outcome = TrialOutcome(rawValue: detail.exposure),
      let content = log.flatMap({ TrialFiles.content(of: $0) })
    else { return nil }
    return TrialPhone(
      id: detail.phone, outcome: outcome, isIPhone: setup?.isIPhone ?? false,
      assumedTransmitPower: setup?.transmitPower.flatMap(Int8.init(exactly:)),
      clockOffset: setup?.timeOffset ?? 0, log: PhoneLog(content))
  }

  private static func decoded<Document: Decodable>(_ type: Document.Type, _ file: URL) -> Document?
  {
    TrialFiles.content(of: file).flatMap { try? JSONDecoder().decode(type, from: $0) }
  }
}

/// `TEST_info.json`.
struct InformationDocument: Decodable {
  /// One participant.
  struct Detail: Decodable {
    let phone: String
    let exposure: String
  }

  let testId: String
  let startTime: String
  let stopTime: String
  let details: [Detail]
}

/// `SETTING_setup.json`, as far as it affects the scores.
struct SetupDocument: Decodable {
  /// One phone.
  struct Phone: Decodable {
    let id: String
    let calibrationConfidence: String?
    let timeOffset: Double?
    let transmitPower: Int?

    private enum CodingKeys: String, CodingKey {
      case id
      case calibrationConfidence = "calconf"
      case timeOffset = "time_offset"
      case transmitPower = "tx"
    }

    /// Instead of a calibration confidence, iPhones have a letter.
    var isIPhone: Bool { calibrationConfidence == "i" }
  }

  let phones: [Phone]

  func phone(_ id: String) -> Phone? { phones.first { $0.id == id } }
}
