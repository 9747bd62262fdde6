import VerificationAPI

/// What the health authority found, as far as a code carries it: no name, no place, no key.
struct Finding: Hashable, Sendable {
  var testType: TestType
  /// The day on which symptoms began, where known.
  var symptomDay: CalendarDay?
  /// The day of the test, where known.
  var testDay: CalendarDay?

  init(_ testType: TestType, _ dates: FindingDates) {
    self.init(testType: testType, symptomDay: dates.symptomDay, testDay: dates.testDay)
  }

  init(testType: TestType, symptomDay: CalendarDay? = nil, testDay: CalendarDay? = nil) {
    self.testType = testType
    self.symptomDay = symptomDay
    self.testDay = testDay
  }

  /// Claim `reportType` of tokens and certificates.
  var reportType: String { testType.rawValue }
  /// Claim `symptomOnsetInterval` of tokens and certificates.
  var symptomOnsetInterval: UInt32? { symptomDay?.interval }
}
