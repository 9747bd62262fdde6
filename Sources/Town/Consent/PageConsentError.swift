/// Why a question was not put.
public enum PageConsentError: Error, CustomStringConvertible {
  /// The person has not answered the ones before.
  case tooManyQuestions

  public var description: String { "Too many questions wait: answer those on the page first." }
}
