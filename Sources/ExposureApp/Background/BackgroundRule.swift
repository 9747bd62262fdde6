import Foundation

/// How often the app asks to be woken. Documentation/App.md 7.
public enum BackgroundRule {
  /// Between two checks, in seconds: the key server publishes every four hours, and a day of six
  /// checks stays within the framework's quota.
  public static let checkSeconds: TimeInterval = 4 * 3_600
  /// Between two decoys, in seconds; each phone draws its own moment.
  public static let decoySeconds = 12 * 3_600...60 * 3_600
}
