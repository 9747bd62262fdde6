@testable import VerificationServer

/// A gateway that takes a text and says nothing until it is let.
actor HeldSMS: SMSSending {
  /// How many texts it was given.
  private(set) var asked = 0
  private var isOpen = false
  private var held: [CheckedContinuation<Void, Never>] = []

  func send(_ message: SMSMessage) async throws(SMSFailure) {
    asked += 1
    guard !isOpen else { return }
    await withCheckedContinuation { held.append($0) }
  }

  /// Lets it say yes, now and from now on.
  func open() {
    isOpen = true
    for answer in held { answer.resume() }
    held = []
  }
}
