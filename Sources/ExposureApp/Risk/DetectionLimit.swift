/// How often one check asks the framework. Documentation/App.md 4.2.
public enum DetectionLimit {
  /// Calls for files that are tried alone since together they were refused; the framework allows
  /// fifteen calls a day.
  public static let callsAloneMax = 8
}
