import ExposureNotification
import World

/// Shows requests for consent on a web page and waits for the user's answer.
///
/// `PageConsentServer` serves the page. Its path is secret, so that other processes on the machine cannot
/// consent.
public actor PageConsent: ConsentPrompt {
  /// The maximum number of pending requests; further ones are rejected.
  static let waitingMax = 8
  private static let secretBytes = 16

  /// The path of the page: `/consent/` and 32 random hexadecimal digits.
  public nonisolated let path: String

  private let randomness: any Randomness
  private var waiting: [Waiting] = []

  private struct Waiting {
    let pending: PendingConsent
    let answer: CheckedContinuation<Bool, any Error>
  }

  /// Creates a page with a random path.
  public init(randomness: any Randomness) {
    self.randomness = randomness
    path = "/consent/" + Self.digits(from: randomness)
  }

  /// Shows a request on the page and returns the user's answer.
  ///
  /// - Throws: `PageConsentError.tooManyRequests`, or `CancellationError` if the task is cancelled. Neither
  ///   counts as a refusal.
  public func allows(_ request: ConsentRequest, for bundleIdentifier: String) async throws -> Bool {
    guard waiting.count < Self.waitingMax else { throw PageConsentError.tooManyRequests }
    let pending = PendingConsent(
      id: Self.digits(from: randomness), app: bundleIdentifier, request: request)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { answer in
        guard !Task.isCancelled else { return answer.resume(throwing: CancellationError()) }
        waiting.append(Waiting(pending: pending, answer: answer))
      }
    } onCancel: {
      Task { await self.withdraw(pending.id) }
    }
  }

  /// The oldest pending request.
  var oldest: PendingConsent? { waiting.first?.pending }

  /// The number of pending requests.
  var waitingCount: Int { waiting.count }

  /// Resumes a request with the user's answer; returns `false` if it is not pending.
  func take(_ isAllowed: Bool, to id: String) -> Bool {
    guard let request = remove(id) else { return false }
    request.answer.resume(returning: isAllowed)
    return true
  }

  private func withdraw(_ id: String) {
    remove(id)?.answer.resume(throwing: CancellationError())
  }

  private func remove(_ id: String) -> Waiting? {
    waiting.firstIndex { $0.pending.id == id }.map { waiting.remove(at: $0) }
  }

  private static func digits(from randomness: any Randomness) -> String {
    randomness.bytes(secretBytes).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }
}

/// A request for consent on the page.
struct PendingConsent: Sendable {
  /// The ID that an answer refers to.
  let id: String
  /// The bundle identifier of the app.
  let app: String
  let request: ConsentRequest

  /// The consequence of consenting, as the user reads it.
  var sentence: String {
    switch request {
    case .enableExposureNotification:
      "Exchange random identifiers with phones nearby. They change every quarter of an hour and contain no name."
    case .shareDiagnosisKeys:
      "Share your random identifiers of the last 14 days, so that people who were near you can be notified."
    case .showExposureInfo(let explanation):
      "Show the app each of your exposures: \(explanation)"
    case .preAuthorizeDiagnosisKeys:
      "Share your random identifiers once within five days, without asking again, if your test is positive."
    case .showTravelStatus:
      "Tell the app whether you have been outside its region."
    }
  }
}

/// An error of `PageConsent`.
public enum PageConsentError: Error, CustomStringConvertible {
  /// Too many requests are pending.
  case tooManyRequests

  public var description: String { "Too many pending requests: answer those on the page first." }
}
