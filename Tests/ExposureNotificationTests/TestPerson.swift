import ExposureNotification
import Synchronization

/// A person who gives one answer until told otherwise, and remembers what was asked.
final class TestPerson: ConsentPrompt {
  private let state: Mutex<(answer: Bool, asked: [ConsentRequest])>

  init(says answer: Bool = true) {
    state = Mutex((answer, []))
  }

  var asked: [ConsentRequest] { state.withLock { $0.asked } }

  func says(_ answer: Bool) {
    state.withLock { $0.answer = answer }
  }

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
    state.withLock {
      $0.asked.append(request)
      return $0.answer
    }
  }
}
