// SPDX-License-Identifier: Apache-2.0
/// The JSON form of errors in the contract of a route.
public struct ErrorBody: Sendable {
  let body: @Sendable (QuietRefusal) -> any Encodable & Sendable

  /// Creates a form. The value that `body` returns must encode to a JSON object.
  public init(_ body: @escaping @Sendable (QuietRefusal) -> any Encodable & Sendable) {
    self.body = body
  }

  /// `{"message": …}`, for routes without a contract.
  public static let plain = ErrorBody { ["message": $0.message] }
}
