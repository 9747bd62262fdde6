/// How an upload ended, by its number on the bridge (43).
public enum UploadResult: Int, Sendable, Codable, CaseIterable {
  /// The keys are in.
  case success = 1
  /// They are not.
  case failure = 2
  /// The person or the app stopped it before anything was spent, or it can be gone on with.
  case canceled = 3
  /// There is no connection; the same PIN goes on where it stopped.
  case noInternet = 4
  /// The person did not agree to share the keys.
  case accessDenied = 5
}
