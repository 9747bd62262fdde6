import Foundation
import Secrets
import VerificationAPI

/// Writes the SMS of a code and sends it; errors become errors of Google's contract.
struct SMSDelivery: Sendable {
  let configuration: SMSConfiguration

  /// Returns the SMS with `code`.
  func message(
    of code: NewCode, label: String?, phone: PhoneNumber, purpose: SMSSigner.Purpose, now: Date
  ) throws(VerificationFailure) -> SMSMessage {
    do throws(SMSText.Invalid) {
      return SMSMessage(
        phone: phone,
        text: try SMSText(configuration: configuration).text(
          of: code, label: label, phone: phone, purpose: purpose, now: now))
    } catch {
      throw VerificationFailure(.smsFailure, "The SMS could not be written; no code was issued.")
    }
  }

  func send(_ message: SMSMessage) async throws(VerificationFailure) {
    do throws(SMSFailure) {
      try await configuration.sender.send(message)
    } catch {
      switch error {
      case .queueFull:
        throw VerificationFailure(
          .smsQueueFull, "The queue of the SMS gateway is full; no code was issued: retry later.")
      case .badNumber:
        throw VerificationFailure(
          .phoneNumberInvalid, "The SMS gateway rejected the number; no code was issued.")
      case .failed:
        throw VerificationFailure(
          .smsFailure,
          "The SMS could not be sent; no code was issued: retry, or retry without phone.")
      }
    }
  }
}

/// A sender of SMS.
public protocol SMSSending: Sendable {
  /// Sends `message`; returns when the gateway has accepted it.
  func send(_ message: SMSMessage) async throws(SMSFailure)
}

/// An SMS with a code.
public struct SMSMessage: Sendable, Hashable, Redacted {
  /// The phone number of the receiver.
  public let phone: PhoneNumber
  /// The text of the SMS.
  public let text: String
}

/// A phone number in the form of E.164: `+`, then digits, of which the first is not 0.
public struct PhoneNumber: Hashable, Sendable, Redacted {
  /// The number with its plus sign.
  public let text: String

  /// Parses `text`; ignores spaces, hyphens, dots and brackets. Returns nil if it is not a phone number.
  init?(_ text: String) {
    let bare = text.filter { !" -.()".contains($0) }
    let digits = bare.dropFirst()
    guard bare.first == "+", VerificationLimit.phoneDigits.contains(digits.utf8.count),
      digits.allSatisfy({ ("0"..."9").contains($0) }), digits.first != "0"
    else { return nil }
    self.text = bare
  }
}

/// The reasons why an SMS was not sent; its code is then withdrawn.
public enum SMSFailure: Error, Sendable, Hashable {
  /// The queue of the gateway is full: retry later.
  case queueFull
  /// The number does not exist or receives no SMS: ask for another.
  case badNumber
  /// Any other error: check the gateway, then issue again.
  case failed
}
