// SPDX-License-Identifier: Apache-2.0
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
