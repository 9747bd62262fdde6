// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Synchronization

/// The user of the phone, who answers on the terminal or by command line options.
final class User: ConsentPrompt {
  /// Predefined answers in order; then `always`, or the terminal if that is nil.
  private let answers: Mutex<[Bool]>
  private let always: Bool?

  init(answers: [Bool], always: Bool?) {
    self.answers = Mutex(answers)
    self.always = always
  }

  /// True if the terminal is not used.
  var isAutomatic: Bool { always != nil }

  /// Asks a question and prints it with the answer.
  func ask(_ question: String) async -> Bool {
    if let answer = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) ?? always {
      Terminal.print("\(question) \(answer ? "yes" : "no")")
      return answer
    }
    Terminal.print("\(question) (y/n)")
    return readLine()?.lowercased().hasPrefix("y") ?? false
  }

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
    switch request {
    case .enableExposureNotification:
      return await ask("(system) Let \(bundleIdentifier) exchange random identifiers?")
    case .shareDiagnosisKeys:
      return await ask("(system) Share your random identifiers of the last 14 days?")
    case .preAuthorizeDiagnosisKeys:
      return await ask("(system) Share them without being asked, should the test be positive?")
    case .showTravelStatus:
      return await ask("(system) Tell the app whether you have travelled?")
    case .showExposureInfo(let explanation):
      Terminal.print("(system) \(explanation)")
      return true
    }
  }
}
