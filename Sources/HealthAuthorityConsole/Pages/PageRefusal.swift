// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import QuietHTTP
import ServerStorage
import VerificationAPI
import WebPages

/// The reasons why a page is not shown, each with one page of its own that says what to do.
enum PageRefusal: Error, Hashable, Sendable {
  /// There is no session: the sign-in is shown instead. `next` is the page to open after it.
  case signInNeeded(next: String)
  /// The session of the cookie has ended.
  case sessionEnded
  /// The form needs a sign-in of the last minutes.
  case oldSignIn
  /// The role of the account does not have the right.
  case forbidden(Role)
  /// The form was sent by another site.
  case forged
  /// The request names another host than the console's.
  case otherHost
  case notFound
  /// The code, account or file of the form does not exist.
  case missing
  case tooManyAttempts(seconds: Int)
  case malformed
  case tooLarge
  /// The administered server refuses the request; the message is its reason.
  case refused(String)
  /// The verification server issues no code.
  case notIssued(VerificationFailure)
  case notOffered(String)
  case unavailable
  /// The database of the console is damaged, or its file was deleted or replaced.
  case databaseLost
  case internalError

  /// The refusal for an error of a handler or of the layers below.
  init(_ error: any Error) {
    self =
      switch error {
      case let refusal as PageRefusal: refusal
      case let failure as AuthorityFailure: Self(failure)
      case let refusal as QuietRefusal: Self(refusal)
      case is MalformedForm: .malformed
      case is ServerDatabaseError: .databaseLost
      case let error as HTTPError where error.status.code < 500:
        [404, 405].contains(error.status.code) ? .notFound : .malformed
      default: .internalError
      }
  }

  private init(_ failure: AuthorityFailure) {
    self =
      switch failure {
      case .refused(let message): .refused(message)
      case .notIssued(let failure): .notIssued(failure)
      case .notFound: .missing
      case .taken, .changed: .malformed
      case .unavailable: .unavailable
      case .notOffered(let message): .notOffered(message)
      }
  }

  private init(_ refusal: QuietRefusal) {
    self =
      switch refusal {
      case .tooManyAttempts(let seconds), .quotaUsedUp(_, let seconds):
        .tooManyAttempts(seconds: seconds)
      case .bodyTooLarge: .tooLarge
      case .notFound: .notFound
      case .unavailable: .unavailable
      case .internalError: .internalError
      case .malformed, .wrongContentType, .bodyTooSlow: .malformed
      }
  }

  var status: HTTPResponse.Status {
    switch self {
    case .signInNeeded: .seeOther
    case .sessionEnded, .oldSignIn: .unauthorized
    case .forbidden, .forged: .forbidden
    case .otherHost: .misdirectedRequest
    case .notFound, .missing: .notFound
    case .tooManyAttempts: .tooManyRequests
    case .malformed: .badRequest
    case .tooLarge: .contentTooLarge
    case .refused, .notIssued: .conflict
    case .notOffered: .notImplemented
    case .unavailable, .databaseLost: .serviceUnavailable
    case .internalError: .internalServerError
    }
  }

  /// The heading and the sentence of the page.
  func words(_ texts: Texts) -> (title: String, text: String) {
    switch self {
    case .signInNeeded, .sessionEnded: (texts[.errorEndedTitle], texts[.errorEndedText])
    case .oldSignIn:
      (
        texts[.errorOldTitle],
        texts[.errorOldText, "\(ConsoleLimit.freshSessionSeconds / 60)"]
      )
    case .forbidden(let role):
      (texts[.errorForbiddenTitle], texts[.errorForbiddenText, texts[role.textKey]])
    case .forged: (texts[.errorForgedTitle], texts[.errorForgedText])
    case .otherHost: (texts[.errorHostTitle], texts[.errorHostText])
    case .notFound: (texts[.errorNotFoundTitle], texts[.errorNotFoundText])
    case .missing: (texts[.errorMissingTitle], texts[.errorMissingText])
    case .tooManyAttempts(let seconds):
      (texts[.errorBusyTitle], texts[.errorBusyText, "\(max(1, (seconds + 59) / 60))"])
    case .malformed: (texts[.errorFormTitle], texts[.errorFormText])
    case .tooLarge:
      (texts[.errorLargeTitle], texts[.errorLargeText, "\(ConsoleLimit.formBytesMax >> 10)"])
    case .refused(let message): (texts[.errorRefusedTitle], texts.sentence(message))
    case .notIssued(let failure): (texts[.errorRefusedTitle], texts.sentence(failure))
    case .notOffered(let message): (texts[.errorNotOfferedTitle], texts.sentence(message))
    case .unavailable: (texts[.errorServerTitle], texts[.errorServerText])
    case .databaseLost: (texts[.errorDatabaseTitle], texts[.errorDatabaseText])
    case .internalError: (texts[.errorInternalTitle], texts[.errorInternalText])
    }
  }
}

extension Texts {
  /// A sentence of a server, or of the console itself, in the language of the page.
  func sentence(_ text: String) -> String { ServerSentences.text(text, in: language) }

  /// The reason why the verification server issues no code.
  func sentence(_ failure: VerificationFailure) -> String {
    switch failure.errorCode {
    case .invalidDate: self[.refusalDate, "\(ConsoleLimit.symptomAgeDaysMax)"]
    case .missingDate: self[.refusalNoDate]
    case .phoneNumberInvalid: self[.refusalPhone]
    case .smsQueueFull: self[.refusalSMSQueue]
    case .smsFailure: self[.refusalSMS]
    case .unsupportedTestType, .invalidTestType: self[.refusalTest]
    case .maintenanceMode: self[.refusalMaintenance]
    case .unauthorized, .codeUserUnauthorized: self[.refusalKey]
    case .quotaExceeded:
      ServerSentences.values(of: failure.error, in: Self.quotaSentence)
        .map { self[.refusalQuota, $0[0]] } ?? self[.refusalBusy]
    default: self[.refusalOther, sentence(failure.error)]
    }
  }

  /// The sentence of `QuietRefusal.quotaUsedUp`.
  private static let quotaSentence =
    "The quota of %1 codes a day is used up; retry later, or ask the operator of the server."
}
