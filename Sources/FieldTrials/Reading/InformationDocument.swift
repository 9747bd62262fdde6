/// `TEST_info.json`, with the names of the file.
struct InformationDocument: Decodable {
  /// One person of the trial.
  struct Detail: Decodable {
    let phone: String
    let exposure: String
  }

  let testId: String
  let startTime: String
  let stopTime: String
  let details: [Detail]
}
