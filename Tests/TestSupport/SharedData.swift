import Foundation

/// The published vectors and real files that lie beside the project, in `../shared/data`.
///
/// They carry licences of their own and are not part of the project. A test that needs one of them
/// is skipped where the folder is absent.
public enum SharedData {
  /// Whether the folder is there.
  public static let isPresent = FileManager.default.fileExists(atPath: folder.path)

  /// Why a test was skipped.
  public static let absence = "needs the published vectors in ../shared/data"

  /// The file at `path` inside the folder.
  public static func url(_ path: String) -> URL {
    folder.appendingPathComponent(path)
  }

  /// The project's root, from where this file was compiled.
  public static let projectRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let folder = projectRoot.deletingLastPathComponent()
    .appendingPathComponent("shared/data")
}
