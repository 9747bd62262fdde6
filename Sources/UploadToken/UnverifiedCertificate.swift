/// A certificate as it came off the wire. It can do one thing: be verified.
public struct UnverifiedCertificate: Sendable {
  let text: String

  /// Holds `text` and believes none of it.
  public init(_ text: String) {
    self.text = text
  }
}

extension UnverifiedCertificate: CustomStringConvertible, CustomReflectable {
  /// Whoever reads a certificate and has the keys can use it.
  public var description: String { "UnverifiedCertificate" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
