/// A text that goes to a phone. It holds a code.
public struct SMSMessage: Sendable, Hashable {
  /// Where it goes.
  public let phone: PhoneNumber
  /// What it says.
  public let text: String
}

extension SMSMessage: CustomStringConvertible, CustomReflectable {
  public var description: String { "SMSMessage" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
