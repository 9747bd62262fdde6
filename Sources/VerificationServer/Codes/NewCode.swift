import Foundation
import VerificationAPI

/// A code in the one moment in which its characters are known.
struct NewCode: Sendable {
  let handle: UUID
  let short: ShortCode
  let long: LongCode?
  let kept: IssuedCode
}
