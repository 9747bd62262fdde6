// SPDX-License-Identifier: Apache-2.0
/// A value that must not appear in logs, dumps, debugger output or test failures.
///
/// Conforming is enough: `print`, `dump`, string interpolation and `Mirror` then show the name of the
/// type and none of its properties. A type with harmless parts, such as a count or a day, implements
/// `description` to show those.
///
/// ```swift
/// struct AccessToken: Redacted {
///   let text: String
/// }
/// print(AccessToken(text: "secret"))  // AccessToken
/// ```
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
}

extension Redacted {
  /// The name of the type.
  public var description: String { "\(Self.self)" }

  /// The same text as `description`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Returns whether two byte sequences are equal, in a time that depends only on their lengths.
///
/// Use it wherever a secret from outside is compared with a stored one: `==` returns at the first
/// difference, and its duration tells a caller how much of a guess was right.
public func isEqualInConstantTime(
  _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
) -> Bool {
  guard left.count == right.count else { return false }
  return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}
