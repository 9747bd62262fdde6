import ExposureNotification
import Synchronization

/// A person who gives one answer until told otherwise, and remembers what was asked.
final class TestPerson: ConsentPrompt {
  private let state: Mutex<(answer: Bool, asked: [ConsentRequest], told: [ConsentNotice])>

  init(says answer: Bool = true) {
    state = Mutex((answer, [], []))
  }

  var asked: [ConsentRequest] { state.withLock { $0.asked } }

  var told: [ConsentNotice] { state.withLock { $0.told } }

  func says(_ answer: Bool) {
    state.withLock { $0.answer = answer }
  }

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
    state.withLock {
      $0.asked.append(request)
      return $0.answer
    }
  }

  func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {
    state.withLock { $0.told.append(notice) }
  }
}
