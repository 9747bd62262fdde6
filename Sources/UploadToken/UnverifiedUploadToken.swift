/// A token as it came off the wire. It can do one thing: be verified.
public struct UnverifiedUploadToken: Sendable {
  let text: String

  /// Holds `text` and believes none of it.
  public init(_ text: String) {
    self.text = text
  }
}

extension UnverifiedUploadToken: CustomStringConvertible, CustomReflectable {
  /// Whoever reads a token can use it.
  public var description: String { "UnverifiedUploadToken" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
