import VerificationAPI

/// Reads codes of every form.
enum WrittenCodes {
  /// The code in `text`, where there is one: a PIN, a short or a long code. No text is two of them.
  static func code(in text: String) -> (any WrittenCode)? {
    if let pin = VerificationCode(text) { return pin }
    if let short = ShortCode(text) { return short }
    return LongCode(text)
  }
}
