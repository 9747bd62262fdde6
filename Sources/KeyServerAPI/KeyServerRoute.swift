// SPDX-License-Identifier: Apache-2.0
/// The paths of the key server, shared by app and server.
public enum KeyServerRoute {
  /// Uploads the keys of a diagnosed user, ProteGO Safe contract (POST).
  public static let upload = "/uploadDiagnosisKeys"
  /// Uploads the keys of a diagnosed user, Google's contract (POST).
  public static let publish = "/v1/publish"
  /// Returns the upload counts of a health authority (POST).
  public static let statistics = "/v1/stats"
  /// The names of the key files, oldest first (GET).
  public static let index = "/index.txt"
  /// The device configuration, signed by the root key (GET).
  public static let deviceConfiguration = "/device-configuration.json"
  /// The signed remote configuration (GET).
  public static let remoteConfiguration = "/remote-configuration.json"

  /// One key file (GET).
  public static func keyFile(_ name: KeyFileName) -> String { "/" + name.text }

  /// The index of the export under `root`, which is empty for the ProteGO Safe contract (GET).
  public static func index(of root: String) -> String {
    root.isEmpty ? index : "/\(root)\(index)"
  }

  /// The periods of the roll-ups of the ProteGO Safe export, in hours. A roll-up has the keys of all files of its
  /// period, for phones that were off.
  public static let rollUpHours = [12, 24, 48]

  /// The root of the roll-ups with a period of `hours`.
  public static func rollUpRoot(hours: Int) -> String { "rollup-\(hours)h" }

  /// One key file of the export under `root` (GET).
  public static func keyFile(_ name: String, of root: String) -> String {
    root.isEmpty ? "/\(name)" : "/\(root)/\(name)"
  }
}
