import ExposureNotification
import World

/// Asks the person on a web page what Apple's system asks in a dialog, and waits for the answer.
///
/// `PageConsentServer` shows the page. Its path is told to the person only: whatever else runs on the
/// machine could otherwise say yes for them.
public actor PageConsent: ConsentPrompt {
  /// Questions that may wait for the person at once; one more is not put.
  static let waitingMax = 8
  private static let secretBytes = 16

  /// Where the page lies: `/consent/` and 32 hexadecimal digits that nobody can guess.
  public nonisolated let path: String

  private let randomness: any Randomness
  private var waiting: [Waiting] = []

  private struct Waiting {
    let question: ConsentQuestion
    let answer: CheckedContinuation<Bool, any Error>
  }

  /// A page whose path and questions are numbered by `randomness`.
  public init(randomness: any Randomness) {
    self.randomness = randomness
    path = "/consent/" + Self.digits(from: randomness)
  }

  /// Puts the question on the page; returns when the person has answered.
  ///
  /// - Throws: `PageConsentError.tooManyQuestions`, or `CancellationError` where nobody waits for the
  ///   answer any more. Neither is a no.
  public func allows(_ request: ConsentRequest, for bundleIdentifier: String) async throws -> Bool {
    guard waiting.count < Self.waitingMax else { throw PageConsentError.tooManyQuestions }
    let question = ConsentQuestion(
      id: Self.digits(from: randomness), app: bundleIdentifier, request: request)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { answer in
        guard !Task.isCancelled else { return answer.resume(throwing: CancellationError()) }
        waiting.append(Waiting(question: question, answer: answer))
      }
    } onCancel: {
      Task { await self.withdraw(question.id) }
    }
  }

  /// The question that has waited longest; nil where there is none.
  var question: ConsentQuestion? { waiting.first?.question }

  /// How many questions wait.
  var waitingCount: Int { waiting.count }

  /// Takes the person's answer; false where no such question waits, as after a second click.
  func take(_ isAllowed: Bool, to id: String) -> Bool {
    guard let waited = remove(id) else { return false }
    waited.answer.resume(returning: isAllowed)
    return true
  }

  private func withdraw(_ id: String) {
    remove(id)?.answer.resume(throwing: CancellationError())
  }

  private func remove(_ id: String) -> Waiting? {
    waiting.firstIndex { $0.question.id == id }.map { waiting.remove(at: $0) }
  }

  private static func digits(from randomness: any Randomness) -> String {
    randomness.bytes(secretBytes).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }
}
