import ExposureNotification
import Foundation
import Synchronization

/// Who holds the phone: answers at the terminal, or as the command line says.
final class Person: ConsentPrompt {
  /// Answers given beforehand, in order; then `always`, and without that the terminal.
  private let answers: Mutex<[Bool]>
  private let always: Bool?

  init(answers: [Bool], always: Bool?) {
    self.answers = Mutex(answers)
    self.always = always
  }

  /// Whether nobody sits at the terminal.
  var answersByItself: Bool { always != nil }

  /// Puts a question and prints it with its answer.
  func says(_ question: String) async -> Bool {
    if let answer = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) ?? always {
      Terminal.say("\(question) \(answer ? "yes" : "no")")
      return answer
    }
    Terminal.say("\(question) (y/n)")
    return readLine()?.lowercased().hasPrefix("y") ?? false
  }

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
    switch request {
    case .enableExposureNotification:
      return await says("(system) Let \(bundleIdentifier) exchange random identifiers?")
    case .shareDiagnosisKeys:
      return await says("(system) Share your random identifiers of the last 14 days?")
    case .preAuthorizeDiagnosisKeys:
      return await says("(system) Share them without being asked, should the test be positive?")
    case .showTravelStatus:
      return await says("(system) Tell the app whether you have travelled?")
    case .showExposureInfo(let explanation):
      Terminal.say("(system) \(explanation)")
      return true
    }
  }
}
