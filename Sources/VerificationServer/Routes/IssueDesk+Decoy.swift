import Foundation
import VerificationAPI
import World

extension IssueDesk {
  /// The answer for a code that nobody can use: it is kept nowhere.
  func pretended() throws -> IssueAnswer {
    let policy = issuance.policy
    let code = ShortCode.drawn(digits: policy.shortCodeDigits, from: issuance.randomness)
    let expiresAt = issuance.clock.now.addingTimeInterval(policy.shortCodeLifetime)
    var answer = IssueAnswer(
      uuid: UUID(from: issuance.randomness).text, code: code?.characters ?? "",
      expiresAt: CivilTime.rfc1123(expiresAt), expiresAtTimestamp: expiresAt.unixSecond)
    answer.longExpiresAt = answer.expiresAt
    answer.longExpiresAtTimestamp = answer.expiresAtTimestamp
    return answer
  }
}
