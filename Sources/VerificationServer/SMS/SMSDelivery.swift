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

/// Whatever carries texts to phones.
public protocol SMSSending: Sendable {
  /// Hands `message` over; returns once it has been taken.
  func send(_ message: SMSMessage) async throws(SMSFailure)
}

/// A text that goes to a phone. It holds a code.
public struct SMSMessage: Sendable, Hashable {
  /// Where it goes.
  public let phone: PhoneNumber
  /// What it says.
  public let text: String
}

extension SMSMessage: CustomStringConvertible, CustomReflectable {
  public var description: String { "SMSMessage" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A telephone number as E.164 writes it: `+`, then digits of which the first is not 0.
public struct PhoneNumber: Hashable, Sendable {
  /// The whole number, with its plus sign.
  public let text: String

  /// The number in `text`, where it is one. Blanks, hyphens, dots and brackets do not count.
  init?(_ text: String) {
    let bare = text.filter { !" -.()".contains($0) }
    let digits = bare.dropFirst()
    guard bare.first == "+", VerificationLimit.phoneDigits.contains(digits.utf8.count),
      digits.allSatisfy({ ("0"..."9").contains($0) }), digits.first != "0"
    else { return nil }
    self.text = bare
  }
}

extension PhoneNumber: CustomStringConvertible, CustomReflectable {
  public var description: String { "PhoneNumber" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why a text was not sent. The code in it is taken back then.
public enum SMSFailure: Error, Sendable, Hashable {
  /// The gateway takes no more just now: try later.
  case queueFull
  /// Nobody can be reached under the number: ask for another.
  case badNumber
  /// Anything else: look at the gateway, then issue again.
  case failed
}
