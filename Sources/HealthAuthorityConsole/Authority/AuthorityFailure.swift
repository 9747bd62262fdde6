// SPDX-License-Identifier: Apache-2.0
import VerificationAPI

/// The reasons why the authority did not do something, one for each reaction of an official.
package enum AuthorityFailure: Error, Hashable, Sendable {
  /// The request is not valid; the sentence says what to change. It is in the language of the page, or a sentence of a
  /// server, which pages translate.
  case refused(String)
  /// The verification server issues no code for this request.
  case notIssued(VerificationFailure)
  /// The code, file or key does not exist.
  case notFound
  /// A code with this UUID was issued before.
  case taken
  /// Another request has changed the value first.
  case changed
  /// A server does not answer: try again later.
  case unavailable
  /// This console cannot do it; the sentence says where it can be done.
  case notOffered(String)

  /// True if this console does not have the function, such as one of the key server in the console of a realm.
  var isNotOffered: Bool { if case .notOffered = self { true } else { false } }

  /// True if the server has certainly issued no code. After `.unavailable` it may have.
  var isRefusalOfCode: Bool {
    switch self {
    case .refused, .notIssued, .notOffered: true
    case .notFound, .taken, .changed, .unavailable: false
    }
  }
}
