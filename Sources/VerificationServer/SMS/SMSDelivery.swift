import Foundation
import VerificationAPI

/// Writes a text and hands it over, and says what went wrong in the words of Google's contract.
struct SMSDelivery: Sendable {
  let configuration: SMSConfiguration

  /// The text of `code`.
  func message(
    of code: NewCode, label: String?, phone: PhoneNumber, purpose: SMSSigner.Purpose, now: Date
  ) throws(VerificationFailure) -> SMSMessage {
    do throws(SMSText.Fault) {
      return SMSMessage(
        phone: phone,
        text: try SMSText(configuration: configuration).text(
          of: code, label: label, phone: phone, purpose: purpose, now: now))
    } catch {
      throw VerificationFailure(.smsFailure, "The SMS cannot be written; no code was issued.")
    }
  }

  /// Sends it.
  func send(_ message: SMSMessage) async throws(VerificationFailure) {
    do throws(SMSFailure) {
      try await configuration.sender.send(message)
    } catch {
      switch error {
      case .queueFull:
        throw VerificationFailure(
          .smsQueueFull, "The SMS gateway takes no more; no code was issued, try again later.")
      case .badNumber:
        throw VerificationFailure(
          .phoneNumberInvalid, "The SMS gateway does not know this number; no code was issued.")
      case .failed:
        throw VerificationFailure(
          .smsFailure, "The SMS could not be sent; no code was issued, ask again or without phone.")
      }
    }
  }
}
