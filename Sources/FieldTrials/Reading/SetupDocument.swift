/// `SETTING_setup.json`; only what the scores need.
struct SetupDocument: Decodable {
  /// One phone of the setting.
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

    /// Nobody knows how well iPhones are calibrated, and the file says so by a letter.
    var isIPhone: Bool { calibrationConfidence == "i" }
  }

  let phones: [Phone]

  func phone(_ id: String) -> Phone? { phones.first { $0.id == id } }
}
