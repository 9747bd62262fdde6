/// The transmission risk of uploaded keys by the date that the user states: of their test, or of their first symptoms.
///
/// It is decoded strictly, because each value changes the risk that others are told. Without it, phones give all keys
/// the risk 8, as ProteGO Safe does.
public struct TransmissionRiskConfiguration: Codable, Hashable, Sendable {
  /// The risk of all keys if no date is stated, 1...8.
  public var withoutDate: Int
  /// The risk by the days from the test to the day of the key, `-14` to `14`. 0 means that the key is not shared; a
  /// missing day counts as 0.
  public var daysSinceTest: [String: Int]
  /// The risk by the days from the first symptoms to the day of the key, in the same form.
  public var daysSinceOnsetOfSymptoms: [String: Int]

  /// Creates a configuration.
  public init(
    withoutDate: Int = 8, daysSinceTest: [String: Int], daysSinceOnsetOfSymptoms: [String: Int]
  ) {
    self.withoutDate = withoutDate
    self.daysSinceTest = daysSinceTest
    self.daysSinceOnsetOfSymptoms = daysSinceOnsetOfSymptoms
  }

  /// The days of both tables.
  public static let days = -14...14
  /// The risks of shared keys.
  public static let risks = 1...8

  /// The risk of a key whose day is `days` after the test; `nil` if the key is not shared.
  public func risk(daysSinceTest days: Int) -> Int? {
    Self.shared(daysSinceTest["\(days)"])
  }

  /// The risk of a key whose day is `days` after the first symptoms; `nil` if the key is not shared.
  public func risk(daysSinceOnsetOfSymptoms days: Int) -> Int? {
    Self.shared(daysSinceOnsetOfSymptoms["\(days)"])
  }

  private static func shared(_ risk: Int?) -> Int? {
    risk.flatMap { risks.contains($0) ? $0 : nil }
  }

  var fault: String? {
    if !Self.risks.contains(withoutDate) { return "withoutDate must be 1 to 8." }
    return Self.fault(in: daysSinceTest, named: "daysSinceTest")
      ?? Self.fault(in: daysSinceOnsetOfSymptoms, named: "daysSinceOnsetOfSymptoms")
  }

  private static func fault(in table: [String: Int], named name: String) -> String? {
    let areEntries = table.allSatisfy { day, risk in
      Int(day).map { days.contains($0) && "\($0)" == day } == true
        && (risk == 0 || risks.contains(risk))
    }
    guard areEntries else { return "\(name) must map days from -14 to 14 to risks from 0 to 8." }
    return table.values.contains { $0 > 0 }
      ? nil : "\(name) must have a day above 0; without one, no key is shared."
  }
}
