// SPDX-License-Identifier: Apache-2.0
/// The rules of the verification server for codes.
package struct CodeRules: Hashable, Sendable {
  /// The rules that officials change.
  package struct Values: Codable, Hashable, Sendable {
    /// The seconds for which a PIN, a short code, and the long code in the link of an SMS are valid.
    package var pinSeconds: Int64
    package var shortCodeSeconds: Int64
    package var longCodeSeconds: Int64
    /// The digits of a short code, while not very many are valid.
    package var shortCodeDigits: Int
    /// True if no code is issued without the first day of symptoms.
    package var requiresDate: Bool

    package init(
      pinSeconds: Int64, shortCodeSeconds: Int64, longCodeSeconds: Int64, shortCodeDigits: Int,
      requiresDate: Bool
    ) {
      self.pinSeconds = pinSeconds
      self.shortCodeSeconds = shortCodeSeconds
      self.longCodeSeconds = longCodeSeconds
      self.shortCodeDigits = shortCodeDigits
      self.requiresDate = requiresDate
    }
  }

  /// The values that the verification server accepts.
  package struct Limits: Hashable, Sendable {
    package let pinSeconds: ClosedRange<Int64>
    package let shortCodeSeconds: ClosedRange<Int64>
    package let longCodeSeconds: ClosedRange<Int64>
    package let shortCodeDigits: ClosedRange<Int>

    package init(
      pinSeconds: ClosedRange<Int64>, shortCodeSeconds: ClosedRange<Int64>,
      longCodeSeconds: ClosedRange<Int64>, shortCodeDigits: ClosedRange<Int>
    ) {
      self.pinSeconds = pinSeconds
      self.shortCodeSeconds = shortCodeSeconds
      self.longCodeSeconds = longCodeSeconds
      self.shortCodeDigits = shortCodeDigits
    }
  }

  /// The codes that the console may issue in a day.
  package let codesPerDay: Int
  package let values: Values
  package let limits: Limits
  /// The labels of the texts for an SMS, that of the default text first; empty if no SMS is sent.
  package let smsTemplates: [String]

  package init(codesPerDay: Int, values: Values, limits: Limits, smsTemplates: [String]) {
    self.codesPerDay = codesPerDay
    self.values = values
    self.limits = limits
    self.smsTemplates = smsTemplates
  }
}
