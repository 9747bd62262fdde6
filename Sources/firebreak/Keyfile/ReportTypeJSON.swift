import ExposureKeys

/// A report type by its number in the key file, or by its name there.
struct ReportTypeJSON: Decodable {
  let value: ReportType

  private static let names: [String: ReportType] = [
    "UNKNOWN": .unknown, "CONFIRMED_TEST": .confirmedTest,
    "CONFIRMED_CLINICAL_DIAGNOSIS": .confirmedClinicalDiagnosis, "SELF_REPORT": .selfReport,
    "RECURSIVE": .recursive, "REVOKED": .revoked,
  ]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let value =
      if let number = try? container.decode(Int32.self) {
        ReportType(rawValue: number)
      } else {
        Self.names[try container.decode(String.self).uppercased()]
      }
    guard let value else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a report type is 0...5 or its name")
    }
    self.value = value
  }
}
