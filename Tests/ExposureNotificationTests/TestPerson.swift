import ExposureNotification
import Synchronization

/// A person who gives one answer until told otherwise, and remembers what was asked.
final class TestPerson: ConsentPrompt {
  /// The screen is gone: nobody can be asked.
  struct NoScreen: Error {}

  private struct State {
    var answer: Bool
    var asked: [ConsentRequest] = []
    var told: [ConsentNotice] = []
    var hasScreen = true
  }

  private let state: Mutex<State>

  init(says answer: Bool = true) {
    state = Mutex(State(answer: answer))
  }

  var asked: [ConsentRequest] { state.withLock { $0.asked } }

  var told: [ConsentNotice] { state.withLock { $0.told } }

  func says(_ answer: Bool) {
    state.withLock { $0.answer = answer }
  }

  func hasScreen(_ hasScreen: Bool) {
    state.withLock { $0.hasScreen = hasScreen }
  }

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async throws -> Bool {
    try state.withLock {
      guard $0.hasScreen else { throw NoScreen() }
      $0.asked.append(request)
      return $0.answer
    }
  }

  func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {
    state.withLock { $0.told.append(notice) }
  }
}
