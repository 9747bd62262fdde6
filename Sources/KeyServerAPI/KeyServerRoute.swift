/// Every path of the key server, for the app that calls it and the server that answers.
///
/// Documentation/SeedContract.md 4 to 6.
public enum KeyServerRoute {
  /// Takes the keys of a diagnosed person (POST).
  public static let upload = "/uploadDiagnosisKeys"
  /// Takes the keys of a diagnosed person in the form of Google's key server (POST).
  public static let publish = "/v1/publish"
  /// Counts of uploads for the authority that asks (POST).
  public static let statistics = "/v1/stats"
  /// The names of the key files, oldest first (GET).
  public static let index = "/index.txt"
  /// The signed remote configuration (GET).
  public static let remoteConfiguration = "/remote-configuration.json"

  /// One key file (GET).
  public static func keyFile(_ name: KeyFileName) -> String { "/" + name.text }

  /// The index of the export under `root`, which is empty for the seed contract's (GET).
  public static func index(of root: String) -> String {
    root.isEmpty ? index : "/\(root)\(index)"
  }

  /// One key file of the export under `root` (GET).
  public static func keyFile(_ name: String, of root: String) -> String {
    root.isEmpty ? "/\(name)" : "/\(root)/\(name)"
  }
}
