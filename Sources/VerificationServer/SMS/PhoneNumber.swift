/// A telephone number as E.164 writes it: `+`, then digits of which the first is not 0.
public struct PhoneNumber: Hashable, Sendable {
  /// The whole number, with its plus sign.
  public let text: String

  /// The number in `text`, where it is one. Blanks, hyphens, dots and brackets do not count.
  init?(_ text: String) {
    let bare = text.filter { !" -.()".contains($0) }
    let digits = bare.dropFirst()
    guard bare.first == "+", VerificationLimit.phoneDigits.contains(digits.utf8.count),
      digits.allSatisfy({ ("0"..."9").contains($0) }), digits.first != "0"
    else { return nil }
    self.text = bare
  }
}

extension PhoneNumber: CustomStringConvertible, CustomReflectable {
  public var description: String { "PhoneNumber" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
