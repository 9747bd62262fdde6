// SPDX-License-Identifier: Apache-2.0
/// One of the rules that officials change.
enum CodeRule: CaseIterable, Sendable {
  case pin, shortCode, longCode, digits, date

  /// The field of its form.
  var field: String {
    switch self {
    case .pin: "laboratory"
    case .shortCode: "doctor"
    case .longCode: "link"
    case .digits: "digits"
    case .date: "date"
    }
  }

  /// The setting of the verification server.
  var setting: String {
    switch self {
    case .pin: "codeLifetime"
    case .shortCode: "policy.shortCodeLifetime"
    case .longCode: "policy.longCodeLifetime"
    case .digits: "policy.shortCodeDigits"
    case .date: "policy.requiresDate"
    }
  }

  var name: TextKey {
    switch self {
    case .pin: .rulesPIN
    case .shortCode: .rulesShortCode
    case .longCode: .rulesLongCode
    case .digits: .rulesDigits
    case .date: .rulesDate
    }
  }

  /// The value as a number that people type: minutes, rounded up, or digits; nil for a date.
  func number(in values: CodeRules.Values) -> Int64? {
    switch self {
    case .pin: Self.minutes(values.pinSeconds)
    case .shortCode: Self.minutes(values.shortCodeSeconds)
    case .longCode: Self.minutes(values.longCodeSeconds)
    case .digits: Int64(values.shortCodeDigits)
    case .date: nil
    }
  }

  /// The numbers that the verification server accepts.
  func range(in limits: CodeRules.Limits) -> ClosedRange<Int64>? {
    switch self {
    case .pin: Self.minutes(limits.pinSeconds)
    case .shortCode: Self.minutes(limits.shortCodeSeconds)
    case .longCode: Self.minutes(limits.longCodeSeconds)
    case .digits:
      Int64(limits.shortCodeDigits.lowerBound)...Int64(limits.shortCodeDigits.upperBound)
    case .date: nil
    }
  }

  /// Puts a typed number into `values`. Minutes that are not changed keep their seconds.
  func set(_ number: Int64, in values: inout CodeRules.Values) {
    guard number != self.number(in: values) else { return }
    switch self {
    case .pin: values.pinSeconds = number * 60
    case .shortCode: values.shortCodeSeconds = number * 60
    case .longCode: values.longCodeSeconds = number * 60
    case .digits: values.shortCodeDigits = Int(number)
    case .date: break
    }
  }

  /// The reason why a number is not accepted, with both bounds.
  func fault(_ range: ClosedRange<Int64>, _ texts: Texts) -> String {
    texts[
      self == .digits ? .rulesBadDigits : .rulesBadMinutes, texts[name], "\(range.lowerBound)",
      "\(range.upperBound)"]
  }

  /// The value in words.
  func text(_ values: CodeRules.Values, _ texts: Texts) -> String {
    guard let number = number(in: values) else {
      return texts[values.requiresDate ? .rulesYes : .rulesNo]
    }
    return self == .digits ? "\(number)" : texts[.rulesMinutes, "\(number)"]
  }

  private static func minutes(_ seconds: Int64) -> Int64 { (seconds + 59) / 60 }

  private static func minutes(_ seconds: ClosedRange<Int64>) -> ClosedRange<Int64> {
    let lowest = minutes(seconds.lowerBound)
    return lowest...max(lowest, seconds.upperBound / 60)
  }
}
