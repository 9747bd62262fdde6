import VerificationAPI

/// A code in one of the forms that people and links carry. No text is a code of two forms.
protocol WrittenCode: Sendable {
  /// The characters, in the one spelling that is hashed.
  var characters: String { get }
}

extension VerificationCode: WrittenCode {}
extension ShortCode: WrittenCode {}
extension LongCode: WrittenCode {}
