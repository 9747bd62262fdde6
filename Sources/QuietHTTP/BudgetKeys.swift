import Crypto
import Foundation
import World

/// Makes budget keys under a secret that is drawn anew with every process, so that no address is
/// kept and nobody can find out afterwards which address a key stood for.
public struct BudgetKeys: Sendable {
  private let secret: SymmetricKey

  /// Keys under a new secret.
  public init(from randomness: any Randomness) {
    secret = SymmetricKey(data: randomness.bytes(32))
  }

  /// The key of the client's address prefix: IPv4 whole, IPv6 to 64 bits. Clients without an address
  /// share one key.
  public func key(for context: QuietContext) -> BudgetKey {
    key(for: context.client)
  }

  /// The key of something else that attempts are counted by, such as a code or a caller's credential.
  public func key(for name: String) -> BudgetKey {
    key(of: [1] + Array(name.utf8))
  }

  func key(for prefix: AddressPrefix?) -> BudgetKey {
    key(of: [0] + (prefix?.bytes ?? []))
  }

  private func key(of bytes: [UInt8]) -> BudgetKey {
    let code = HMAC<SHA256>.authenticationCode(for: bytes, using: secret)
    return BudgetKey(digest: Data(Data(code).prefix(16)))
  }
}

extension BudgetKeys: CustomStringConvertible, CustomReflectable {
  public var description: String { "BudgetKeys" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
