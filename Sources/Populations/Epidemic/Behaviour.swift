// SPDX-License-Identifier: Apache-2.0

/// The decisions of people after symptoms, tests and notices.
public struct Behaviour: Hashable, Sendable {
  /// The share of people with symptoms who take a test.
  public var testsAfterSymptoms = 0.8
  /// The share of notified people who take a test a day later.
  public var testsAfterNotice = 0.5
  /// The days from symptoms or a notice until the result of a test.
  public var testDays = 2.0
  /// The share of infected people whose test is positive.
  public var sensitivity = 0.8
  /// The share of other people whose test is negative.
  public var specificity = 0.999
  /// The share of people each day who have symptoms of another cause.
  public var otherSymptoms = 0.002
  /// The share of people with symptoms who isolate until their result.
  public var isolatesAfterSymptoms = 0.5
  /// The share of people with a positive result who isolate.
  public var isolatesAfterPositive = 0.9
  /// The share of notified people who isolate.
  public var isolatesAfterNotice = 0.5
  /// The days of isolation.
  public var isolationDays = 10.0
  /// The share of people with a positive result and the app who upload their keys.
  public var uploads = 0.88

  /// Creates the default behaviour.
  public init() {}
}
