// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The published vectors and real files in `../shared/data`.
///
/// They have their own licenses and are not part of the project. Tests that need them are skipped if the folder is
/// missing.
public enum SharedData {
  /// True if the folder exists.
  public static let isPresent = FileManager.default.fileExists(atPath: folder.path)

  /// The reason for skipping a test.
  public static let absence = "needs the published vectors in ../shared/data"

  /// The URL of a file in the folder.
  public static func url(_ path: String) -> URL {
    folder.appendingPathComponent(path)
  }

  /// The root of the project, derived from the path of this source file.
  public static let projectRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let folder = projectRoot.deletingLastPathComponent()
    .appendingPathComponent("shared/data")
}
