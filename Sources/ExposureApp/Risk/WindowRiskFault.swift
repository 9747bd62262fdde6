/// Why an app cannot be built with a policy: correct the field that the sentence begins with.
public struct WindowRiskFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, beginning with the field.
  public let sentence: String

  public var description: String { sentence }
}
