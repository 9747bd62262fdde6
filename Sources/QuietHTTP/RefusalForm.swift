/// How a route puts a refusal into JSON: each contract has its own form for it.
public struct RefusalForm: Sendable {
  let body: @Sendable (QuietRefusal) -> any Encodable & Sendable

  /// The form that `body` gives; it must encode to a JSON object.
  public init(_ body: @escaping @Sendable (QuietRefusal) -> any Encodable & Sendable) {
    self.body = body
  }

  /// `{"message": …}`: for routes that no contract describes.
  public static let plain = RefusalForm { ["message": $0.message] }
}
