/// Whatever carries texts to phones.
public protocol SMSSending: Sendable {
  /// Hands `message` over; returns once it has been taken.
  func send(_ message: SMSMessage) async throws(SMSFailure)
}
