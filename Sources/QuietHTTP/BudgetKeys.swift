import Crypto
import World

/// Makes budget keys under a secret that is drawn anew with every process, so that no address is
/// kept and nobody can find out afterwards which address a key stood for.
public struct BudgetKeys: Sendable {
  /// The code of nothing so far under the secret: to go on from a copy takes half as long as to begin anew.
  private let begun: HMAC<SHA256>

  /// Keys under a new secret.
  public init(from randomness: any Randomness) {
    begun = HMAC<SHA256>(key: SymmetricKey(data: randomness.bytes(32)))
  }

  /// The key of the client's address prefix: IPv4 whole, IPv6 to 64 bits. Clients without an address
  /// share one key.
  public func key(for context: QuietContext) -> BudgetKey {
    key(for: context.client.map { AddressPrefix($0) })
  }

  /// The key of something else that attempts are counted by, such as a code or a caller's credential.
  public func key(for name: String) -> BudgetKey {
    key(of: [1] + Array(name.utf8))
  }

  func key(for prefix: AddressPrefix?) -> BudgetKey {
    key(of: [0] + (prefix?.bytes ?? []))
  }

  private func key(of bytes: [UInt8]) -> BudgetKey {
    var code = begun
    code.update(data: bytes)
    return BudgetKey(
      digest: code.finalize().withUnsafeBytes { $0.loadUnaligned(as: SIMD2<UInt64>.self) })
  }
}

extension BudgetKeys: CustomStringConvertible, CustomReflectable {
  public var description: String { "BudgetKeys" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
