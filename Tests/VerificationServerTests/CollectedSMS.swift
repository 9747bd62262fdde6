@testable import VerificationServer

/// Takes texts, or does not.
actor CollectedSMS: SMSSending {
  private(set) var messages: [SMSMessage] = []
  private var failure: SMSFailure?

  init(failure: SMSFailure? = nil) {
    self.failure = failure
  }

  func fail(with failure: SMSFailure?) {
    self.failure = failure
  }

  func send(_ message: SMSMessage) async throws(SMSFailure) {
    if let failure { throw failure }
    messages.append(message)
  }
}
